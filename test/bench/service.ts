// Starts the built service with folders of its own and talks to it with the product's client.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Client, createClient } from "../../shared/client/index.ts";
import { Transport } from "../../shared/client/transport.ts";
import { dataFolder, makeDataFolder, root } from "./folders.ts";

const READY_WITHIN_MS = 60_000;
const BUILT = [process.execPath, "dist/backend/entry/headless.js"];

/** Services that run, ended with this process: their groups do not hear the terminal's Ctrl-C. */
const running = new Map<number, string>();
process.on("exit", () => {
  for (const [pid, folder] of running) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ESRCH") console.error(`the service ${pid} could not be ended: ${message}`);
    }
    rmSync(folder, { recursive: true, force: true });
  }
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

/** Environment variables of a service. */
export type Settings = Readonly<Record<string, string>>;

/** A service of its own: settings of the caller's environment do not reach it. */
function environment(folder: string, settings: Settings): NodeJS.ProcessEnv {
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

type Child = ChildProcessByStdio<null, Readable, Readable>;

/** One start: a process that said READY. */
interface Start {
  readonly child: Child;
  readonly pid: number;
  readonly url: string;
  /** Seconds from the start of the command to its READY line. */
  readonly ready_s: number;
  readonly log: Log;
}

/** The last 100,000 characters that a service logged. */
interface Log {
  text: string;
}

async function launch(folder: string, settings: Settings, command: readonly string[]): Promise<Start> {
  const [program = "", ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, {
    cwd: root,
    env: environment(folder, settings),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own: npm and its children end together
  });
  const { pid } = child;
  if (pid !== undefined) running.set(pid, folder);
  try {
    const log = { text: "" };
    const url = await readyLine(child, log);
    if (pid === undefined) throw new Error("the service has no process id");
    return { child, pid, url, ready_s: (performance.now() - started) / 1000, log };
  } catch (error) {
    await end(child);
    throw error;
  }
}

function readyLine(child: Child, log: Log): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const fail = (why: string) => reject(new Error(`the service did not start (${why}): ${log.text.slice(-2000)}`));
    const timer = setTimeout(() => fail(`no READY within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
    const settle = (action: () => void) => {
      clearTimeout(timer);
      action();
    };
    child.stderr.on("data", (chunk: Buffer) => {
      log.text = `${log.text}${chunk}`.slice(-100_000);
    });
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      const url = /^READY (\S+)$/m.exec(text)?.[1];
      if (url) settle(() => resolve(url));
    });
    child.on("error", (error) => settle(() => fail(error.message)));
    child.on("exit", (code) => settle(() => fail(`exit ${code}`)));
  });
}

/** Ends a process group that `launch` made. */
async function end(child: Child): Promise<void> {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return;
  if (exitCode === null && signalCode === null) {
    const closed = once(child, "close");
    process.kill(-pid, "SIGTERM");
    const late = setTimeout(() => process.kill(-pid, "SIGKILL"), 10_000);
    await closed;
    clearTimeout(late);
  }
  running.delete(pid);
}

export class Service {
  /** Its data and cache lie in here. */
  readonly folder: string;
  readonly #settings: Settings;
  #start: Start;
  client: Client;

  private constructor(folder: string, settings: Settings, start: Start) {
    this.folder = folder;
    this.#settings = settings;
    this.#start = start;
    this.client = createClient({ baseUrl: start.url });
  }

  /** `command` is what a user types; the default starts the built backend itself. */
  static async start(command: readonly string[] = BUILT, settings: Settings = {}): Promise<Service> {
    makeDataFolder();
    const folder = mkdtempSync(join(dataFolder, "service-"));
    try {
      return new Service(folder, settings, await launch(folder, settings, command));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.#start.pid;
  }
  /** Seconds from the start of the command to its READY line. */
  get ready_s(): number {
    return this.#start.ready_s;
  }
  get url(): string {
    return this.#start.url;
  }
  log(): string {
    return this.#start.log.text;
  }
  /** Bare calls, for endpoints timed one by one. */
  transport(): Transport {
    return new Transport({ baseUrl: this.#start.url });
  }

  /** Ends the service without a chance to tidy up and starts it again on the same folders; seconds to READY. */
  async killAndRestart(): Promise<number> {
    const closed = once(this.#start.child, "close");
    process.kill(-this.pid, "SIGKILL");
    await closed;
    running.delete(this.pid);
    this.#start = await launch(this.folder, this.#settings, BUILT);
    this.client = createClient({ baseUrl: this.#start.url });
    return this.ready_s;
  }

  /** Ends the process group that this start made and removes its folders. */
  async stop(): Promise<void> {
    await end(this.#start.child);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs `body` with a fresh service and ends it, whatever happens. */
export async function withService<T>(
  body: (service: Service) => Promise<T>,
  command?: readonly string[],
  settings?: Settings,
): Promise<T> {
  const service = await Service.start(command, settings);
  try {
    return await body(service);
  } finally {
    await service.stop();
  }
}
