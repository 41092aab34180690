import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { rasterText } from "../../backend/native/lists.ts";
import { asciiGrid } from "../support/raster/ascii-grid.ts";

const height = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, min: -9000, max: 9000 }),
  fc.integer({ min: -320_000, max: 320_000 }).map((n) => n / 32), // ties at the fourth decimal
  fc.integer({ min: -(10 ** 9), max: 10 ** 9 }).map((n) => n / 1e5),
  fc.constantFrom(-9999, 0, -0, 1e-7, 0.00004, -9998.99999),
);

test("the rows are those of toFixed, number by number", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 7 }),
      fc.array(height, { minLength: 7, maxLength: 70 }),
      fc.constantFrom(-9999, 0, 1e30),
      async (nx, values, nodata) => {
        const ny = Math.floor(values.length / nx);
        const grid_z = values.slice(0, nx * ny);
        const column = new addon.Column("f64", new Uint8Array(Float64Array.from(grid_z).buffer));
        const rows = await rasterText(column, nx, ny, nodata).promise;
        const bytes = new Uint8Array(rows.bytes);
        rows.readInto(bytes, 0);
        for (const made of [rows, column]) made.release();
        const wanted = asciiGrid({
          nx,
          ny,
          grid_z,
          nodata,
          cell_size: 1,
          origin: [0, 0],
          format: "asc",
          crs_epsg: null,
          crs_is_geographic: null,
          dest_path: null,
          overwrite: false,
        });
        const lines = Buffer.from(wanted).toString().split("\n").slice(6).join("\n");
        expect(Buffer.from(bytes).toString()).toBe(lines);
      },
    ),
    { numRuns: 1000 },
  );
});
