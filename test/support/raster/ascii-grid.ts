import type { ExportRasterRequest } from "../../../shared/contract/dem.ts";

type AsciiRaster = Omit<ExportRasterRequest, "grid_z"> & { readonly grid_z: readonly number[] };

/** Largest displacement of a cell by rounding in the header, in cells. */
const MAX_CELL_SHIFT = 1e-3;

/**
 * The oracle of export-raster, number by number with toFixed. ESRI ASCII grid: six header lines, then the rows from north to south. The header has six decimals and heights four;
 * all digits are written if rounding would displace cells (those in degrees are small) or turn a height into nodata.
 */
export function asciiGrid(raster: AsciiRaster): Uint8Array<ArrayBuffer> {
  const { nx, ny, grid_z, cell_size, origin, nodata } = raster;
  const header = (value: number, times: number) => {
    const short = value.toFixed(6);
    return Math.abs(Number(short) - value) * times <= MAX_CELL_SHIFT * cell_size ? short : String(value);
  };
  const lines = [
    `ncols ${nx}`,
    `nrows ${ny}`,
    `xllcorner ${header(origin[0], 1)}`,
    `yllcorner ${header(origin[1], 1)}`,
    `cellsize ${header(cell_size, Math.max(nx, ny))}`,
    `NODATA_value ${nodata}`,
  ];
  const text = (z: number) => {
    if (z === nodata) return String(nodata);
    const short = z.toFixed(4);
    return Number(short) === nodata ? String(z) : short;
  };
  for (let j = ny - 1; j >= 0; j -= 1) {
    lines.push(
      grid_z
        .slice(j * nx, (j + 1) * nx)
        .map(text)
        .join(" "),
    );
  }
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}
