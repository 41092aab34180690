/**
 * Milliseconds that this process was awake. What passes between two looks counts up to `most_ms`, so neither a computer that sleeps
 * nor a clock that is set makes anything old. Look more often than that.
 */
export class AwakeClock {
  readonly #most_ms: number;
  #awake = 0;
  #seen = performance.now();

  constructor(most_ms: number) {
    this.#most_ms = most_ms;
  }

  now(): number {
    const now = performance.now();
    this.#awake += Math.min(now - this.#seen, this.#most_ms);
    this.#seen = now;
    return this.#awake;
  }
}
