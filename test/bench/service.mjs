// Starts the built service with folders of its own and talks to it with the product's client.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { register } from "tsx/esm/api";
import { root } from "../../scripts/fingerprint.mjs";
import { dataFolder } from "./native.mjs";

const READY_WITHIN_MS = 60_000;

register();
const { createClient, CanceledError } = await import("../../shared/client/index.ts");
const { Transport } = await import("../../shared/client/transport.ts");

export { CanceledError };

/** Bare calls to a service, for endpoints timed one by one. */
export const transportOf = ({ url }) => new Transport({ baseUrl: url });

/** Services that run, ended with this process: their groups do not hear the terminal's Ctrl-C. */
const running = new Map();
process.on("exit", () => {
  for (const [pid, folder] of running) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      if (error.code !== "ESRCH") console.error(`the service ${pid} could not be ended: ${error.message}`);
    }
    rmSync(folder, { recursive: true, force: true });
  }
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** A service of its own: settings of the caller's environment do not reach it. */
function environment(folder, settings) {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("APP_") && !name.startsWith("npm_"),
  );
  return {
    ...Object.fromEntries(inherited),
    APP_DATA_DIR: join(folder, "data"),
    APP_OCTREE_CACHE_ROOT: join(folder, "cache"),
    APP_DEVICE: "cpu",
    ...settings,
  };
}

export class Service {
  #child;
  #folder;
  #settings;
  #log = "";
  /** Seconds from the start of the command to its READY line. */
  ready_s = 0;
  url = "";

  get pid() {
    return this.#child.pid;
  }

  /** `command` is what a user types; the default starts the built backend itself. */
  static async start(command = [process.execPath, "dist/backend/entry/headless.js"], settings = {}) {
    const service = new Service();
    service.#settings = settings;
    await service.#launch(command);
    return service;
  }

  async #launch(command) {
    this.#folder = mkdtempSync(join(dataFolder, "service-"));
    await this.#start(command);
  }

  async #start([program, ...args]) {
    const started = performance.now();
    this.#child = spawn(program, args, {
      cwd: root,
      env: environment(this.#folder, this.#settings),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a group of its own: npm and its children end together
    });
    if (this.pid !== undefined) running.set(this.pid, this.#folder);
    this.#child.stderr.on("data", (chunk) => {
      this.#log = `${this.#log}${chunk}`.slice(-100_000);
    });
    try {
      this.url = await this.#readyLine();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.ready_s = (performance.now() - started) / 1000;
    this.client = createClient({ baseUrl: this.url });
  }

  #readyLine() {
    return new Promise((resolve, reject) => {
      let text = "";
      const fail = (why) => reject(new Error(`the service did not start (${why}): ${this.#log.slice(-2000)}`));
      const timer = setTimeout(() => fail(`no READY within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
      const settle = (action) => {
        clearTimeout(timer);
        action();
      };
      this.#child.stdout.on("data", (chunk) => {
        text += chunk;
        const url = /^READY (\S+)$/m.exec(text)?.[1];
        if (url) settle(() => resolve(url));
      });
      this.#child.on("error", (error) => settle(() => fail(error.message)));
      this.#child.on("exit", (code) => settle(() => fail(`exit ${code}`)));
    });
  }

  /** Ends the service without a chance to tidy up and starts it again on the same folders; seconds to READY. */
  async killAndRestart(command = [process.execPath, "dist/backend/entry/headless.js"]) {
    const closed = once(this.#child, "close");
    process.kill(-this.pid, "SIGKILL");
    await closed;
    running.delete(this.pid);
    await this.#start(command);
    return this.ready_s;
  }

  /** Ends the process group that this start made and removes its folders. */
  async stop() {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const closed = once(this.#child, "close");
      process.kill(-pid, "SIGTERM");
      const late = setTimeout(() => process.kill(-pid, "SIGKILL"), 10_000);
      await closed;
      clearTimeout(late);
    }
    running.delete(pid);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Runs `body` with a fresh service and ends it, whatever happens. `settings`: environment variables of the service. */
export async function withService(body, command, settings) {
  const service = await Service.start(command, settings);
  try {
    return await body(service);
  } finally {
    await service.stop();
  }
}
