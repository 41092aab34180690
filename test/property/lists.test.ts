import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { rasterFloats, unitColors, voidCells } from "../../backend/native/lists.ts";

const column = (dtype: "f64" | "vec3d", values: readonly number[]) =>
  new addon.Column(dtype, new Uint8Array(Float64Array.from(values).buffer));

function bytesOf(made: NativeColumn): ArrayBuffer {
  const bytes = new Uint8Array(made.bytes);
  made.readInto(bytes, 0);
  made.release();
  return bytes.buffer;
}

test("colours are rounded to 16 bits and clipped", async () => {
  const unit = fc.oneof(
    fc.double({ min: -1, max: 2, noNaN: true }),
    fc.double({ noNaN: true }),
    fc.nat(131_070).map((n) => n / 2 / 65_535), // ties
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(unit, unit, unit), { maxLength: 50 }), async (colors) => {
      const found = new Uint16Array(bytesOf(await unitColors(column("vec3d", colors.flat())).promise));
      expect([...found]).toEqual(colors.flat().map((value) => Math.round(Math.min(1, Math.max(0, value)) * 65_535)));
    }),
  );
});

test("nodata and NaN are voids", async () => {
  const height = fc.oneof(fc.double(), fc.constantFrom(-9999, 0, -0, Number.NaN));
  const nodata = fc.constantFrom(null, -9999, 0, 1e9);
  await fc.assert(
    fc.asyncProperty(fc.array(height, { maxLength: 50 }), nodata, async (values, marker) => {
      const { heights, height_count } = await voidCells(column("f64", values), marker).promise;
      const wanted = values.map((value) => (value === marker ? Number.NaN : value));
      expect([...new Float64Array(bytesOf(heights))]).toEqual(wanted);
      expect(height_count).toBe(wanted.filter((value) => !Number.isNaN(value)).length);
    }),
  );
});

test("a GeoTIFF's rows are float32 from north to south, or the first value that does not fit", async () => {
  const value = fc.oneof(
    { weight: 20, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(value, { minLength: 6, maxLength: 60 }),
      async (nx, all) => {
        const ny = Math.floor(all.length / nx);
        const values = all.slice(0, nx * ny);
        const found = await rasterFloats(column("f64", values), nx, ny).promise;
        const refused = values.find((z) => Math.abs(z) > 3.4028234663852886e38);
        if ("refused" in found) {
          expect(found.refused).toBe(refused);
          return;
        }
        expect(refused).toBeUndefined();
        const rows = Array.from({ length: ny }, (_, j) => values.slice((ny - 1 - j) * nx, (ny - j) * nx));
        expect([...new Float32Array(bytesOf(found.values))]).toEqual(rows.flat().map(Math.fround));
      },
    ),
  );
});
