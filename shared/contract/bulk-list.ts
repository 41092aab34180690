import { z } from "zod";

/**
 * Kinds of lists that the service reads into native columns, without making JavaScript values of their elements.
 * points: [x, y, z]; numbers; heights: numbers and nulls, or rows of them; flags: true and false; text: a string.
 */
export type BulkKind = "points" | "numbers" | "heights" | "flags" | "text";

/** A list or text of a request in native memory; backend/sessions/list-column.ts implements it. */
export abstract class BulkColumn {
  abstract readonly kind: BulkKind;
  /** Number of elements as sent; bytes of a text. */
  abstract readonly length: number;
  /** Every element is what the kind demands. */
  abstract readonly valid: boolean;
}

/** The kind of each schema made here, also of those derived from it by describe() and meta(). */
export const bulkKinds = z.registry<{ kind: BulkKind }>();

/** A list of any length, checked as a whole: as an array in one loop, or as a column read from a large request. */
export function bulkListOf<T>(kind: BulkKind, holds: (values: readonly unknown[]) => boolean, message: string) {
  const accepted = (value: unknown) =>
    value instanceof BulkColumn ? value.kind === kind && value.valid : Array.isArray(value) && holds(value);
  return z.custom<T[] | BulkColumn>(accepted, { message }).register(bulkKinds, { kind });
}

/** The same with one rule for every element. */
export const bulkList = <T>(kind: BulkKind, isElement: (value: unknown) => boolean, message: string) =>
  bulkListOf<T>(kind, (values) => values.every(isElement), message);

/** A string of any length: as it is, or as a column of its UTF-8 bytes read from a large request. */
export const bulkText = (): z.ZodType<string | BulkColumn, string> =>
  z
    .custom<string | BulkColumn>(
      (value) => (value instanceof BulkColumn ? value.kind === "text" && value.valid : typeof value === "string"),
      { message: "must be a string" },
    )
    .register(bulkKinds, { kind: "text" })
    .meta({ type: "string" }) as unknown as z.ZodType<string | BulkColumn, string>;
