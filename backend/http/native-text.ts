import { AppError } from "../../shared/errors.ts";
import { type JsonForm, jsonText } from "../native/lists.ts";
import type { ColumnRef } from "../sessions/column-ref.ts";
import { NativeJson } from "../sessions/native-json.ts";

/** Elements whose text is made at once: a multiple of the widths 1, 2 and 3, within the limit of the native op. */
const PART = 6 * 32_768;

const QUOTES: Readonly<Record<JsonForm, readonly [string, string]>> = {
  numbers: ["[", "]"],
  pairs: ["[", "]"],
  triples: ["[", "]"],
  counts: ["[", "]"],
  text: ['"', '"'],
  json: ["", ""],
};

/** The JSON text of a native column in chunks. Each is made on a thread of its own. */
export async function* nativeText({ ref, form, first, count, origin }: NativeJson): AsyncGenerator<Uint8Array> {
  const [before, after] = QUOTES[form];
  yield Buffer.from(before);
  for (let at = 0; at < count; at += PART) {
    const part = { first: first + at, count: Math.min(PART, count - at), origin };
    const text = await jsonText(ref.native, form, part).promise;
    const comma = at > 0 && form !== "text" && form !== "json" ? 1 : 0;
    const chunk = Buffer.allocUnsafeSlow(text.length + comma);
    try {
      const copied = text.readInto(chunk.subarray(comma), 0);
      if (copied !== text.length) throw new AppError("internal", `a column gave ${copied} of ${text.length} bytes`);
    } finally {
      text.release();
    }
    if (comma) chunk[0] = 0x2c;
    yield chunk;
  }
  yield Buffer.from(after);
}

/** A result whose native columns are retained until release(), so that its run may end before it is sent. */
export interface HeldJson<T extends object> {
  readonly value: T;
  /** Idempotent. */
  release(): void;
}

/** Depth at which results have columns: the lists of material groups. */
const MAX_DEPTH = 4;
/** Long lists have values, not columns. */
const MAX_ITEMS = 1000;

function columnsIn(value: unknown, depth: number): ColumnRef[] {
  if (value instanceof NativeJson) return [value.ref];
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || depth === MAX_DEPTH) return [];
  const items = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : Object.values(value);
  return items.flatMap((item) => columnsIn(item, depth + 1));
}

/** Retains the columns in a result. */
export function holdJson<T extends object>(value: T): HeldJson<T> {
  const columns = columnsIn(value, 0);
  for (const column of columns) column.retain();
  return {
    value,
    release: () => {
      for (const column of columns.splice(0)) column.release();
    },
  };
}
