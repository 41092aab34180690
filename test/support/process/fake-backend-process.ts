import type { BackendProcess } from "../../../backend/entry/supervisor-contract.ts";
import type { FromBackend, ToBackend } from "../../../backend/entry/supervisor-messages.ts";

export const FAKE_VERSION = "1.2.3";
export const FAKE_PORT = 4711;

/** A backend process under the test's control. `onPost` reacts to what the supervisor sends. */
export class FakeBackendProcess implements BackendProcess {
  readonly posted: ToBackend[] = [];
  killed = false;
  /** A process that a kill does not end at once. */
  reluctant = false;
  onPost: ((message: ToBackend) => void) | undefined;
  #message: (message: unknown) => void = () => undefined;
  #line: (line: string) => void = () => undefined;
  #exit: (code: number) => void = () => undefined;

  constructor(
    readonly env: Record<string, string>,
    readonly pid: number,
  ) {}

  onMessage(listener: (message: unknown) => void): void {
    this.#message = listener;
  }
  onLine(listener: (line: string) => void): void {
    this.#line = listener;
  }
  onExit(listener: (code: number) => void): void {
    this.#exit = listener;
  }
  post(message: ToBackend): void {
    this.posted.push(message);
    this.onPost?.(message);
  }
  kill(): void {
    this.killed = true;
    if (!this.reluctant) this.exit(9);
  }

  say(message: unknown): void {
    this.#message(message);
  }
  log(line: string): void {
    this.#line(line);
  }
  exit(code: number): void {
    this.#exit(code);
  }
  ready(changed: Partial<FromBackend> = {}): void {
    const port = changed.port ?? (Number(this.env.APP_BACKEND_PORT) || FAKE_PORT);
    const url = `http://127.0.0.1:${port}`;
    this.say({ type: "ready", url, port, version: FAKE_VERSION, pid: this.pid, ...changed });
  }
}
