import fc from "fast-check";
import { expect, test } from "vitest";
import { type FrameList, openRequestText } from "../../backend/native/core/request-text.ts";

const READABLE = ["points", "numbers", "heights"] as const;
const float = fc.oneof({ weight: 40, arbitrary: fc.float({ noNaN: true, noDefaultInfinity: true }) }, fc.float());

/** The list as a loop over the bytes makes it. */
function oracle({ kind, dtype, offset, length, origin }: FrameList, bytes: Buffer) {
  const width = kind === "points" ? 3 : 1;
  const read = (i: number) =>
    dtype === "f32" ? bytes.readFloatLE(offset + 4 * i) : bytes.readUInt32LE(offset + 4 * i);
  const raw = Array.from({ length }, (_, i) => read(i));
  const fits = (value: number) => Number.isFinite(value) || (kind === "heights" && Number.isNaN(value));
  const valid = length % width === 0 && raw.every(fits);
  const values = raw.map((value, i) => (kind === "points" ? value + (origin[i % 3] ?? 0) : value));
  return { length: Math.floor(length / width), values: valid ? values : null };
}

test("buffers are read like a loop over their bytes reads them, at any offset", async () => {
  const list = fc.record({
    kind: fc.constantFrom(...READABLE),
    dtype: fc.constantFrom("f32" as const, "u32" as const),
    values: fc.array(float, { maxLength: 30 }),
    gap: fc.nat(5),
    origin: fc.tuple(fc.integer(), fc.integer(), fc.integer()),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(list, { maxLength: 4 }), async (lists) => {
      const parts: Buffer[] = [];
      let offset = 0;
      const buffers = lists.map(({ kind, dtype, values, gap, origin }): FrameList => {
        parts.push(Buffer.alloc(gap), Buffer.from(Float32Array.from(values).buffer));
        const at = offset + gap;
        offset = at + 4 * values.length;
        return { kind, dtype, offset: at, length: values.length, origin };
      });
      const bytes = Buffer.concat(parts);
      const text = openRequestText(bytes.length);
      text.append(bytes);
      const found = (await text.frameLists(buffers).promise).map(({ length, column }) => {
        if (!column) return { length, values: null };
        const out = new Float64Array(column.bytes / 8);
        column.readInto(new Uint8Array(out.buffer), 0);
        column.release();
        return { length, values: [...out] };
      });
      expect(found).toEqual(buffers.map((buffer) => oracle(buffer, bytes)));
    }),
    { numRuns: 1000 },
  );
});

test("a buffer that ends behind the frame, and flags, are refused", async () => {
  const refusal = (change: Partial<FrameList>) => {
    const text = openRequestText(16);
    text.append(new Uint8Array(16));
    const buffer: FrameList = { kind: "numbers", dtype: "f32", offset: 4, length: 3, origin: [0, 0, 0], ...change };
    return text.frameLists([buffer]).promise.then(
      (lists) => {
        for (const { column } of lists) column?.release();
        return "";
      },
      (error: Error) => error.message,
    );
  };
  expect(await refusal({})).toBe("");
  for (const change of [{ length: 4 }, { offset: 5 }, { offset: 17, length: 0 }, { offset: 0, length: 2 ** 48 }])
    expect(await refusal(change)).toMatch(/ends behind its frame/);
  expect(await refusal({ kind: "flags" })).toMatch(/no form as a buffer/);
});
