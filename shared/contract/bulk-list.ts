import { z } from "zod";
import { checkedByService } from "./documented.ts";

/**
 * Kinds of lists that the service reads into native columns, without making JavaScript values of their elements.
 * points: [x, y, z]; numbers; heights: numbers and nulls, or rows of them; flags: true and false; text: a string; records:
 * objects of numbers.
 */
export type BulkKind = "points" | "numbers" | "heights" | "flags" | "text" | "records";

/** A list or text of a request in native memory; backend/sessions/list-column.ts implements it. */
export abstract class BulkColumn {
  abstract readonly kind: BulkKind;
  /** Number of elements as sent; bytes of a text. */
  abstract readonly length: number;
  /** Every element is what the kind demands. */
  abstract readonly valid: boolean;
  /** Records that are not valid: the first one against a rule; its value is undefined if it is long. */
  abstract readonly wrong: { readonly index: number; readonly value: unknown } | null;
  /** Records: keys that the schema does not have, each where it was first met, such as "[3].colour". */
  abstract readonly unknown: readonly string[];
}

/** The kind of each schema made here, also of those derived from it by describe() and meta(). */
export const bulkKinds = z.registry<{ kind: BulkKind }>();

/** The schema of the elements of each list of records, by the schema that stands inside of the transform. */
const elements = new WeakMap<object, z.ZodObject>();

/** The schema of the elements of an unwrapped list of records; undefined for other schemas. */
export const recordsOf = (unwrapped: object): z.ZodObject | undefined => elements.get(unwrapped);

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

/**
 * A list of objects of any length: as an array, checked element by element, or as the columns read from a large request.
 * Fields of `item`: numbers, [x, y, z], or lists of numbers.
 */
export function bulkRecords<S extends z.ZodObject>(item: S): z.ZodType<z.output<S>[] | BulkColumn, z.input<S>[]> {
  const array = z.array(item);
  const any = z.unknown().register(bulkKinds, { kind: "records" });
  elements.set(any, item);
  const checked = any.transform((value, context) => {
    if (value instanceof BulkColumn) {
      if (value.kind === "records" && value.valid) return value;
      context.issues.push(...issuesOf(value, item).map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue));
      return z.NEVER;
    }
    const { data, error } = array.safeParse(value);
    if (data) return data;
    context.issues.push(...error.issues.map((issue) => ({ ...issue, input: value }) as z.core.$ZodRawIssue));
    return z.NEVER;
  });
  return checkedByService(checked, array) as unknown as z.ZodType<z.output<S>[] | BulkColumn, z.input<S>[]>;
}

/** What is wrong with records in native memory, in the words of their schema. */
function issuesOf({ wrong }: BulkColumn, item: z.ZodObject): readonly Omit<z.core.$ZodIssue, "input">[] {
  const found = wrong && wrong.value !== undefined ? item.safeParse(wrong.value).error?.issues : undefined;
  if (wrong && found) return found.map((issue) => ({ ...issue, path: [wrong.index, ...issue.path] }));
  const which = wrong ? `element ${wrong.index} is not what the schema demands` : "must be a list of objects";
  return [{ code: "custom", message: which, path: [] }];
}
