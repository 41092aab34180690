import type { NativeColumn } from "../native/core/handles.ts";

/** A native column with counted owners: the last release() frees the memory at once. GC is never the plan. */
export class ColumnRef {
  #owners = 1;
  /** The same object for columns that hold the same values, one being the mapped file of the other. */
  readonly content: object;

  /** `file`: absolute path of the session's file that it maps; null when it lives in memory only. */
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
