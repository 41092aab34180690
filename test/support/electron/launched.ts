import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const KEPT_LINES = 200;
const KILL_AFTER_MS = 3_000;

interface Waiter {
  take(line: string): boolean;
  fail(error: Error): void;
}

/** An Electron that runs a main file. Its output arrives line by line; stdin takes commands. */
export class LaunchedElectron {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly exited: Promise<number | null>;

  constructor(launcher: string, main: string, env: NodeJS.ProcessEnv, files: readonly string[] = []) {
    const { NODE_OPTIONS: _, ...inherited } = process.env; // the test runner's own
    // A group of its own: the launcher may have started a display server, which must go with it.
    this.#child = spawn(launcher, [main, ...files], { env: { ...inherited, ...env }, stdio: "pipe", detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", (line) => this.#heard(line));
    }
    this.exited = once(this.#child, "close").then(([code]: (number | null)[]) => {
      for (const waiter of this.#waiters) waiter.fail(new Error(`Electron ended with ${code}:\n${this.log}`));
      return code ?? null;
    });
  }

  /** The last lines of its output. */
  get log(): string {
    return this.#lines.join("\n");
  }

  /** The first line from now on, or among those heard already, that `pick` makes something of. */
  until<T>(what: string, timeoutMs: number, pick: (line: string) => T | undefined, heard = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const fail = (error: Error) => {
        done();
        reject(error);
      };
      const take = (line: string) => {
        try {
          const value = pick(line);
          if (value === undefined) return false;
          done();
          resolve(value);
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)));
        }
        return true;
      };
      const waiter: Waiter = { take, fail };
      const timer = setTimeout(() => fail(new Error(`no ${what} within ${timeoutMs} ms:\n${this.log}`)), timeoutMs);
      this.#waiters.add(waiter);
      if (heard) this.#lines.some(take);
    });
  }

  send(command: object): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** Ends what is left of it: asks first, so that the launcher can clean up. */
  async kill(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      process.kill(-pid, "SIGTERM");
      const forced = setTimeout(() => process.kill(-pid, "SIGKILL"), KILL_AFTER_MS);
      await this.exited;
      clearTimeout(forced);
    }
    await this.exited;
  }

  #heard(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const waiter of this.#waiters) waiter.take(line);
  }
}

/** A line as a JSON object; undefined for any other output. */
export function jsonLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // a line of something else that begins with a brace
  }
}
