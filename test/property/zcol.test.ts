import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { type ColumnFilter, chooseFilter, columnBlocks, columnHeader } from "../../backend/native/files/archive.ts";
import { decodeColumn } from "../../shared/wire/zcol.ts";

const TYPES = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "vec3d", "rgb16"] as const;
const SIZE = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, u64: 8, i64: 8, f32: 4, f64: 8, vec3d: 24, rgb16: 6 };
const FILTERS: readonly ColumnFilter[] = ["none", "shuffle", "delta_shuffle"];

/** The file that the native encoder writes. */
async function written(dtype: (typeof TYPES)[number], bytes: Uint8Array, filter: ColumnFilter): Promise<Buffer> {
  const column = new addon.Column(dtype, bytes);
  const { bytes: head, blocks } = columnHeader(column, filter, false);
  const packed = await columnBlocks(column, filter, 0, blocks).promise;
  const body = Buffer.alloc(packed.bytes);
  packed.readInto(body, 0);
  packed.release();
  column.release();
  return Buffer.concat([head, body]);
}

test("the browser reads what the service writes, bit for bit, for every type and filter", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...TYPES),
      fc.constantFrom(...FILTERS),
      fc.uint8Array({ maxLength: 600 }),
      async (dtype, filter, raw) => {
        const bytes = raw.subarray(0, raw.length - (raw.length % SIZE[dtype]));
        const { values, shape } = await decodeColumn(await written(dtype, bytes, filter));
        expect(Buffer.from(values.buffer)).toEqual(Buffer.from(bytes));
        const rows = bytes.length / SIZE[dtype];
        expect(shape).toEqual(dtype === "vec3d" || dtype === "rgb16" ? [rows, 3] : [rows]);
      },
    ),
    { numRuns: 300 },
  );
});

test("a column of several blocks", async () => {
  const values = Float64Array.from({ length: (1 << 20) + 5 }, (_, i) => 3.5e8 + i * 1e-5);
  const column = new addon.Column("f64", new Uint8Array(values.buffer));
  const { filter, ratio } = await chooseFilter(column).promise;
  column.release();
  expect(filter).toBe("delta_shuffle");
  const file = await written("f64", new Uint8Array(values.buffer), filter);
  expect(file.length / values.byteLength).toBeCloseTo(ratio, 1);
  expect((await decodeColumn(file)).values).toEqual(values);
});

const file = (header: object, ...blocks: Uint8Array[]) => {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const parts = blocks.flatMap((block) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    return [size, block];
  });
  return Buffer.concat([Buffer.from("ZCOL\x01\n"), length, json, ...parts]);
};
const HEADER = { dtype: "<u2", shape: [4], filter: "none", block_rows: 3 };

test("files of another encoder, in blocks of any size", async () => {
  const bytes = new Uint8Array(new Uint16Array([1, 2, 3, 65535]).buffer);
  const blocks = [deflateRawSync(bytes.subarray(0, 6)), deflateRawSync(bytes.subarray(6), { level: 0 })];
  expect((await decodeColumn(file(HEADER, ...blocks))).values).toEqual(new Uint16Array([1, 2, 3, 65535]));
});

test("what is damaged is refused, and a small file takes little memory", async () => {
  const good = [deflateRawSync(new Uint8Array(6)), deflateRawSync(new Uint8Array(2))];
  for (const [wrong, message] of [
    [Buffer.from("ZCOL"), /tag/],
    [file({ ...HEADER, dtype: "|O" }, ...good), /header/],
    [file({ ...HEADER, block_rows: 0 }, ...good), /header/],
    [file({ ...HEADER, more: 1 }, ...good), /header/],
    [file({ ...HEADER, shape: [1e15] }, ...good), /too short/],
    [file(HEADER, good[0] as Buffer), /block is missing/],
    [file(HEADER, ...good, good[0] as Buffer), /behind/],
    [file(HEADER, deflateRawSync(new Uint8Array(7)), good[1] as Buffer), /longer/],
    [file(HEADER, deflateRawSync(new Uint8Array(5)), good[1] as Buffer), /shorter/],
    [file(HEADER, Buffer.from("nonsense"), good[1] as Buffer), /stream|shorter|longer/],
  ] as const)
    await expect(decodeColumn(wrong)).rejects.toThrow(message);
});
