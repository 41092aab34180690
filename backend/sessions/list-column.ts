import { BulkColumn, type BulkKind } from "../../shared/contract/bulk-list.ts";
import type { ColumnRef } from "./column-ref.ts";

/** A list of a request as a native column: points vec3d, numbers and heights f64 (null is NaN), flags and text u8. */
export class ListColumn extends BulkColumn {
  constructor(
    readonly kind: BulkKind,
    readonly length: number,
    /** null if the list is not valid. */
    readonly ref: ColumnRef | null,
  ) {
    super();
  }
  get valid(): boolean {
    return this.ref !== null;
  }
}
