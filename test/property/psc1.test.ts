import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeScene, sceneParts } from "../../shared/wire/psc1.ts";
import { decodeScene } from "../../shared/wire/psc1-decode.ts";

const arrays = fc.oneof(
  fc.float32Array(),
  fc.float64Array(),
  fc.int8Array(),
  fc.uint8Array(),
  fc.uint8ClampedArray(),
  fc.int16Array(),
  fc.uint16Array(),
  fc.int32Array(),
  fc.uint32Array(),
);
/** Keys that a reader could mistake for something. */
const key = fc.oneof(
  fc.string(),
  fc.constantFrom("$buf", "$map", "$obj", "$", "__proto__", "constructor", "toString", "0", "dtype", "length"),
);
const { scene } = fc.letrec<{ scene: unknown }>((tie) => ({
  scene: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(fc.double(), fc.integer(), fc.string({ unit: "binary" }), fc.boolean(), fc.constant(null), arrays),
    fc.array(tie("scene"), { maxLength: 5 }),
    fc.uniqueArray(fc.tuple(key, tie("scene")), { maxLength: 5, selector: ([name]) => name }).map(Object.fromEntries),
    fc.array(fc.tuple(tie("scene"), tie("scene")), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.array(tie("scene"), { maxLength: 4 }).map((items) => new Set(items)),
  ),
}));

/** Bits of all arrays and numbers, so that a NaN payload or a -0 that is lost shows. */
const sameBits = (a: unknown, b: unknown): void => {
  expect(isDeepStrictEqual(b, a)).toBe(true); // toStrictEqual trips over a key "constructor"
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b))
    expect(Buffer.from(b.buffer, b.byteOffset, b.byteLength)).toEqual(
      Buffer.from(a.buffer, a.byteOffset, a.byteLength),
    );
};

describe("PSC1", () => {
  test("any nested value survives a round trip, also at odd offsets", () => {
    fc.assert(
      fc.property(scene, fc.nat(9), (value, shift) => {
        const bytes = encodeScene(value);
        expect(bytes.length % 8).toBe(0);
        const moved = new Uint8Array(bytes.length + shift);
        moved.set(bytes, shift);
        sameBits(value, decodeScene(moved.subarray(shift)));
      }),
      { numRuns: 500 },
    );
  });

  test("arrays keep the bits of every value", () => {
    const values = new Float32Array(new Uint32Array([0x7fc0_1234, 0x8000_0000, 0xff80_0001]).buffer);
    const back = decodeScene(encodeScene({ values })) as { values: Float32Array };
    sameBits(values, back.values);
  });

  test("arrays of more than 8192 items are written in chunks, nested ones too", () => {
    for (const length of [8191, 8192, 8193, 16_384, 20_000]) {
      const list = Array.from({ length }, (_, i) => (i % 3 === 0 ? { i, at: new Uint16Array([i]) } : i));
      const text = Buffer.from(encodeScene({ list })).toString("latin1");
      expect(text.includes("$chunks")).toBe(length > 8192);
      expect(decodeScene(encodeScene({ list }))).toStrictEqual({ list });
    }
  });

  test("an array that is there twice is written once and stays one", () => {
    const shared = new Float64Array([1, 2]);
    const back = decodeScene(encodeScene([shared, shared])) as Float64Array[];
    expect(back[0]).toBe(back[1]);
    expect(encodeScene([shared, shared]).length).toBeLessThan(encodeScene([shared, shared.slice()]).length);
  });

  test("parts joined are the document", () => {
    const value = { a: new Uint8Array(5), b: new Map([[1, new Float32Array(3)]]) };
    expect(Buffer.concat(sceneParts(value))).toEqual(Buffer.from(encodeScene(value)));
  });

  test("what has no form is left out, or refused", () => {
    const value = { a: undefined, f: () => 1, list: [undefined, 1], map: new Map([["k", undefined]]), at: new Date(0) };
    expect(decodeScene(encodeScene(value))).toStrictEqual({
      list: [null, 1],
      map: new Map(),
      at: "1970-01-01T00:00:00.000Z",
    });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const wrong of [1n, [new BigInt64Array(1)], new DataView(new ArrayBuffer(1)), cycle])
      expect(() => encodeScene(wrong)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(decodeScene(encodeScene(undefined))).toBeNull();
  });

  test("version 1 opens, a newer one is refused", () => {
    const written = (version: number, doc: unknown) => {
      const json = Buffer.from(JSON.stringify({ version, buffers: [{ dtype: "f32", byteLength: 4 }], doc }));
      const head = Buffer.alloc(Math.ceil((8 + json.length) / 8) * 8);
      head.write("PSC1", 0);
      head.writeUInt32LE(json.length, 4);
      json.copy(head, 8);
      return Buffer.concat([head, Buffer.from(new Float32Array([1.5]).buffer), Buffer.alloc(4)]);
    };
    const doc = { clouds: { $map: [["a", { $buf: 0, dtype: "f32" }]] } };
    expect(decodeScene(written(1, doc))).toEqual({ clouds: new Map([["a", new Float32Array([1.5])]]) });
    expect(() => decodeScene(written(3, doc))).toThrow(/version 3/);
    for (const wrong of [
      { $buf: 1, dtype: "f32" },
      { $buf: 0, dtype: "u32" },
      { $chunks: [0] },
      { $new: 1 },
      { $num: "toString" },
      { $map: [[1]] },
      { $set: 1 },
    ])
      expect(() => decodeScene(written(2, wrong))).toThrow(/damaged/);
  });

  test("any damage is an error or another document, never a crash", () => {
    fc.assert(
      fc.property(scene, fc.nat(), fc.nat(255), fc.nat(), (value, at, byte, end) => {
        const bytes = encodeScene(value);
        bytes[at % bytes.length] = byte;
        try {
          decodeScene(bytes.subarray(0, end % (bytes.length + 1)));
        } catch (error) {
          expect(error).toMatchObject({ name: "AppError" });
        }
      }),
      { numRuns: 500 },
    );
  });
});
