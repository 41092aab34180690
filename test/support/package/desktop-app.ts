import { type Browser, chromium, type Page } from "playwright-core";
import type { BackendAddress } from "../../../backend/entry/supervisor-contract.ts";
import { createClient } from "../../../shared/client/index.ts";
import { jsonLine, LaunchedElectron } from "../electron/launched.ts";

const STEP_MS = 120_000;

/** A window of the app with its backend. */
export interface AppWindow {
  readonly instance: string;
  readonly address: BackendAddress;
  readonly page: Page;
  readonly token: string;
  readonly client: ReturnType<typeof createClient>;
}

/** A started desktop app: its log, its windows through the debugging port of its pages. */
export class DesktopApp {
  readonly electron: LaunchedElectron;
  #browser: Browser | undefined;
  readonly #seen = new Set<number>();

  constructor(launcher: string, argument: string) {
    this.electron = new LaunchedElectron(launcher, argument, {});
  }

  /** Waits for the next backend that is ready, as the log tells. */
  async ready(): Promise<{ instance: string; address: BackendAddress }> {
    return this.electron.until(
      "ready backend",
      STEP_MS,
      (line) => {
        const record = jsonLine(line);
        if (record?.msg !== "backend" || record.state !== "ready") return undefined;
        const { instance, address } = record as unknown as { instance: string; address: BackendAddress };
        if (this.#seen.has(address.pid)) return undefined;
        this.#seen.add(address.pid);
        return { instance, address };
      },
      true,
    );
  }

  /** Waits for the next window whose backend is ready. */
  async window(): Promise<AppWindow> {
    const { instance, address } = await this.ready();
    const page = await this.#page(address.url);
    const asked = page.waitForRequest((request) => request.url().endsWith("/health"));
    await page.evaluate(() => fetch("/health").then((response) => response.status));
    const { authorization = "" } = await (await asked).allHeaders();
    const token = authorization.replace("Bearer ", "");
    return { instance, address, page, token, client: createClient({ baseUrl: address.url, token }) };
  }

  /** Closes the connection and whatever still runs. */
  async kill(): Promise<void> {
    await this.#browser?.close().catch(() => undefined); // gone with the app
    await this.electron.kill();
  }

  async #page(url: string): Promise<Page> {
    if (!this.#browser) {
      const socket = await this.electron.until(
        "debugging port",
        STEP_MS,
        (line) => /DevTools listening on (ws:\S+)/.exec(line)?.[1],
        true,
      );
      this.#browser = await chromium.connectOverCDP(socket);
    }
    const [context] = this.#browser.contexts();
    if (!context) throw new Error("the app has no browser context");
    for (const until = Date.now() + STEP_MS; Date.now() < until; ) {
      const page = context.pages().find((candidate) => candidate.url().startsWith(`${url}/`));
      if (page) {
        await page.waitForLoadState("load");
        return page;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no page of ${url}; there are ${context.pages().map((page) => page.url())}`);
  }
}
