import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A guard against a test that hangs. */
const READY_MS = 90_000;
const LOG_CHARS = 20_000;

/** The built service in a process of its own, with folders of its own. */
export interface HeadlessBackend {
  readonly url: string;
  /** Its folder: data, octrees and whatever the test puts there. */
  readonly folder: string;
  /** The end of its log. */
  log(): string;
  /** Ends it as a user would, removes its folder and tells its exit code. */
  stop(): Promise<number | null>;
}

/** Starts dist/backend/entry/headless.js on a free port. Errors: no build, or no READY line. */
export async function startHeadless(env: NodeJS.ProcessEnv = {}): Promise<HeadlessBackend> {
  const main = fileURLToPath(new URL("../../../dist/backend/entry/headless.js", import.meta.url));
  if (!existsSync(main)) throw new Error(`${main} is missing; run "npm run build" first`);
  const folder = await mkdtemp(join(tmpdir(), "headless-"));
  const folders = { APP_DATA_DIR: join(folder, "data"), APP_OCTREE_CACHE_ROOT: join(folder, "octrees") };
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...folders, APP_BACKEND_PORT: "0", APP_AUTH_TOKEN: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-LOG_CHARS);
  });
  const exited = once(child, "close").then(([code]: (number | null)[]) => code ?? null);
  const stop = async () => {
    child.kill("SIGTERM");
    const code = await exited;
    await rm(folder, { recursive: true, force: true });
    return code;
  };
  let timer: NodeJS.Timeout | undefined;
  try {
    const url = await new Promise<string>((resolve, reject) => {
      const fail = (what: string) => reject(new Error(`the service ${what}:\n${log}`));
      timer = setTimeout(() => fail(`was not ready within ${READY_MS} ms`), READY_MS);
      void exited.then((code) => fail(`ended with ${code}`));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [word, address] = line.split(" ");
        if (word === "READY" && address) resolve(address);
      });
    });
    return { url, folder, log: () => log, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
