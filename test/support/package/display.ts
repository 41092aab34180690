import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";

/** A virtual X display. */
export interface Display {
  readonly number: number;
  close(): Promise<void>;
}

/** Starts Xvfb on a free display. Errors: it is missing or ends. */
export async function openDisplay(): Promise<Display> {
  const args = ["-displayfd", "3", "-screen", "0", "1600x1000x24", "-ac", "-nolisten", "tcp"];
  const child: ChildProcess = spawn("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const ended = once(child, "exit").catch((error: unknown) => [error]);
  const told = once(child.stdio[3] as Readable, "data").then(([chunk]) => Number.parseInt(String(chunk), 10));
  const number = await Promise.race([told, ended.then(([why]) => Promise.reject(new Error(`Xvfb: ${String(why)}`)))]);
  const close = async () => {
    child.kill();
    await ended;
  };
  return { number, close };
}
