import type { NativeColumn } from "../native/core/handles.ts";

/** A reference-counted native column: the last release() frees the memory at once, without garbage collection. */
export class ColumnRef {
  #owners = 1;
  /** Identity of the values: the same object for a column and the mapped file of it. */
  readonly content: object;

  /** `file`: absolute path of the mapped file; null if the column exists in memory only. */
  constructor(
    readonly native: NativeColumn,
    readonly file: string | null = null,
    twin?: ColumnRef,
  ) {
    this.content = twin?.content ?? {};
  }

  get length(): number {
    return this.native.length;
  }
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
