import { AppError } from "../errors.ts";
import { isPlainObject, utf8, viewOf } from "./bytes.ts";
import { decodeFrame, type Frame, PHB1_MAGIC } from "./phb1.ts";
import { decodeMarker, type Marker, PHP1_MAGIC } from "./php1.ts";
import { decodePoints, type PackedPoints, PHX1_MAGIC } from "./phx1.ts";

/*
 * The body of a streamed answer: (whitespace | PHP1 marker)* tail. Chunks may be cut anywhere.
 *
 * state    input                                   next state
 * markers  0x20 0x09 0x0A 0x0D                     markers (skipped: keepalive)
 * markers  "PHP1" + complete marker                markers (emitted)
 * markers  a prefix of the above                   markers (kept until more arrives)
 * markers  anything else                           tail
 * tail     any byte                                tail; its first bytes give its kind: "PHB1", "PHX1", else JSON
 *
 * A body that ends inside a marker or a tail, or without any terminator, is an error.
 */

export type RunOutcome =
  | { readonly kind: "json"; readonly value: unknown }
  | { readonly kind: "frame"; readonly frame: Frame }
  | { readonly kind: "points"; readonly points: PackedPoints }
  | { readonly kind: "canceled" }
  /** A failure of the run: an error marker, `error` in the JSON tail, or `success: false` in a frame's meta. */
  | { readonly kind: "failed"; readonly error: string; readonly code: string | undefined; readonly tail: unknown };

export interface RunStreamOptions {
  /** Largest accepted tail, bytes. Default: no limit. */
  readonly maxTailBytes?: number;
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;

/** Incremental parser for browsers and Node: push() every chunk, then finish(). */
export class RunStreamParser {
  #pending = new Uint8Array(256);
  #start = 0;
  #end = 0;
  #tail: Uint8Array[] | undefined;
  #tailBytes = 0;
  #terminal: Marker | undefined;
  readonly #maxTailBytes: number;

  constructor(options: RunStreamOptions = {}) {
    this.#maxTailBytes = options.maxTailBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Adds the next bytes of the body and returns the markers that they complete. Do not modify the chunk afterwards. */
  push(chunk: Uint8Array): Marker[] {
    if (this.#tail) {
      this.#addTail(chunk);
      return [];
    }
    this.#append(chunk);
    const markers: Marker[] = [];
    for (;;) {
      while (this.#start < this.#end && isSpace(this.#pending[this.#start])) this.#start += 1;
      const rest = this.#pending.subarray(this.#start, this.#end);
      if (rest.length === 0) return markers;
      if (!startsLikeMarker(rest)) {
        this.#tail = [];
        this.#addTail(rest.slice());
        return markers;
      }
      const decoded = decodeMarker(rest);
      if (!decoded) return markers;
      this.#start += decoded.length;
      if (!decoded.marker) continue;
      if (decoded.marker.canceled || decoded.marker.error !== undefined) this.#terminal ??= decoded.marker;
      markers.push(decoded.marker);
    }
  }

  /** Call at the end of the body. Errors: invalid_file for a truncated body or an unknown tail. */
  finish(): RunOutcome {
    if (this.#terminal?.canceled) return { kind: "canceled" };
    const markerError = this.#terminal?.error;
    if (markerError !== undefined) {
      const tail = this.#tailIfWhole(); // the marker contains the error; the tail only adds the code
      return { kind: "failed", error: markerError, code: codeOf(tail), tail: tailObject(tail) };
    }
    const tail = this.#tail ? this.#parseTail(this.#tail) : undefined;
    if (!tail) throw new AppError("invalid_file", "the answer ended before its result; the service may have stopped");
    return failureIn(tail) ?? tail;
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#end - this.#start + chunk.length;
    if (this.#end + chunk.length > this.#pending.length) {
      const roomy = needed > this.#pending.length / 2 ? new Uint8Array(2 * needed) : this.#pending;
      roomy.set(this.#pending.subarray(this.#start, this.#end));
      this.#pending = roomy;
      this.#end -= this.#start;
      this.#start = 0;
    }
    this.#pending.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  #addTail(chunk: Uint8Array): void {
    this.#tailBytes += chunk.length;
    if (this.#tailBytes > this.#maxTailBytes) {
      throw new AppError("invalid_file", `the result is longer than the limit of ${this.#maxTailBytes} bytes`);
    }
    if (chunk.length > 0) this.#tail?.push(chunk);
  }

  #tailIfWhole(): RunOutcome | undefined {
    try {
      return this.#tail && this.#parseTail(this.#tail);
    } catch {
      return undefined;
    }
  }

  #parseTail(chunks: readonly Uint8Array[]): Exclude<RunOutcome, { kind: "failed" | "canceled" }> {
    const bytes = new Uint8Array(this.#tailBytes);
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
    }
    const magic = bytes.length >= 4 ? viewOf(bytes).getUint32(0, true) : 0;
    if (magic === PHB1_MAGIC) return { kind: "frame", frame: decodeFrame(bytes) };
    if (magic === PHX1_MAGIC) return { kind: "points", points: decodePoints(bytes) };
    try {
      return { kind: "json", value: JSON.parse(utf8(bytes)) };
    } catch (cause) {
      throw new AppError("invalid_file", `the result is truncated or not JSON (${bytes.length} bytes)`, undefined, {
        cause,
      });
    }
  }
}

/** True if `bytes` may be the beginning of a marker: its first bytes match "PHP1". */
function startsLikeMarker(bytes: Uint8Array): boolean {
  for (let i = 0; i < Math.min(4, bytes.length); i += 1) {
    if (bytes[i] !== ((PHP1_MAGIC >>> (8 * i)) & 0xff)) return false;
  }
  return true;
}

function tailObject(tail: RunOutcome | undefined): unknown {
  if (tail?.kind === "json") return tail.value;
  return tail?.kind === "frame" ? tail.frame.meta : undefined;
}

function codeOf(tail: RunOutcome | undefined): string | undefined {
  const value = tailObject(tail);
  return isPlainObject(value) && typeof value.code === "string" ? value.code : undefined;
}

/**
 * The failure in a tail: `success: false`, or `error` without `success`, as session create and backfill answer. A
 * result with `success: true` may contain the `error` of one of its parts.
 */
function failureIn(tail: RunOutcome): RunOutcome | undefined {
  const value = tailObject(tail);
  if (!isPlainObject(value)) return undefined;
  const text = typeof value.error === "string" && value.error !== "" ? value.error : undefined;
  const failed = value.success === false || (value.success === undefined && text !== undefined);
  if (!failed) return undefined;
  return { kind: "failed", error: text ?? "the operation failed without a reason", code: codeOf(tail), tail: value };
}
