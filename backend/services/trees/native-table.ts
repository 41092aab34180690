import { KIB } from "../../../shared/limits.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

const BLOCK_BYTES = 1024 * KIB;

/** Rows of a native table by the names of its columns. */
export class Table {
  readonly #values: Float64Array;
  readonly #at: ReadonlyMap<string, number>;
  readonly length: number;

  constructor(column: NativeColumn, fields: readonly string[]) {
    this.#values = numbersOf(column);
    this.#at = new Map(fields.map((field, i) => [field, i]));
    this.length = this.#values.length / fields.length;
  }
  /** NaN = not measured. */
  get(row: number, field: string): number {
    const at = this.#at.get(field);
    if (at === undefined) throw new Error(`the inventory has no field ${field}`);
    return this.#values[row * this.#at.size + at] as number;
  }
  known(row: number, field: string): number | null {
    const value = this.get(row, field);
    return Number.isFinite(value) ? value : null;
  }
  point(row: number, field: string): [number, number, number] {
    return [this.get(row, `${field}_x`), this.get(row, `${field}_y`), this.get(row, `${field}_z`)];
  }
}

/** The values of a column of float64. */
export function numbersOf(column: NativeColumn): Float64Array {
  const out = new Float64Array(column.length);
  const bytes = new Uint8Array(out.buffer);
  for (let at = 0; at < bytes.length; at += BLOCK_BYTES) column.readInto(bytes.subarray(at, at + BLOCK_BYTES), at);
  return out;
}
