import { AppError } from "../errors.ts";
import { magicWord, viewOf } from "./bytes.ts";

/*
 * PSC1: the scene document of a project. Written and read by clients; the service stores its bytes. Little-endian.
 *
 * offset  size  type   meaning
 * 0       4     bytes  magic "PSC1"
 * 4       4     u32    length of the header, bytes
 * 8             UTF-8  {"version": 2, "buffers": [{"dtype", "byteLength"}, ...], "doc": <value>}
 *
 * Then the buffers in order. Zeros pad the header and each buffer to a multiple of 8 from the start.
 *
 * value                                     written as
 * typed array                               {"$buf": k, "dtype": f32 f64 i8 u8 u8c i16 u16 i32 u32}; the values are buffer k
 * Map                                       {"$map": [[key, value], ...]}
 * Set                                       {"$set": [value, ...]}
 * array of more than 8192 items             {"$chunks": [k, ...]}; buffers of dtype json, each an array of up to 8192 items
 * NaN, Infinity, -Infinity, -0              {"$num": "NaN"}, ...
 * object with a key that begins with "$"    {"$obj": [[key, value], ...]}
 * object with toJSON(), such as a Date      what that returns
 * undefined, function, symbol               left out; null in an array
 * anything else                             itself
 *
 * Version 1 has no $chunks. An object is read by its tag only if the tag is its first key, so no other object is taken for
 * one.
 * The reader is psc1-decode.ts.
 */

export const PSC1_MAGIC = magicWord("PSC1");
export const PSC1_VERSION = 2;
const CHUNK = 8192;
/** Deepest nesting; a cycle is deeper. */
export const MAX_SCENE_DEPTH = 1000;

/** Types of the arrays in a document. */
export const SCENE_ARRAYS = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  u8: Uint8Array,
  u8c: Uint8ClampedArray,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
} as const;
export type SceneArrayType = keyof typeof SCENE_ARRAYS;
export type SceneArray = InstanceType<(typeof SCENE_ARRAYS)[SceneArrayType]>;

export interface SceneBuffer {
  readonly dtype: SceneArrayType | "json";
  readonly bytes: Uint8Array;
}

/** Rounds up to a multiple of 8. */
export const scenePadded = (length: number): number => Math.ceil(length / 8) * 8;

/**
 * The document in pieces, to be sent one after the other, so that its arrays are not copied.
 * Errors: invalid_argument for what the format cannot carry: bigints, arrays of them, cycles.
 */
export function sceneParts(value: unknown): Uint8Array[] {
  const encoder = new SceneEncoder();
  const doc = encoder.encode(value, 0) ?? null;
  const buffers = encoder.buffers.map(({ dtype, bytes }) => ({ dtype, byteLength: bytes.length }));
  const json = new TextEncoder().encode(JSON.stringify({ version: PSC1_VERSION, buffers, doc }));
  if (json.length > 0xffff_ffff) throw new AppError("invalid_argument", "the scene document is too large");
  const head = new Uint8Array(scenePadded(8 + json.length));
  const view = viewOf(head);
  view.setUint32(0, PSC1_MAGIC, true);
  view.setUint32(4, json.length, true);
  head.set(json, 8);
  const parts: Uint8Array[] = [head];
  for (const { bytes } of encoder.buffers) {
    parts.push(bytes);
    if (bytes.length % 8 !== 0) parts.push(new Uint8Array(scenePadded(bytes.length) - bytes.length));
  }
  return parts;
}

/** The document in one array. Errors: those of sceneParts. */
export function encodeScene(value: unknown): Uint8Array {
  const parts = sceneParts(value);
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

class SceneEncoder {
  readonly buffers: SceneBuffer[] = [];
  /** An array that is there twice is written once. */
  readonly #known = new Map<object, number>();

  /** The JSON form of a value; undefined if it is left out. */
  encode(raw: unknown, depth: number): unknown {
    if (depth > MAX_SCENE_DEPTH) {
      throw new AppError(
        "invalid_argument",
        `the scene is nested deeper than ${MAX_SCENE_DEPTH} levels, or contains itself`,
      );
    }
    const value = plainOf(raw);
    if (typeof value === "number") return encodeNumber(value);
    if (typeof value === "bigint") throw new AppError("invalid_argument", "a scene cannot hold a bigint");
    if (typeof value === "function" || typeof value === "symbol") return undefined;
    if (typeof value !== "object" || value === null) return value;
    const dtype = typeOf(value);
    if (dtype) return { $buf: this.#buffer(value as SceneArray, dtype), dtype };
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      throw new AppError("invalid_argument", `a scene cannot hold a ${value.constructor.name}`);
    if (Array.isArray(value)) return this.#array(value, depth);
    if (value instanceof Map) return { $map: this.#pairs(value, depth) };
    if (value instanceof Set) return { $set: this.#list([...value], depth) };
    const entries = Object.entries(value);
    if (entries.some(([key]) => key.startsWith("$"))) return { $obj: this.#pairs(entries, depth) };
    return Object.fromEntries(this.#present(entries, depth));
  }

  #present(entries: readonly (readonly [string, unknown])[], depth: number): [string, unknown][] {
    return entries.flatMap(([key, item]): [string, unknown][] => {
      const encoded = this.encode(item, depth + 1);
      return encoded === undefined ? [] : [[key, encoded]];
    });
  }

  #pairs(entries: Iterable<readonly [unknown, unknown]>, depth: number): unknown {
    const pairs: unknown[] = [];
    for (const [key, item] of entries) {
      const pair = [this.encode(key, depth + 1), this.encode(item, depth + 1)];
      if (pair[0] !== undefined && pair[1] !== undefined) pairs.push(pair);
    }
    return pairs;
  }

  #list(items: readonly unknown[], depth: number): unknown[] {
    return items.map((item) => this.encode(item, depth + 1)).filter((item) => item !== undefined);
  }

  #array(items: readonly unknown[], depth: number): unknown {
    const encoded = Array.from(items, (item) => this.encode(item, depth + 1) ?? null);
    if (encoded.length <= CHUNK) return encoded;
    const $chunks: number[] = [];
    for (let at = 0; at < encoded.length; at += CHUNK) {
      const bytes = new TextEncoder().encode(JSON.stringify(encoded.slice(at, at + CHUNK)));
      $chunks.push(this.buffers.push({ dtype: "json", bytes }) - 1);
    }
    return { $chunks };
  }

  #buffer(array: SceneArray, dtype: SceneArrayType): number {
    const known = this.#known.get(array);
    if (known !== undefined) return known;
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const k = this.buffers.push({ dtype, bytes }) - 1;
    this.#known.set(array, k);
    return k;
  }
}

function plainOf(value: unknown): unknown {
  const { toJSON } = (typeof value === "object" && value !== null ? value : {}) as { toJSON?: unknown };
  return typeof toJSON === "function" ? (toJSON.call(value) as unknown) : value;
}

function encodeNumber(value: number): unknown {
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  return { $num: Object.is(value, -0) ? "-0" : String(value) };
}

function typeOf(value: object): SceneArrayType | undefined {
  const types = Object.entries(SCENE_ARRAYS) as [SceneArrayType, (typeof SCENE_ARRAYS)[SceneArrayType]][];
  return types.find(([, type]) => Object.getPrototypeOf(value) === type.prototype)?.[0] ?? subclassOf(value, types);
}

/** Node's Buffer is a Uint8Array. */
const subclassOf = (
  value: object,
  types: [SceneArrayType, (typeof SCENE_ARRAYS)[SceneArrayType]][],
): SceneArrayType | undefined => types.find(([, type]) => value instanceof type)?.[0];
