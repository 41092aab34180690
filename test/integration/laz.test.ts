import { afterAll, beforeAll, expect, test } from "vitest";
import { create, exported, makeApp, type TestApp } from "../support/app.ts";
import { lasBytes } from "../support/las-bytes.ts";

/** What is used of the independent decoder: a WebAssembly build of another LAZ implementation. */
interface LazPerf {
  readonly HEAPU8: Uint8Array;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  readonly LASZip: new () => {
    open(pointer: number, bytes: number): void;
    getCount(): number;
    getPointLength(): number;
    getPointFormat(): number;
    getPoint(pointer: number): void;
    delete(): void;
  };
}

let made: TestApp;
let perf: LazPerf;
beforeAll(async () => {
  made = await makeApp();
  const { createLazPerf } = (await import("laz-perf")) as unknown as { createLazPerf(): Promise<LazPerf> };
  perf = await createLazPerf();
});
afterAll(() => made.close());

/** The point records of a LAZ file as the other decoder unpacks them. */
function unpack(laz: Buffer): { format: number; records: Buffer } {
  const file = perf._malloc(laz.length);
  perf.HEAPU8.set(laz, file);
  const zip = new perf.LASZip();
  zip.open(file, laz.length);
  const bytes = zip.getPointLength();
  const point = perf._malloc(bytes);
  const records = Buffer.alloc(zip.getCount() * bytes);
  for (let i = 0; i < zip.getCount(); i += 1) {
    zip.getPoint(point);
    records.set(perf.HEAPU8.subarray(point, point + bytes), i * bytes);
  }
  const format = zip.getPointFormat();
  zip.delete();
  perf._free(point);
  perf._free(file);
  return { format, records };
}

const recordsOf = (las: Buffer) => las.subarray(las.readUInt32LE(96));

/** Rows over several chunks, with jumps, repeats and extremes. */
const rows = Array.from({ length: 120_000 }, (_, i) => ({
  x: 100 * Math.sin(i / 500) + (i % 977 === 0 ? 800 : 0),
  y: 100 * Math.cos(i / 300),
  z: (i * 7919) % 31,
  intensity: (i * 31) % 65536,
  gps_time: 3.5e8 + i * 1e-4 + (i % 5000 === 0 ? 1e3 : 0),
  classification: i % 5,
  return_number: 1 + (i % 3),
  number_of_returns: 3,
  rgb: [i % 65536, 256 * (i % 200), 65535 - (i % 65536)] as const,
  extra: { amplitude: Math.fround(i / 7), counter: i % 251 },
}));
const extras = [
  { name: "amplitude", type: "f32" as const },
  { name: "counter", type: "u8" as const },
];

test.each([
  ["with colour, time and extra bytes", rows, extras, 7],
  ["without colour", rows.map(({ rgb: _, ...row }) => row), extras, 6],
])("another decoder reads what we compress, byte for byte: %s", async (name, cloud, extra, format) => {
  const { session_id } = await create(made, made.file(`${name}.las`, lasBytes(cloud, { extras: extra })));
  const laz = await exported(made, session_id, "laz");
  const unpacked = unpack(laz);
  expect(unpacked.format).toBe(format);
  expect(unpacked.records.equals(recordsOf(await exported(made, session_id, "las")))).toBe(true);
});

test("inline points, the older point formats", async () => {
  const points = rows.slice(0, 60_000).map(({ x, y, z }) => [x, y, z]);
  const colors = points.map((_, i) => [i % 2, 0.5, (i % 100) / 100]);
  for (const inline of [{ points }, { points, colors }]) {
    const file = async (as: string) => {
      const answer = await made.app.inject({
        method: "POST",
        url: "/api/pointcloud/export",
        payload: { ...inline, format: as },
      });
      const tail = JSON.parse(answer.body.slice(answer.body.lastIndexOf('{"success"'))) as { data: string };
      return Buffer.from(tail.data, "base64");
    };
    const unpacked = unpack(await file("laz"));
    expect(unpacked.format).toBe("colors" in inline ? 2 : 0);
    expect(unpacked.records.equals(recordsOf(await file("las")))).toBe(true);
  }
});
