import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type Browser, chromium } from "playwright-core";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const executablePath = process.env.APP_TEST_CHROMIUM ?? "/usr/bin/chromium";
export const hasChromium = existsSync(executablePath);

/** Chromium that draws in software, as every machine can. */
export function launchChromium(): Promise<Browser> {
  const args = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];
  return chromium.launch({ executablePath, args });
}

export interface ViewSite {
  readonly url: string;
  close(): void;
}

/** Serves the page of view-page.ts in the window's own HTML and CSS. */
export async function serveViewPage(): Promise<ViewSite> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["test/support/window/view-page.ts"],
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    tsconfig: "backend/window/tsconfig.json",
    logLevel: "error",
  });
  const read = (name: string) => readFileSync(new URL(`../../../backend/window/${name}`, import.meta.url));
  const files: Readonly<Record<string, readonly [string, string | Buffer]>> = {
    "/": ["text/html", read("index.html")],
    "/app/main.js": ["text/javascript", outputFiles[0]?.text ?? ""],
    "/app/window.css": ["text/css", read("window.css")],
    "/app/icon.svg": ["image/svg+xml", read("icon.svg")],
  };
  const server = createServer(({ url }, response) => {
    const [type, content] = files[url ?? ""] ?? [];
    if (type === undefined) response.writeHead(404).end();
    else response.setHeader("content-type", type).end(content);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}
