import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame } from "../../shared/wire/phb1.ts";
import { decodeMarker, encodeMarker, type Marker } from "../../shared/wire/php1.ts";
import { decodePoints, encodePoints } from "../../shared/wire/phx1.ts";
import { RunStreamParser } from "../../shared/wire/run-stream.ts";

const f32 = fc.float32Array({ maxLength: 40 });
const u32 = fc.uint32Array({ maxLength: 40 });
const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 });
const buffers = fc.dictionary(fc.string(), fc.oneof(f32, u32), { maxKeys: 6 });
const bytesOf = (a: Float32Array | Uint32Array) => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);

/** The body cut at the given places, empty pieces included. */
function cut(body: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [0, ...places.map((p) => p % (body.length + 1)).sort((a, b) => a - b), body.length];
  return at.slice(1).map((end, i) => body.slice(at[i], end));
}
const concat = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown;

describe("PHB1", () => {
  test("any frame survives a round trip bit for bit, also at odd offsets", () => {
    fc.assert(
      fc.property(json, buffers, fc.nat(3), (meta, arrays, shift) => {
        const bytes = encodeFrame(meta, arrays);
        expect(bytes.length % 4).toBe(0);
        const moved = new Uint8Array(bytes.length + shift);
        moved.set(bytes, shift);
        const frame = decodeFrame(moved.subarray(shift));
        expect(frame.meta).toEqual(plain(meta));
        expect([...frame.buffers.keys()]).toEqual(Object.keys(arrays));
        for (const [name, data] of Object.entries(arrays)) {
          const got = frame.buffers.get(name);
          expect(got?.constructor).toBe(data.constructor);
          expect(got && bytesOf(got)).toEqual(bytesOf(data));
        }
      }),
    );
  });

  test("any damage is an error or a smaller frame, never a crash or another exception", () => {
    fc.assert(
      fc.property(json, buffers, fc.nat(), fc.nat(255), fc.nat(), (meta, arrays, at, value, end) => {
        const bytes = encodeFrame(meta, arrays);
        bytes[at % bytes.length] = value;
        try {
          const frame = decodeFrame(bytes.subarray(0, end % (bytes.length + 1)));
          for (const data of frame.buffers.values()) expect(data.byteLength).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          expect(error).toMatchObject({ name: "AppError", code: "invalid_argument" });
        }
      }),
    );
  });
});

describe("PHX1", () => {
  const cloud = fc.nat(12).chain((n) =>
    fc.record({
      positions: fc.float32Array({ minLength: 3 * n, maxLength: 3 * n }),
      colors: fc.option(fc.float32Array({ minLength: 3 * n, maxLength: 3 * n }), { nil: undefined }),
      intensity: fc.option(fc.float32Array({ minLength: n, maxLength: n }), { nil: undefined }),
    }),
  );
  test("any cloud survives a round trip bit for bit", () => {
    fc.assert(
      fc.property(cloud, ({ positions, colors, intensity }) => {
        const back = decodePoints(encodePoints(positions, colors, intensity));
        expect(back.point_count).toBe(positions.length / 3);
        expect(bytesOf(back.positions)).toEqual(bytesOf(positions));
        expect(back.colors && bytesOf(back.colors)).toEqual(colors && bytesOf(colors));
        expect(back.intensity && bytesOf(back.intensity)).toEqual(intensity && bytesOf(intensity));
      }),
    );
  });
  test("a truncated body is an error", () => {
    fc.assert(
      fc.property(cloud, fc.nat(), ({ positions, colors, intensity }, end) => {
        const bytes = encodePoints(positions, colors, intensity);
        expect(() => decodePoints(bytes.subarray(0, end % bytes.length))).toThrow(/PHX1/);
      }),
    );
  });
});

const progress = fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: null });
const stage: fc.Arbitrary<Marker> = fc.record({ progress, message: fc.string({ maxLength: 30 }) });

test("PHP1: any marker survives a round trip and is a multiple of 4 bytes", () => {
  fc.assert(
    fc.property(stage, fc.option(fc.stringMatching(/^[0-9a-f]{32}$/), { nil: undefined }), (marker, run_id) => {
      const whole = run_id === undefined ? marker : { ...marker, run_id };
      const bytes = encodeMarker(whole);
      expect(bytes.length % 4).toBe(0);
      expect(decodeMarker(bytes)).toEqual({ marker: plain(whole), length: bytes.length });
      for (let end = 0; end < bytes.length; end += 1) expect(decodeMarker(bytes.subarray(0, end))).toBeUndefined();
    }),
  );
});

describe("a run's stream", () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,9}$/).map((text) => Buffer.from(text));
  const tails = fc.oneof(
    json.map((value) => ({ kind: "json", bytes: Buffer.from(JSON.stringify({ ...value, success: true })) })),
    fc.record({ meta: json, arrays: buffers }).map(({ meta, arrays }) => ({
      kind: "frame",
      bytes: encodeFrame({ ...meta, success: true }, arrays),
    })),
    fc.constant({ kind: "points", bytes: encodePoints(new Float32Array([1, 2, 3]), undefined, new Float32Array([4])) }),
  );
  test("gives the same markers and tail however it is cut and padded", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(space, stage), { maxLength: 8 }),
        space,
        tails,
        fc.array(fc.nat(), { maxLength: 30 }),
        (steps, last, tail, places) => {
          const body = concat([...steps.flatMap(([gap, m]) => [gap, encodeMarker(m)]), last, tail.bytes]);
          const parser = new RunStreamParser();
          const markers = cut(body, places).flatMap((piece) => parser.push(piece));
          expect(markers).toEqual(steps.map(([, marker]) => plain(marker)));
          const outcome = parser.finish();
          expect(outcome.kind).toBe(tail.kind);
          if (outcome.kind === "json") expect(outcome.value).toEqual(JSON.parse(tail.bytes.toString()));
        },
      ),
    );
  });
  test("arbitrary bytes give an outcome or an AppError", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), fc.boolean(), (pieces, magic) => {
        const parser = new RunStreamParser();
        try {
          if (magic) parser.push(Buffer.from("PHP1"));
          for (const piece of pieces) parser.push(piece);
          parser.finish();
        } catch (error) {
          expect(error).toMatchObject({ name: "AppError" });
        }
      }),
    );
  });
});
