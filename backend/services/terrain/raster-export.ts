import { writeFile } from "node:fs/promises";
import type { ExportRasterRequest, ExportRasterResponse } from "../../../shared/contract/dem.ts";
import { AppError } from "../../../shared/errors.ts";
import { BLOCK_BYTES, MAX_INLINE_EXPORT_BYTES } from "../../../shared/limits.ts";
import { Base64Bytes } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { rasterFloats, rasterText } from "../../native/lists.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Destination, type DestinationDeps, destination } from "../files/destination.ts";
import { copyOut, numbersColumn } from "../run/points.ts";
import { geoTiffHead } from "./geotiff.ts";

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
  if (kind === "tif" && Math.abs(request.nodata) > MAX_FLOAT32) throw outsideFloat32(`nodata ${request.nodata}`);
  const { dest_path, overwrite } = request;
  const extensions = kind === "tif" ? [".tif", ".tiff"] : [".asc"];
  const wish = dest_path ? { dest_path, overwrite, format: kind, extensions } : null;
  return { ...request, kind, dest: wish && (await destination(wish, deps)) };
}

const MAX_FLOAT32 = 3.4028234663852886e38;

const outsideFloat32 = (what: string) =>
  new AppError(
    "invalid_argument",
    `${what} is outside the float32 range of a GeoTIFF (${MAX_FLOAT32}); use asc or another value.`,
  );

/** The answer, with the contents of the file as bytes. */
type ExportedRaster = Omit<ExportRasterResponse, "data_base64"> & { readonly data_base64: Base64Bytes | null };

/** Bytes per cell: the values; their text while it is put together (twice 9 bytes), or float32 values; the answer. */
const CELL_BYTES = { asc: 8 + 18 + 9, tif: 8 + 4 + 4 } as const;

/**
 * Encodes a grid. A destination file is written completely or not at all.
 * Errors: invalid_argument for a value that the format cannot hold, or a file too large for the answer; io, no_space.
 */
export function exportRaster(
  raster: CheckedRaster,
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<ExportedRaster> {
  const { kind, dest, nx, ny } = raster;
  return admission.run(job, "Raster export", CELL_BYTES[kind] * nx * ny, async () => {
    const encoded = await encode(raster, job);
    if (dest) await writeEncoded(dest, encoded, job);
    return { success: true, format: kind, data_base64: dest ? null : await inline(encoded) };
  });
}

/** A file: its first bytes, and a native column with the others. */
interface Encoded {
  readonly head: Uint8Array;
  readonly rows: NativeColumn;
}

async function encode(raster: CheckedRaster, job: Job): Promise<Encoded> {
  const { nx, ny, nodata } = raster;
  const values = job.adopt(numbersColumn(raster.grid_z)).native;
  if (raster.kind === "asc") {
    const rows = await job.track(() => rasterText(values, nx, ny, nodata));
    return { head: asciiHead(raster), rows: job.adopt(new ColumnRef(rows)).native };
  }
  const floats = await job.track(() => rasterFloats(values, nx, ny));
  if ("refused" in floats) throw outsideFloat32(`grid_z value ${floats.refused}`);
  return { head: geoTiffHead(raster), rows: job.adopt(new ColumnRef(floats.values)).native };
}

async function inline({ head, rows }: Encoded): Promise<Base64Bytes> {
  const size = head.length + rows.bytes;
  if (size > MAX_INLINE_EXPORT_BYTES) {
    throw new AppError(
      "invalid_argument",
      `${size} bytes do not fit into an answer (limit ${MAX_INLINE_EXPORT_BYTES}); send dest_path to write a file`,
    );
  }
  const bytes = new Uint8Array(size);
  bytes.set(head);
  await copyOut(rows, bytes.subarray(head.length));
  return new Base64Bytes(bytes);
}

async function writeEncoded(dest: Destination, { head, rows }: Encoded, job: Job): Promise<void> {
  const { temporary } = dest;
  const removed = await dest.begin();
  try {
    await writeFile(temporary, blocks(head, rows), { signal: job.signal, flush: true });
    job.checkpoint(); // the last cancel point
    await dest.replace();
  } catch (raw) {
    job.checkpoint();
    throw fromNative(raw);
  } finally {
    await removed();
  }
}

function* blocks(head: Uint8Array, rows: NativeColumn): Generator<Uint8Array> {
  yield head;
  const block = new Uint8Array(BLOCK_BYTES);
  for (let at = 0; at < rows.bytes; ) {
    const count = rows.readInto(block, at);
    yield block.subarray(0, count);
    at += count;
  }
}

/** Largest displacement of a cell by rounding in the header, in cells. */
const MAX_CELL_SHIFT = 1e-3;

/**
 * The header of an ESRI ASCII grid: six lines. Six decimals; all digits if rounding would displace cells (those in
 * degrees are small).
 */
function asciiHead({ nx, ny, cell_size, origin, nodata }: ExportRasterRequest): Uint8Array {
  const number = (value: number, times: number) => {
    const short = value.toFixed(6);
    return Math.abs(Number(short) - value) * times <= MAX_CELL_SHIFT * cell_size ? short : String(value);
  };
  const lines = [
    `ncols ${nx}`,
    `nrows ${ny}`,
    `xllcorner ${number(origin[0], 1)}`,
    `yllcorner ${number(origin[1], 1)}`,
    `cellsize ${number(cell_size, Math.max(nx, ny))}`,
    `NODATA_value ${nodata}`,
  ];
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}
