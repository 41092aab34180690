import { randomUUID } from "node:crypto";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/files/writers.ts";
import type { ScanOrigin, Triple } from "../../sessions/column-names.ts";
import { version } from "../../version.ts";
import { type ExportFormat, isLas } from "./export-format.ts";

/** Input of a writer: the columns that the format can store, and the metadata it needs. */
export interface ExportView {
  readonly input: native.CloudViewInput;
  readonly las: native.LasWriteParams;
  /** Scanner positions, stored frame; null for inline points. */
  readonly scanners: Scanners | null;
  readonly point_count: number;
  readonly warnings: string[];
}

interface Scanners {
  /** Of the cloud, or of its first scan; null = unknown. */
  readonly origin: Triple | null;
  readonly origins: readonly ScanOrigin[];
}

/** A written file. */
export interface WrittenPoints {
  /** Points with coordinates; the misses of a PTX file have none. */
  readonly point_count: number;
  readonly bytes: number;
  readonly warnings: readonly string[];
  /** Rasters of a PTX file, one a scan. */
  readonly rasters?: readonly native.PtxWrittenScan[];
}

export interface ExportTarget {
  readonly format: ExportFormat;
  readonly path: string;
  /** Name of the cloud, for files that contain one. */
  readonly name: string;
  /** Layout of text formats. */
  readonly layout: "cloud" | "scan";
  /** Raster of PTX without row_index and column_index; null = none. */
  readonly sweep: native.PtxSweep | null;
  /** Most cells of the raster of a PTX scan. */
  readonly max_cells: number;
}

/** Writes the points with the writer of the format. */
export async function writePoints(view: ExportView, target: ExportTarget, job: Job): Promise<WrittenPoints> {
  const { format, path } = target;
  if (isLas(format)) {
    return job.track(() => native.writeLas(view.input, { ...view.las, compressed: format === "laz" }, path));
  }
  if (format === "ptx") return writePtx(view, target, job);
  if (format === "e57") return writeE57(view, target, job);
  const written = await job.track(() => {
    if (format === "pcd") return native.writePcd(view.input, { viewpoint: view.scanners?.origin ?? null }, path);
    if (format === "pts") return native.writePts(view.input, path);
    return native.writeText(view.input, textParams(target), path);
  });
  return { ...written, warnings: [...written.warnings, ...lossWarnings(view, format, written)] };
}

/** Programs do not agree on a layout for asc: an export of points writes it like txt, one of scans without a header. */
function textParams({ format, layout }: ExportTarget): native.TextWriteParams {
  if (format === "asc") return { format: "txt", layout: layout === "scan" ? "bare" : layout };
  return { format: format as native.TextFormat, layout };
}

/** Warnings about values that the format cannot store exactly. None for inline points, which are for display. */
function lossWarnings(
  { input, scanners }: ExportView,
  format: ExportFormat,
  written: { readonly colors_cut: boolean; readonly intensity_cut?: boolean; readonly rounded?: readonly string[] },
): string[] {
  if (scanners === null) return [];
  const name = format.toUpperCase();
  const warnings: string[] = [];
  if (written.colors_cut) warnings.push(`colors: ${name} stores 8 bits per channel; the lower 8 of 16 bits are lost.`);
  if (written.intensity_cut)
    warnings.push("intensity: written with 4 decimals, which changes some of the 16-bit values.");
  if (format === "pts" && input.intensity)
    warnings.push("intensity: PTS stores 12 bits; the lower 4 of 16 bits are lost.");
  if (format === "ptx" && !input.intensity)
    warnings.push("intensity: the cloud has none; PTX requires one, so 0.5 is written.");
  const wide = format === "ply" ? input.scalars.filter(({ column }) => /^[iu]64$/.test(column.dtype)) : [];
  if (wide.length > 0) {
    const list = wide.map(({ slug }) => slug).join(", ");
    warnings.push(`${list}: PLY has no 64-bit integers; the values are written as double, exact up to 2^53.`);
  }
  if (written.rounded && written.rounded.length > 0) {
    warnings.push(`${written.rounded.join(", ")}: written with 6 decimals, which changes some values.`);
  }
  return warnings;
}

