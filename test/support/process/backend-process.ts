import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stopwatch, type Times } from "../run/stopwatch.ts";

const MAIN = fileURLToPath(new URL("../../../dist/backend/entry/headless.js", import.meta.url));
/** A guard against a test that hangs. */
const READY_MS = 90_000;

/** The built service as a process that a test may kill and start again over the same folders. */
export interface BackendProcess {
  readonly url: string;
  readonly pid: number;
  /** To its READY line. */
  readonly start: Times;
  /** Everything it logged so far. */
  log(): string;
  /** Ends it as a crash or the system would: nothing of its own runs any more. */
  kill(): Promise<void>;
  /** Asks it to end; exit code, signal and how long it took. */
  terminate(): Promise<Times & { code: number | null; signal: string | null }>;
}

/** Starts it over `folder` (data, and octrees below it). Errors: not ready in time, with its log. */
export async function startProcess(folder: string, env: NodeJS.ProcessEnv = {}): Promise<BackendProcess> {
  const folders = { APP_DATA_DIR: folder, APP_OCTREE_CACHE_ROOT: join(folder, "octrees"), APP_AUTH_TOKEN: "" };
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, ...folders, APP_BACKEND_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const started = stopwatch(child.pid);
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    const stop = stopwatch(child.pid);
    child.kill(signal);
    const [code, by] = await closed;
    return { code, signal: by, ...stop() };
  };
  const url = await new Promise<string>((resolve, reject) => {
    const fail = (what: string) => {
      child.kill("SIGKILL");
      reject(new Error(`the service ${what}: ${log}`));
    };
    const timer = setTimeout(() => fail("was not ready in time"), READY_MS);
    void closed.then(([code]) => fail(`ended with ${code}`));
    createInterface({ input: child.stdout }).on("line", (line) => {
      clearTimeout(timer);
      if (line.startsWith("READY ")) resolve(line.slice("READY ".length));
      else fail(`said ${line}`);
    });
  });
  const start = started();
  return {
    url,
    pid: child.pid ?? -1,
    start,
    log: () => log,
    kill: async () => {
      await end("SIGKILL");
    },
    terminate: () => end("SIGTERM"),
  };
}
