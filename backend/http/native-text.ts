import { AppError } from "../../shared/errors.ts";
import { type JsonForm, jsonText } from "../native/lists.ts";
import { NativeJson } from "../sessions/native-json.ts";

/** Elements whose text is made at once: a multiple of the widths 1, 2 and 3, within the limit of the native op. */
const PART = 6 * 32_768;

const QUOTES: Readonly<Record<JsonForm, readonly [string, string]>> = {
  numbers: ["[", "]"],
  pairs: ["[", "]"],
  triples: ["[", "]"],
  counts: ["[", "]"],
  text: ['"', '"'],
};

/** The JSON text of a native column in chunks. Each is made on a thread of its own. */
export async function* nativeText({ ref, form }: NativeJson): AsyncGenerator<Uint8Array> {
  const [before, after] = QUOTES[form];
  yield Buffer.from(before);
  for (let at = 0; at < ref.length; at += PART) {
    const text = await jsonText(ref.native, form, at, Math.min(PART, ref.length - at)).promise;
    const comma = at > 0 && form !== "text" ? 1 : 0;
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

/** Retains the columns in the fields of a result. */
export function holdJson<T extends object>(value: T): HeldJson<T> {
  const columns = Object.values(value).flatMap((field) => (field instanceof NativeJson ? [field.ref] : []));
  for (const column of columns) column.retain();
  return {
    value,
    release: () => {
      for (const column of columns.splice(0)) column.release();
    },
  };
}
