/** Measures the seconds of each part of a run. */
export class Stopwatch {
  readonly #laps = new Map<string, number>();
  readonly #started = performance.now();
  #last = this.#started;

  lap(name: string): void {
    const now = performance.now();
    this.#laps.set(name, now - this.#last);
    this.#last = now;
  }

  seconds(): Record<string, number> {
    const rounded = (ms: number) => Math.round(ms) / 1000;
    const laps = [...this.#laps].map(([name, ms]) => [name, rounded(ms)] as const);
    return { ...Object.fromEntries(laps), total: rounded(this.#last - this.#started) };
  }
}
