export type Stop = () => void;

/** A value that others can follow. */
export class Signal<T> {
  #value: T;
  readonly #handlers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }
  get value(): T {
    return this.#value;
  }
  set(value: T): void {
    this.#value = value;
    for (const handler of [...this.#handlers]) handler(value);
  }
  /** Calls `handler` now and after each change, until the returned function is called. */
  follow(handler: (value: T) => void): Stop {
    this.#handlers.add(handler);
    handler(this.#value);
    return () => this.#handlers.delete(handler);
  }
}
