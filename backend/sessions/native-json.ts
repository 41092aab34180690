import type { JsonForm } from "../native/lists.ts";
import type { ColumnRef } from "./column-ref.ts";

/**
 * A value of a JSON response that lives in a native column: a list of numbers or rows, or a string. backend/http writes
 * its text block by block, off the event loop.
 */
export class NativeJson {
  constructor(
    readonly ref: ColumnRef,
    readonly form: JsonForm,
    /** Part of the column; the default is all of it. */
    readonly first = 0,
    readonly count = ref.length - first,
    /** Added to triples of f32, metres: the numbers are then rounded to 0.1 micrometres. */
    readonly origin: readonly [number, number, number] = [0, 0, 0],
  ) {}
}
