import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type LasHeader, readLasHeader } from "../../native/files/readers.ts";
import type { CatalogFile, SkippedFile } from "./document.ts";

/** Headers that are read at a time. */
const AT_A_TIME = 8;

export interface ReadHeaders {
  readonly files: readonly CatalogFile[];
  readonly skipped: readonly SkippedFile[];
}

/** Reads the headers of files, in order; one that cannot be read or has no points is skipped with the reason. */
export async function readHeaders(
  paths: readonly string[],
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<ReadHeaders> {
  const read: (CatalogFile | SkippedFile)[] = [];
  let next = 0;
  let done = 0;
  const worker = async () => {
    for (let i = next++; i < paths.length; i = next++) {
      signal.throwIfAborted();
      read[i] = await headerOf(paths[i] as string);
      onProgress(++done, paths.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, paths.length) }, worker));
  return {
    files: read.filter((file): file is CatalogFile => "points" in file),
    skipped: read.filter((file): file is SkippedFile => "reason" in file),
  };
}

async function headerOf(path: string): Promise<CatalogFile | SkippedFile> {
  try {
    const { size, mtimeMs } = await stat(path);
    return fileOf(path, { bytes: size, modified_ms: mtimeMs }, await readLasHeader(path).promise);
  } catch (error) {
    return { path, reason: error instanceof Error ? error.message : String(error) };
  }
}

function fileOf(
  path: string,
  onDisk: Pick<CatalogFile, "bytes" | "modified_ms">,
  header: LasHeader,
): CatalogFile | SkippedFile {
  const { declared_bounds: box, crs, scale } = header;
  // How many compressed points are there, only their decoder knows.
  const points = header.compressed ? header.declared_point_count : header.present_point_count;
  if (points === 0) return { path, reason: "the file has no points" };
  if (!box || ![...box.min, ...box.max].every(Number.isFinite) || box.min.some((low, k) => low > (box.max[k] ?? low)))
    return { path, reason: "the header declares no valid bounds" };
  const unit = crs.unit_m ?? 1;
  const units = [unit, unit, crs.vertical_unit_m ?? unit] as const;
  const inMetres = (corner: readonly number[]) =>
    units.map((length, k) => length * (corner[k] ?? 0)) as unknown as CatalogFile["scale"];
  const bounds = { min: inMetres(box.min), max: inMetres(box.max) };
  const area = (bounds.max[0] - bounds.min[0]) * (bounds.max[1] - bounds.min[1]);
  return {
    path,
    name: basename(path),
    ...onDisk,
    version: `${header.version_major}.${header.version_minor}`,
    point_format: header.point_format,
    record_bytes: header.record_bytes,
    compressed: header.compressed,
    points,
    bounds,
    density: area > 0 && !crs.is_geographic ? points / area : null,
    crs_epsg: crs.epsg,
    crs_name: nameOf(crs.wkt, crs.citation),
    is_geographic: crs.is_geographic,
    unit_m: crs.unit_m,
    vertical_unit_m: crs.vertical_unit_m,
    scale,
    warnings: [...header.warnings, ...crs.warnings],
  };
}

/** The first quoted name of the WKT, else the GeoTIFF citation. */
const nameOf = (wkt: string, citation: string): string | null =>
  /^\s*[A-Za-z_]+\s*[[(]\s*"([^"]*)"/.exec(wkt)?.[1]?.trim() || citation.split("|")[0]?.trim() || null;
