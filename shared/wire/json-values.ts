/*
 * Long values of responses as services pass them; backend/http/json-stream.ts writes them in pieces. The contract and
 * the clients have their JSON forms: a string, a list of booleans.
 */

/** Bytes that a JSON response contains as base64. They never become a single JavaScript string. */
export class Base64Bytes {
  constructor(readonly bytes: Uint8Array) {}
}

/** Bytes 0 and 1 that a JSON response contains as a list of false and true. */
export class FlagBytes {
  constructor(readonly bytes: Uint8Array) {}
  get length(): number {
    return this.bytes.length;
  }
}

/** A long list whose elements, small plain values, are made while it is written; the contract and the clients have an array. */
export class LazyList {
  constructor(
    readonly length: number,
    readonly at: (index: number) => unknown,
  ) {}
}
