import { describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame, requireF32, requireU32 } from "../../../../shared/wire/phb1.ts";
import { decodeMarker, encodeMarker } from "../../../../shared/wire/php1.ts";
import { decodePoints, encodePoints, encodePointsHeader } from "../../../../shared/wire/phx1.ts";
import { RunStreamParser } from "../../../../shared/wire/run-stream.ts";

const text = (s: string) => new TextEncoder().encode(s);
/** A frame or marker with a header of our choosing. */
function withHeader(magic: string, json: string, declared = json.length, rest = new Uint8Array(0)): Uint8Array {
  const out = new Uint8Array(8 + json.length + rest.length);
  out.set(text(magic));
  new DataView(out.buffer).setUint32(4, declared, true);
  out.set(text(json), 8);
  out.set(rest, 8 + json.length);
  return out;
}
const frameOf = (buffers: unknown, payload = 0) =>
  withHeader("PHB1", JSON.stringify({ meta: {}, buffers }), undefined, new Uint8Array(payload));

describe("PHB1", () => {
  test("the contract's worked example, byte for byte", () => {
    const bytes = encodeFrame({ ok: 1 }, { v: new Float32Array([1, 2, 3]) });
    const header = '{"meta":{"ok":1},"buffers":[{"name":"v","dtype":"f32","length":3}]}';
    expect(header.length).toBe(67);
    expect(Buffer.from(bytes.subarray(0, 8)).toString("hex")).toBe("5048423144000000");
    expect(Buffer.from(bytes.subarray(8, 76)).toString()).toBe(`${header} `);
    expect(Buffer.from(bytes.subarray(76)).toString("hex")).toBe("0000803f0000004000004040");
  });

  test("numbers that JSON cannot represent become null; ids of -1 stay 0xFFFFFFFF", () => {
    const frame = decodeFrame(encodeFrame({ a: Number.NaN, b: [Infinity] }, { id: new Uint32Array([-1]) }));
    expect(frame.meta).toEqual({ a: null, b: [null] });
    expect(requireU32(frame, "id")[0]).toBe(0xffffffff);
  });

  test.each([
    ["7 bytes", text("PHB1\0\0\0"), /7 bytes are too few/],
    ["another magic", withHeader("PHB2", "{}"), /must start with "PHB1"/],
    ["a 4 GB header", withHeader("PHB1", "{}", 0xfffffffc), /above the limit/],
    ["a header longer than the body", withHeader("PHB1", "{}", 3), /only 2 bytes follow/],
    ["no JSON", withHeader("PHB1", "nope"), /not UTF-8 JSON/],
    ["meta missing", withHeader("PHB1", '{"buffers":[]}'), /meta must be/],
    ["buffers missing", withHeader("PHB1", '{"meta":{}}'), /buffers must be/],
    ["payload cut", frameOf([{ name: "a", dtype: "f32", length: 2 }], 7), /declare 8 bytes but only 7/],
    ["a huge count", frameOf([{ name: "a", dtype: "f32", length: 2 ** 47 }]), /but only 0 follow/],
    [
      "counts whose sum overflows",
      frameOf(Array.from({ length: 2000 }, (_, i) => ({ name: `${i}`, dtype: "u32", length: 2 ** 48 }))),
      /but only 0/,
    ],
    ["a count no double holds", frameOf([{ name: "a", dtype: "f32", length: 1e300 }]), /number of elements/],
    ["a negative count", frameOf([{ name: "a", dtype: "f32", length: -1 }]), /number of elements/],
    ["a broken count", frameOf([{ name: "a", dtype: "f32", length: 0.5 }]), /number of elements/],
    ["another dtype", frameOf([{ name: "a", dtype: "f64", length: 0 }]), /dtype "f64"/],
    [
      "one name twice",
      frameOf([
        { name: "a", dtype: "f32", length: 0 },
        { name: "a", dtype: "f32", length: 0 },
      ]),
      /appears twice/,
    ],
    [
      "too many buffers",
      frameOf(Array.from({ length: 4097 }, (_, i) => ({ name: `${i}`, dtype: "u32", length: 0 }))),
      /limit is 4096/,
    ],
  ])("refuses %s", (_name, bytes, rule) => {
    expect(() => decodeFrame(bytes)).toThrow(rule);
  });

  test("bytes after the last payload are ignored; required buffers are checked", () => {
    const frame = decodeFrame(Buffer.concat([encodeFrame({}, { v: new Float32Array([1, 2, 3, 4]) }), text("more")]));
    expect([...requireF32(frame, "v")]).toEqual([1, 2, 3, 4]);
    expect(() => requireF32(frame, "v", 3)).toThrow(/4 elements, not rows of 3/);
    expect(() => requireU32(frame, "v")).toThrow(/must be u32/);
    expect(() => requireF32(frame, "w")).toThrow(/"w" is missing; got v/);
  });
});

