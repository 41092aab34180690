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
 * online | 4 s, or at once after a failed request | lost
 * denied | never: the page needs another token |
 */
export class Connection {
  readonly state = new Signal<ConnectionState>("connecting");
  readonly #client: Client;
  readonly #onOnline: () => Promise<void>;
  #retry_ms = FIRST_RETRY_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking = false;

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
  /** Tells of a failed request: a lost connection is looked at at once. */
  noticed(error: unknown): void {
    if (isLost(error)) this.check();
    if (isDenied(error)) this.#to("denied");
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
        await this.#onOnline();
        this.#to("online");
      }
      this.#retry_ms = FIRST_RETRY_MS;
      this.#later(ALIVE_MS);
    } catch (error) {
      if (isDenied(error)) this.#to("denied");
      else {
        this.#to("lost");
        this.#later(this.#retry_ms);
        this.#retry_ms = Math.min(2 * this.#retry_ms, LONGEST_RETRY_MS);
      }
    } finally {
      this.#asking = false;
    }
  }
  #later(ms: number): void {
    this.#timer = setTimeout(() => this.check(), ms);
  }
  #to(state: ConnectionState): void {
    if (this.state.value !== state) this.state.set(state);
  }
}

const isDenied = (error: unknown): boolean => error instanceof ApiError && error.status === 401;
