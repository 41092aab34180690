// Runs programs to their end.
import { spawn } from "node:child_process";
import { root } from "./folders.ts";

export interface Ended {
  /** Exit code, or the signal that ended it. */
  readonly status: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Of what it writes to stderr the last 20 kB are kept. */
export function run(command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const text = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => {
      text.stdout += chunk;
    });
    child.stderr.on("data", (chunk: Buffer) => {
      text.stderr = `${text.stderr}${chunk}`.slice(-20_000);
    });
    child.on("error", reject);
    child.on("close", (status, signal) => resolve({ status: status ?? `signal ${signal}`, ...text }));
  });
}
