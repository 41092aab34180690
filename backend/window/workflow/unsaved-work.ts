import { Signal } from "./signal.ts";

/**
 * Whether the page holds work that no project has: edits and runs since the last project that took everything, or
 * clouds that were here before the page. Files that were only opened are no work.
 */
export class UnsavedWork {
  readonly is = new Signal(false);
  #isEmpty = true;
  #changes = 0;
  #saved = 0;

  /** Something was changed, or is about to be. */
  changed(): void {
    this.#changes += 1;
    this.#publish();
  }
  /** Call it when a project begins to be written; the returned function, when it has everything that was there then. */
  saving(): () => void {
    const at = this.#changes;
    return () => {
      this.#saved = Math.max(this.#saved, at);
      this.#publish();
    };
  }
  /** Whether the page has neither clouds nor objects: then there is nothing to save. */
  setEmpty(isEmpty: boolean): void {
    this.#isEmpty = isEmpty;
    if (isEmpty) this.#saved = this.#changes;
    this.#publish();
  }
  #publish(): void {
    const is = !this.#isEmpty && this.#changes > this.#saved;
    if (is !== this.is.value) this.is.set(is);
  }
}
