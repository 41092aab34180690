import { writeFile } from "node:fs/promises";
import type { ExportRasterRequest, ExportRasterResponse } from "../../../shared/contract/dem.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { type Destination, type DestinationDeps, destination } from "../files/destination.ts";
import { geoTiff } from "./geotiff.ts";

/** A request that passed the checks. */
interface CheckedRaster extends ExportRasterRequest {
  readonly kind: ExportRasterResponse["format"];
  readonly dest: Destination | null;
}

const KINDS: Readonly<Record<string, ExportRasterResponse["format"]>> = {
  asc: "asc",
  tif: "tif",
  tiff: "tif",
  geotiff: "tif",
};

/** Errors: invalid_argument (format, counts, path). */
export async function checkRasterExport(request: ExportRasterRequest, deps: DestinationDeps): Promise<CheckedRaster> {
  const kind = KINDS[request.format.toLowerCase()];
  if (!kind) throw new AppError("invalid_argument", `Unknown raster format "${request.format}": use asc or tif.`);
  const { nx, ny, grid_z } = request;
  if (nx <= 0 || ny <= 0 || grid_z.length !== nx * ny) {
    throw new AppError(
      "invalid_argument",
      `grid_z length must equal nx*ny. It has ${grid_z.length} values for ${nx} x ${ny} cells.`,
    );
  }
  if (kind === "tif") checkFloats(request);
  const { dest_path, overwrite } = request;
  const extensions = kind === "tif" ? [".tif", ".tiff"] : [".asc"];
  const wish = dest_path ? { dest_path, overwrite, format: kind, extensions } : null;
  return { ...request, kind, dest: wish && (await destination(wish, deps)) };
}

const MAX_FLOAT32 = 3.4028234663852886e38;

/** Errors: invalid_argument for a value outside the range of float32. */
function checkFloats({ grid_z, nodata }: ExportRasterRequest): void {
  const refused = (what: string) =>
    new AppError(
      "invalid_argument",
      `${what} is outside the float32 range of a GeoTIFF (${MAX_FLOAT32}); use asc or another value.`,
    );
  if (Math.abs(nodata) > MAX_FLOAT32) throw refused(`nodata ${nodata}`);
  const large = grid_z.find((z) => Math.abs(z) > MAX_FLOAT32);
  if (large !== undefined) throw refused(`grid_z value ${large}`);
}

/** Encodes a grid. A destination file is written completely or not at all. Errors: io, no_space. */
export async function exportRaster(raster: CheckedRaster, job: Job): Promise<ExportRasterResponse> {
  const { kind, dest } = raster;
  const bytes = kind === "asc" ? asciiGrid(raster) : geoTiff(raster);
  if (!dest) return { success: true, format: kind, data_base64: Buffer.from(bytes.buffer).toString("base64") };
  const { temporary } = dest;
  const removed = await dest.begin();
  try {
    await writeFile(temporary, bytes, { signal: job.signal, flush: true });
    job.checkpoint(); // the last cancel point
    await dest.replace();
    return { success: true, format: kind, data_base64: null };
  } catch (raw) {
    job.checkpoint();
    throw fromNative(raw);
  } finally {
    await removed();
  }
}

/** Largest displacement of a cell by rounding in the header, in cells. */
const MAX_CELL_SHIFT = 1e-3;

/**
 * ESRI ASCII grid: six header lines, then the rows from north to south. The header has six decimals and heights four;
 * all digits are written if rounding would displace cells (those in degrees are small) or turn a height into nodata.
 */
export function asciiGrid(raster: ExportRasterRequest): Uint8Array<ArrayBuffer> {
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
