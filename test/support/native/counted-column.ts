import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import { ColumnRef } from "../../../backend/sessions/column-ref.ts";

/** A column of no bytes that says whether its memory is still there. Freed twice is an error. */
export class CountedColumn implements NativeColumn {
  readonly length = 0;
  readonly dtype = "u8";
  readonly bytes = 0;
  readonly fileBacked = false;
  freed = false;
  constructor(readonly name: string) {}
  readInto(): number {
    if (this.freed) throw new Error(`${this.name} was read after it was freed`);
    return 0;
  }
  release(): void {
    if (this.freed) throw new Error(`${this.name} was freed twice`);
    this.freed = true;
  }
}

/** A counted column with its first reference. */
export function countedRef(name: string): { ref: ColumnRef; column: CountedColumn } {
  const column = new CountedColumn(name);
  return { ref: new ColumnRef(column), column };
}
