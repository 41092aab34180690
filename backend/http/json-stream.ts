import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { FastifyReply, RouteGenericInterface } from "fastify";
import { AppError } from "../../shared/errors.ts";
import { JSON_STREAM_ARRAY_LENGTH, KIB, MIB } from "../../shared/limits.ts";
import { Base64Bytes, FlagBytes, LazyList } from "../../shared/wire/json-values.ts";
import { NativeJson } from "../sessions/native-json.ts";
import { nativeText } from "./native-text.ts";

const CHUNK_CHARS = 256 * KIB;
/** Elements handed to JSON.stringify at once: about 40 KiB of text. */
const SLICE = 2_048;
/** Elements of a lazy list made at once. */
const LAZY_SLICE = 64;
const STRING_SLICE = 1 * MIB;
/** Bytes encoded to base64 at once, a multiple of three. */
const BASE64_SLICE = 192 * KIB;

/**
 * Yields the text of JSON.stringify(value) in UTF-8 chunks of about 256 KiB. A large array or string never becomes a
 * single JavaScript string. Typed arrays are written as lists; numbers that
 * JSON cannot represent become null. Errors: internal for a bigint or for nesting deeper than 1000 levels (a cycle).
 */
export function* jsonChunks(value: unknown): Generator<Uint8Array> {
  let text = "";
  for (const piece of pieces(value, 0)) {
    if (typeof piece !== "string") throw new AppError("internal", "a native column in a result that is not streamed");
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = "";
  }
  if (text !== "") yield Buffer.from(text);
}

/**
 * The same chunks for a response, which may contain NativeJson. A socket that takes every chunk at once would never let
 * the event loop run.
 */
export async function* jsonStream(value: unknown): AsyncGenerator<Uint8Array> {
  let text = "";
  for (const piece of pieces(value, 0)) {
    if (typeof piece === "string") text += piece;
    if (typeof piece === "string" && text.length < CHUNK_CHARS) continue;
    if (text !== "") yield Buffer.from(text);
    text = "";
    if (typeof piece !== "string") yield* nativeText(piece);
    await setImmediate();
  }
  if (text !== "") yield Buffer.from(text);
}

/** Streams a JSON response that contains long lists, without building one large string. Typed arrays become lists. */
export function sendJson(reply: unknown, answer: object): FastifyReply<RouteGenericInterface> {
  const plain = reply as FastifyReply;
  return plain.type("application/json; charset=utf-8").send(Readable.from(jsonStream(answer)));
}

function* pieces(raw: unknown, depth: number): Generator<string | NativeJson> {
  if (depth > 1000) throw new AppError("internal", "a result is nested deeper than 1000 levels");
  const value = hasToJson(raw) ? raw.toJSON() : raw;
  if (typeof value === "string" && value.length > STRING_SLICE) yield* longString(value);
  else if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    yield* numberList(value as unknown as ArrayLike<number>);
  else if (value instanceof NativeJson) yield value;
  else if (value instanceof Base64Bytes) yield* base64(value.bytes);
  else if (value instanceof FlagBytes) yield* flagList(value.bytes);
  else if (value instanceof LazyList) yield* lazyList(value);
  else if (Array.isArray(value)) yield* list(value, depth);
  else if (typeof value === "object" && value !== null) yield* record(value as Record<string, unknown>, depth);
  else yield scalar(value);
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false; // not Buffer.toJSON
  return typeof (value as { toJSON?: unknown }).toJSON === "function";
}

function scalar(value: unknown): string {
  if (typeof value === "bigint")
    throw new AppError("internal", `a result holds the bigint ${value}, which JSON cannot represent`);
  return JSON.stringify(value) ?? "null"; // in lists, undefined and functions become null, as in JSON.stringify
}

/** If a slice splits a surrogate pair, JSON.stringify escapes both halves, so that they parse to the same pair. */
function* longString(value: string): Generator<string> {
  yield '"';
  for (let at = 0; at < value.length; at += STRING_SLICE)
    yield JSON.stringify(value.slice(at, at + STRING_SLICE)).slice(1, -1);
  yield '"';
}

function* numberList(values: ArrayLike<number>): Generator<string> {
  yield "[";
  for (let at = 0; at < values.length; at += SLICE) {
    const part = JSON.stringify(Array.prototype.slice.call(values, at, at + SLICE)).slice(1, -1);
    yield at === 0 ? part : `,${part}`;
  }
  yield "]";
}

function* base64(bytes: Uint8Array): Generator<string> {
  yield '"';
  for (let at = 0; at < bytes.length; at += BASE64_SLICE) {
    const slice = bytes.subarray(at, at + BASE64_SLICE);
    yield Buffer.from(slice.buffer, slice.byteOffset, slice.length).toString("base64");
  }
  yield '"';
}

function* flagList(bytes: Uint8Array): Generator<string> {
  yield "[";
  for (let at = 0; at < bytes.length; at += SLICE) {
    const part = Array.from(bytes.subarray(at, at + SLICE), (flag) => flag !== 0).join(",");
    yield at === 0 ? part : `,${part}`;
  }
  yield "]";
}

function* list(values: readonly unknown[], depth: number): Generator<string | NativeJson> {
  if (isNumbers(values)) {
    if (values.length <= JSON_STREAM_ARRAY_LENGTH) yield JSON.stringify(values);
    else yield* numberList(values as readonly number[]);
    return;
  }
  yield "[";
  for (let i = 0; i < values.length; i += 1) {
    if (i > 0) yield ",";
    yield* pieces(values[i], depth + 1);
  }
  yield "]";
}

function* lazyList(values: LazyList): Generator<string> {
  yield "[";
  for (let at = 0; at < values.length; at += LAZY_SLICE) {
    const count = Math.min(LAZY_SLICE, values.length - at);
    const part = JSON.stringify(Array.from({ length: count }, (_, i) => values.at(at + i))).slice(1, -1);
    yield at === 0 ? part : `,${part}`;
  }
  yield "]";
}

function isNumbers(values: readonly unknown[]): boolean {
  for (const value of values) if (typeof value !== "number") return false;
  return true;
}

function* record(value: Readonly<Record<string, unknown>>, depth: number): Generator<string | NativeJson> {
  let separator = "{";
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (member === undefined || typeof member === "function" || typeof member === "symbol") continue;
    yield `${separator}${JSON.stringify(key)}:`;
    yield* pieces(member, depth + 1);
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
}
