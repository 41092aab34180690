/** A reference-counted native value, like ColumnRef: the last release() frees it. */
export class Counted<N extends { release(): void }> {
  #owners = 1;
  constructor(readonly native: N) {}

  retain(): this {
    if (this.#owners === 0) throw new Error("retain after the last release");
    this.#owners += 1;
    return this;
  }
  release(): void {
    if (this.#owners === 0) throw new Error("released more often than retained");
    this.#owners -= 1;
    if (this.#owners === 0) this.native.release();
  }
}
