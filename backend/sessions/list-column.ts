import { BulkColumn, type BulkKind } from "../../shared/contract/bulk-list.ts";
import type { ColumnRef } from "./column-ref.ts";

/** A list that was read into native memory. */
export interface HeldList {
  readonly length: number;
  /** null if the list is not valid. */
  readonly ref: ColumnRef | null;
  /** Records that are valid: the values of their lists, record by record, in the order of the fields. */
  readonly items: ColumnRef | null;
  readonly wrong: BulkColumn["wrong"];
  readonly unknown: readonly string[];
}

/**
 * A list of a request as a native column: points vec3d, numbers and heights f64 (null is NaN), flags and text u8, records an
 * f64 table (cpp/io/json_records.h).
 */
export class ListColumn extends BulkColumn {
  readonly length: number;
  readonly ref: ColumnRef | null;
  readonly items: ColumnRef | null;
  readonly wrong: BulkColumn["wrong"];
  readonly unknown: readonly string[];

  constructor(
    readonly kind: BulkKind,
    { length, ref, items, wrong, unknown }: HeldList = EMPTY,
  ) {
    super();
    this.length = length;
    this.ref = ref;
    this.items = items;
    this.wrong = wrong;
    this.unknown = unknown;
  }
  get valid(): boolean {
    return this.ref !== null;
  }
}

const EMPTY: HeldList = { length: 0, ref: null, items: null, wrong: null, unknown: [] };
