/** A list of handlers of one event. */
export class Handlers<T> {
  readonly #list = new Set<(value: T) => void>();

  /** Returns what removes it. */
  add(handler: (value: T) => void): () => void {
    this.#list.add(handler);
    return () => this.#list.delete(handler);
  }
  call(value: T): void {
    for (const handler of [...this.#list]) handler(value);
  }
}
