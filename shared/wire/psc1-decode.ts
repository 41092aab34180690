import { z } from "zod";
import { AppError } from "../errors.ts";
import { utf8, viewOf } from "./bytes.ts";
import {
  MAX_SCENE_DEPTH,
  PSC1_MAGIC,
  PSC1_VERSION,
  SCENE_ARRAYS,
  type SceneArray,
  type SceneArrayType,
  type SceneBuffer,
  scenePadded,
} from "./psc1.ts";

/* The reader of PSC1; psc1.ts describes the format. */

const NUMBERS: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "-0": -0,
};

const Header = z.looseObject({
  version: z.int().min(1),
  buffers: z.array(
    z.looseObject({
      dtype: z.enum([...(Object.keys(SCENE_ARRAYS) as SceneArrayType[]), "json"]),
      byteLength: z.int().min(0),
    }),
  ),
});

const damaged = (why: string) => new AppError("invalid_file", `damaged scene document: ${why}`);

/** Reads a document. Typed arrays are views of `bytes` where its alignment allows. Errors: invalid_file, unsupported. */
export function decodeScene(bytes: Uint8Array): unknown {
  if (bytes.length < 8 || viewOf(bytes).getUint32(0, true) !== PSC1_MAGIC)
    throw damaged('it does not begin with "PSC1"');
  const length = viewOf(bytes).getUint32(4, true);
  if (length > bytes.length - 8) throw damaged("its header is cut");
  const json = parsedJson(bytes.subarray(8, 8 + length));
  const header = Header.safeParse(json);
  if (!header.success) throw damaged(`its header: ${header.error.issues[0]?.message ?? ""}`);
  const { version, buffers } = header.data;
  if (version > PSC1_VERSION) {
    throw new AppError(
      "unsupported",
      `the scene document has version ${version}; this program reads up to ${PSC1_VERSION}. Use a newer one.`,
    );
  }
  let at = scenePadded(8 + length);
  const found = buffers.map(({ dtype, byteLength }): SceneBuffer => {
    if (byteLength > bytes.length - at) throw damaged("a buffer is cut");
    if (dtype !== "json" && byteLength % SCENE_ARRAYS[dtype].BYTES_PER_ELEMENT !== 0)
      throw damaged("a buffer's length");
    const buffer = { dtype, bytes: bytes.subarray(at, at + byteLength) };
    at = scenePadded(at + byteLength);
    return buffer;
  });
  return new SceneDecoder(found).decode((json as { doc?: unknown }).doc, 0);
}

function parsedJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8(bytes));
  } catch (cause) {
    throw new AppError("invalid_file", "damaged scene document: its JSON", undefined, { cause });
  }
}

class SceneDecoder {
  readonly #buffers: readonly SceneBuffer[];
  readonly #arrays = new Map<number, SceneArray>();

  constructor(buffers: readonly SceneBuffer[]) {
    this.#buffers = buffers;
  }

  decode(value: unknown, depth: number): unknown {
    if (depth > MAX_SCENE_DEPTH) throw damaged(`it is nested deeper than ${MAX_SCENE_DEPTH} levels`);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.decode(item, depth + 1));
    const entries = Object.entries(value);
    const [tag, content] = entries[0] ?? ["", undefined];
    if (tag.startsWith("$")) return this.#tagged(tag, content, value, depth);
    return Object.fromEntries(entries.map(([key, item]) => [key, this.decode(item, depth + 1)]));
  }

  #tagged(tag: string, content: unknown, whole: object, depth: number): unknown {
    switch (tag) {
      case "$buf":
        return this.#array(content, (whole as { dtype?: unknown }).dtype);
      case "$map":
        return new Map(this.#pairs(content, depth));
      case "$set":
        return new Set(listOf(content).map((item) => this.decode(item, depth + 1)));
      case "$chunks":
        return listOf(content).flatMap((k) => this.#chunk(k, depth));
      case "$obj":
        return Object.fromEntries(this.#pairs(content, depth) as [string, unknown][]);
      case "$num":
        return numberOf(content);
      default:
        throw damaged(`the tag ${tag.slice(0, 40)} is unknown`);
    }
  }

  #pairs(content: unknown, depth: number): [unknown, unknown][] {
    return listOf(content).map((pair) => {
      if (!Array.isArray(pair) || pair.length !== 2) throw damaged("a pair of key and value");
      return [this.decode(pair[0], depth + 1), this.decode(pair[1], depth + 1)];
    });
  }

  #chunk(k: unknown, depth: number): unknown[] {
    const buffer = this.#buffers[k as number];
    if (buffer?.dtype !== "json") throw damaged("a chunk is not there");
    return listOf(parsedJson(buffer.bytes)).map((item) => this.decode(item, depth + 1));
  }

  #array(k: unknown, dtype: unknown): SceneArray {
    const buffer = this.#buffers[k as number];
    if (!buffer || buffer.dtype === "json" || buffer.dtype !== dtype) throw damaged("an array is not there");
    const known = this.#arrays.get(k as number);
    if (known) return known;
    const type = SCENE_ARRAYS[buffer.dtype];
    const { bytes } = buffer;
    const aligned = bytes.byteOffset % type.BYTES_PER_ELEMENT === 0;
    const from = aligned ? bytes : bytes.slice();
    const array = new type(from.buffer as ArrayBuffer, from.byteOffset, bytes.length / type.BYTES_PER_ELEMENT);
    this.#arrays.set(k as number, array);
    return array;
  }
}

function listOf(content: unknown): unknown[] {
  if (!Array.isArray(content)) throw damaged("a list is expected behind a tag");
  return content;
}

function numberOf(content: unknown): number {
  const value = typeof content === "string" && Object.hasOwn(NUMBERS, content) ? NUMBERS[content] : undefined;
  if (value === undefined) throw damaged("a number that is none");
  return value;
}