describe("PHP1", () => {
  test("the first marker of a run, byte for byte", () => {
    const run_id = "0123456789abcdef0123456789abcdef";
    const json = `{"progress":null,"message":"","run_id":"${run_id}"}`;
    const padded = json.padEnd(Math.ceil(json.length / 4) * 4);
    const bytes = Buffer.from(encodeMarker({ progress: null, message: "", run_id }));
    expect(bytes.toString("latin1")).toBe(`PHP1${String.fromCharCode(padded.length)}\0\0\0${padded}`);
  });
  test("fractions outside 0..1 are clamped, NaN is null, long texts are cut", () => {
    expect(decodeMarker(encodeMarker({ progress: 7, message: "" }))?.marker?.progress).toBe(1);
    expect(decodeMarker(encodeMarker({ progress: Number.NaN, message: "" }))?.marker?.progress).toBeNull();
    expect(decodeMarker(encodeMarker({ progress: 0, message: "é".repeat(1e6) }))?.marker?.message.length).toBe(16_384);
  });
  test("a declared length above the limit is refused at once, without waiting for the payload", () => {
    expect(() => decodeMarker(withHeader("PHP1", "", 0x7fffffff))).toThrow(/above the limit/);
    expect(() => new RunStreamParser().push(withHeader("PHP1", "", 0x7fffffff))).toThrow(/above the limit/);
  });
});

describe("PHX1", () => {
  test("header layout", () => {
    const bytes = encodePoints(new Float32Array([1, 2, 3]), new Float32Array(3));
    expect(Buffer.from(bytes.subarray(0, 32)).toString("hex")).toBe(`5048583101000000${"0100"}${"00".repeat(22)}`);
    expect(bytes.length).toBe(32 + 24);
  });
  test("hostile headers are refused before anything is allocated", () => {
    const bytes = encodePointsHeader(0xffffffff, true, true);
    expect(() => decodePoints(bytes)).toThrow(/need 120259084292 bytes, got 32/);
    bytes[8] = 2;
    expect(() => decodePoints(bytes)).toThrow(/flags 2, 1/);
    expect(() => encodePointsHeader(2 ** 32, false, false)).toThrow(/do not fit/);
  });
  test("arrays of different lengths are refused", () => {
    expect(() => encodePoints(new Float32Array(4))).toThrow(/not rows of 3/);
    expect(() => encodePoints(new Float32Array(3), new Float32Array(6))).toThrow(/6 color values for 1 points/);
    expect(() => encodePoints(new Float32Array(3), undefined, new Float32Array(2))).toThrow(/2 intensities for 1/);
  });
});

describe("the end of a run's stream", () => {
  const finish = (...parts: Uint8Array[]) => {
    const parser = new RunStreamParser();
    for (const part of parts) parser.push(part);
    return parser.finish();
  };
  const error = encodeMarker({ progress: null, message: "", error: "disk full" });

  test("form A: an error marker alone, or with the JSON tail that adds the code", () => {
    expect(finish(error)).toEqual({ kind: "failed", error: "disk full", code: undefined, tail: undefined });
    const tail = text('{"success":false,"error":"disk full","code":"no_space"}');
    expect(finish(error, tail)).toMatchObject({ kind: "failed", error: "disk full", code: "no_space" });
    expect(finish(error, tail.subarray(0, 20))).toMatchObject({ kind: "failed", error: "disk full", code: undefined });
  });
  test("form B: a JSON tail with success false, or with error but without success", () => {
    expect(finish(text('{"success":false,"error":"no points"}'))).toMatchObject({ kind: "failed", error: "no points" });
    expect(finish(text('{"error":"bad file"}'))).toMatchObject({ kind: "failed", error: "bad file" });
    expect(finish(text('{"success":false}'))).toMatchObject({
      kind: "failed",
      error: expect.stringMatching(/without a reason/),
    });
    expect(finish(text('{"success":true,"error":"one tree failed"}'))).toMatchObject({ kind: "json" });
    expect(finish(text('{"error":null,"point_count":3}'))).toMatchObject({ kind: "json" });
  });
  test("form C: a frame with success false in its meta", () => {
    expect(finish(encodeFrame({ success: false, error: "no triangles" }))).toMatchObject({ error: "no triangles" });
  });
  test("a canceled marker ends the run, in both spellings", () => {
    expect(finish(encodeMarker({ progress: null, message: "Canceled", canceled: true }))).toEqual({ kind: "canceled" });
    expect(finish(withHeader("PHP1", '{"progress":null,"cancelled":true}'))).toEqual({ kind: "canceled" });
    const text = new TextDecoder().decode(encodeMarker({ progress: null, message: "", canceled: true }));
    expect(text).toContain('"canceled":true,"cancelled":true');
  });
  test("a truncated body is an error, not a result", () => {
    expect(() => finish()).toThrow(/ended before its result/);
    expect(() => finish(encodeMarker({ progress: 0.5, message: "x" }))).toThrow(/ended before its result/);
    expect(() => finish(text("PHP1"))).toThrow(/ended before its result/);
    expect(() => finish(text('{"success":tr'))).toThrow(/truncated or not JSON/);
    expect(() => finish(encodeFrame({}, { a: new Float32Array(4) }).slice(0, -1))).toThrow(/only 15 follow/);
  });
  test("a marker with invalid JSON is skipped", () => {
    const parser = new RunStreamParser();
    expect(parser.push(withHeader("PHP1", "{nope}  "))).toEqual([]);
    expect(parser.push(encodeMarker({ progress: 0.5, message: "x" }))).toEqual([{ progress: 0.5, message: "x" }]);
  });
  test("a tail above the reader's limit is refused", () => {
    const parser = new RunStreamParser({ maxTailBytes: 10 });
    parser.push(text("{"));
    expect(() => parser.push(new Uint8Array(10))).toThrow(/longer than the limit of 10 bytes/);
  });
});