/** E57 states a coordinate system as WKT. */
function systemWarning({ epsg, wkt, geotiff }: ExportView["las"]): string[] {
  if (wkt !== "" || (epsg === 0 && geotiff === null)) return [];
  const system = epsg === 0 ? "of the source's GeoTIFF keys" : `EPSG:${epsg}`;
  return [
    `The file states no coordinate system: E57 takes it as WKT, and of this cloud only the one ${system} is known. laz states it.`,
  ];
}

/** Seconds between the epochs of Unix and GPS, less the leap seconds since (18 from 2017 on). */
const GPS_EPOCH_S = 315_964_800 - 18;

async function writeE57(view: ExportView, { path, name }: ExportTarget, job: Job): Promise<WrittenPoints> {
  const { origin = null, origins = [] } = view.scanners ?? {};
  const params: native.E57WriteParams = {
    name,
    guid: `{${randomUUID()}}`,
    writer: `point-cloud-backend ${version}`,
    coordinate_metadata: view.las.wkt,
    creation_time_s: Math.floor(Date.now() / 1000) - GPS_EPOCH_S,
    origin,
    origins,
  };
  const written = await job.track(() => native.writeE57(view.input, params, path));
  const warnings = [...written.warnings, ...systemWarning(view.las), ...lossWarnings(view, "e57", written)];
  if (written.misses_from_zero > 0)
    warnings.push(
      `${written.misses_from_zero} misses belong to scans without a known scanner position; the file states their directions from its zero.`,
    );
  if (written.without_scan > 0)
    warnings.push(
      `${written.without_scan} points whose scan_index is not an integer from 0 to 65534 are the last scan of the file.`,
    );
  if (written.renumbered) warnings.push("The file's scans are numbered 0, 1, 2, ...; scan_index has other numbers.");
  return { point_count: written.point_count, bytes: written.bytes, warnings };
}

async function writePtx(view: ExportView, target: ExportTarget, job: Job): Promise<WrittenPoints> {
  const { origin = null, origins = [] } = view.scanners ?? {};
  const { path, max_cells, sweep } = target;
  const params = { max_cells, origin: origin ?? [0, 0, 0], origins, sweep } as const;
  const written = await job.track(() => native.writePtx(view.input, params, path));
  const sum = (count: (scan: native.PtxWrittenScan) => number) => written.scans.reduce((n, scan) => n + count(scan), 0);
  const warnings = lossWarnings(view, "ptx", written);
  const say = (count: number, sentence: string) => {
    if (count > 0) warnings.push(`${count} ${count === 1 ? "point" : "points"} ${sentence}`);
  };
  say(
    sum(({ collapsed }) => collapsed),
    "left out: a cell of a PTX raster holds one point, and others have the same scan, row and column; of several, the first echo is kept, else the first point.",
  );
  say(
    sum(({ unplaced }) => unplaced),
    "left out: without row_index and column_index, or at the scanner itself, they have no cell.",
  );
  say(written.without_scan, "left out: their scan_index is not an integer from 0 to 65534.");
  if (view.input.scalars.some(({ slug }) => slug === "is_miss"))
    warnings.push("Misses are written as empty cells: PTX stores no direction for them.");
  if (origin === null && origins.length === 0)
    warnings.push("No scanner position is known; the file states the origin of the stored coordinates instead.");
  warnings.push(...begins(written.scans));
  return {
    point_count: sum(({ filled }) => filled),
    bytes: written.bytes,
    warnings,
    rasters: written.scans,
  };
}

const SAID_SCANS = 3;

/** Warns of rasters that do not begin at 0, 0: a reader of the file gets other indexes than the session has. */
function begins(scans: readonly native.PtxWrittenScan[]): string[] {
  const shifted = scans.filter(({ first_row, first_column }) => first_row + first_column > 0);
  if (shifted.length === 0) return [];
  const list = shifted
    .slice(0, SAID_SCANS)
    .map(({ scan_index, first_row, first_column }) => `scan ${scan_index} at row ${first_row}, column ${first_column}`);
  const more = shifted.length > SAID_SCANS ? ` and ${shifted.length - SAID_SCANS} more` : "";
  return [
    `The raster begins at the first row and column with points, and its indexes count from there: ${list.join("; ")}${more}.`,
  ];
}
