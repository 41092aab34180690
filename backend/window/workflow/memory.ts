/*
 * What the page remembers across a reload, in the storage of its tab: what is shown, edits that can be redone, tree lists.
 * The clouds themselves and their edits are kept by the service.
 */

export class TabMemory {
  readonly #storage: Storage;
  readonly #onFull: () => void;

  /** `onFull` is called when something did not fit, so that a reload will not find it. */
  constructor(storage: Storage, onFull: () => void) {
    this.#storage = storage;
    this.#onFull = onFull;
  }
  /** Null if there is nothing, or nothing that `isValid` accepts. */
  read<T>(key: string, isValid: (value: unknown) => value is T): T | null {
    const text = this.#storage.getItem(key);
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      return isValid(value) ? value : null;
    } catch {
      return null; // written by another version
    }
  }
  write(key: string, value: unknown): void {
    try {
      this.#storage.setItem(key, JSON.stringify(value));
    } catch {
      this.#storage.removeItem(key);
      this.#onFull();
    }
  }
}
