import { ApiError, type Client } from "../../../shared/client/index.ts";
import { isLost } from "./jobs.ts";
import { Signal } from "./signal.ts";

export type ConnectionState = "connecting" | "online" | "lost" | "denied";

const ALIVE_MS = 4_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/**
 * Watches whether the service answers. state | asks again after | then
 * connecting, lost | 250 ms, doubled up to 5 s | online, denied
 * online | 4 s | lost; at once when a request found no answer
 * denied | never: the page needs another token |
 */
export class Connection {
  readonly state = new Signal<ConnectionState>("connecting");
  readonly #client: Client;
  readonly #onOnline: () => Promise<void>;
  #retry_ms = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking = false;
  /** Requests without an answer so far. */
  #losses = 0;

  /** `onOnline` runs each time that the service was found (again). It may throw what the client throws. */
  constructor(client: Client, onOnline: () => Promise<void>) {
    this.#client = client;
    this.#onOnline = onOnline;
  }
  /** Asks now, unless it is asking already. */
  check(): void {
    if (this.#asking || this.state.value === "denied") return;
    clearTimeout(this.#timer);
    void this.#ask();
  }
  /** Tells of a failed request. After one without an answer, `onOnline` runs again even if the service answers at once. */
  noticed(error: unknown): void {
    if (isDenied(error)) this.#to("denied");
    if (!isLost(error) || this.state.value === "denied") return;
    this.#losses += 1;
    this.#to("lost");
    this.check();
  }
  stop(): void {
    clearTimeout(this.#timer);
    this.#asking = true;
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    try {
      await this.#client.health();
      if (this.state.value !== "online") {
        const losses = this.#losses;
        await this.#onOnline();
        if (this.#losses !== losses) return this.#again();
        this.#to("online");
      }
      this.#retry_ms = FIRST_RETRY_MS;
      this.#later(ALIVE_MS);
    } catch (error) {
      if (isDenied(error)) this.#to("denied");
      else this.#again();
    } finally {
      this.#asking = false;
    }
  }
  #again(): void {
    this.#to("lost");
    this.#later(this.#retry_ms);
    this.#retry_ms = Math.min(2 * this.#retry_ms, LONGEST_RETRY_MS);
  }
  #later(ms: number): void {
    this.#timer = setTimeout(() => this.check(), ms);
  }
  #to(state: ConnectionState): void {
    if (this.state.value !== state) this.state.set(state);
  }
}

const isDenied = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
