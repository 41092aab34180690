import type { ScanExportEntry, ScanExportTail } from "../../../../../shared/contract/scan-export.ts";
import { AppError, type ErrorCode } from "../../../../../shared/errors.ts";
import type { Base64Bytes } from "../../../../../shared/wire/json-values.ts";
import type { Deps } from "../../../../deps.ts";
import type { Job, PhaseWeight } from "../../../../jobs/job.ts";
import { fromNative } from "../../../../jobs/native-error.ts";
import type { PtxWrittenScan } from "../../../../native/files/writers.ts";
import type { ExportFormat } from "../../../files/export-format.ts";
import { type WrittenPoints, writePoints } from "../../../files/writers.ts";
import { unknownKeyWarnings } from "../../../run/unknown-keys.ts";
import { type BundleScan, bundleXml, checkBundled, rasterSize, stationaryPath } from "./bundle-xml.ts";
import type { CheckedScanExport } from "./checked.ts";
import { ExportedFiles } from "./files.ts";
import { bundleGrids } from "./grids.ts";
import { expectedPoints, withScanPoints } from "./points.ts";
import { type ScanView, scanView } from "./view.ts";

/** The tail, with the contents of the files as bytes. */
type WrittenFile = Omit<ScanExportTail["files"][number], "data"> & { readonly data: Base64Bytes | null };
type WrittenTail = Omit<ScanExportTail, "files"> & { readonly files: readonly WrittenFile[] };

/** Share of the progress until every data file is written. */
const DATA_SHARE = { bundle: 0.72, data: 0.98 } as const;
/** Share of an object's own progress for reading it. */
const READING = 0.15;
const MAX_CELLS = { written: 60_000_000, returned: 2_000_000 } as const;

/** Writes every object under a temporary name, then moves all to their places: a failure or cancel leaves no file. */
export async function exportScans(checked: CheckedScanExport, deps: Deps, job: Job): Promise<WrittenTail> {
  const { request, format, names } = checked;
  if (request.scans.length === 0) return failed(checked, "invalid_argument", "No scans to export");
  if (!format) return failed(checked, "invalid_argument", `Unsupported data format: ${request.data_format}`);
  const files = new ExportedFiles(checked.destinations);
  try {
    if (request.write_xml) for (const entry of request.scans) checkBundled(entry);
    const scans: ExportedScan[] = [];
    const slices = slicesOf(checked, deps);
    for (const [i, entry] of request.scans.entries()) {
      scans.push(await exportOne({ entry, i, format, slice: slices[i] ?? [0, 0] }, checked, files, deps, job));
    }
    const order = [...names.data];
    if (names.xml) order.unshift(names.xml);
    if (request.write_xml) order.push(...(await writeBundle(scans, checked, files, job)));
    job.checkpoint(); // the last cancel point
    const delivered = await files.deliver(order, job, (name) => job.stage(`Saving ${name}`, 0.98, 0.99));
    job.stage(`Wrote ${order.length} file(s)`, 1, 1);
    return {
      success: true,
      files: delivered.map((file) => ({ ...file, is_xml: file.name === names.xml, ...rasterOf(file.name, scans) })),
      point_count: scans.reduce((sum, { written }) => sum + written.point_count, 0),
      scan_count: scans.length,
      error: null,
      ...said([...unknownKeyWarnings(checked.unknown_keys), ...scans.flatMap(({ warnings }) => warnings)]),
    };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return failed(checked, code, `Scan export failed: ${message}`);
  } finally {
    await files.discard();
  }
}

interface ExportedScan extends BundleScan {
  readonly written: WrittenPoints;
  readonly source: "columns" | "sweep";
  readonly warnings: readonly string[];
}

interface Task {
  readonly entry: ScanExportEntry;
  readonly i: number;
  readonly format: ExportFormat;
  /** Of the whole progress. */
  readonly slice: readonly [number, number];
}

async function exportOne(
  { entry, i, format, slice: [from, to] }: Task,
  { request, names }: CheckedScanExport,
  files: ExportedFiles,
  deps: Deps,
  job: Job,
): Promise<ExportedScan> {
  const label = entry.label || `scan ${i + 1}`;
  const counter = `${label} (${i + 1}/${request.scans.length})`;
  const middle = from + READING * (to - from);
  const name = names.data[i] ?? "";
  job.stage(`Reading ${counter}`, from, middle);
  return withScanPoints(entry, deps, job, async (points) => {
    const found = await scanView(points, entry, { format, include_misses: request.include_misses }, job.quiet());
    const { view, sweep, columns } = found;
    if (view.point_count === 0) throw new AppError("invalid_argument", `${label} has no points`);
    job.stage(`Writing ${counter}`, middle, to, phasesOf(label, `Writing ${counter}`));
    const max_cells = request.dest_dir ? MAX_CELLS.written : MAX_CELLS.returned;
    const path = await files.begin(name);
    const target = { format, path, name: stem(name), layout: "scan", sweep, max_cells } as const;
    const written = await writePoints(view, target, job);
    const warnings = [...view.warnings, ...written.warnings].map((text) =>
      request.scans.length === 1 ? text : `${label}: ${text}`,
    );
    return {
      entry,
      file: name,
      trajectory: names.trajectory[i] ?? "",
      columns,
      size: rasterSize(entry, view.point_count),
      written,
      source: indexed(found) ? "columns" : "sweep",
      warnings,
    };
  });
}

const stem = (name: string): string => name.replace(/\.[^.]*$/, "");

const indexed = ({ view }: ScanView): boolean =>
  ["row_index", "column_index"].every((slug) => view.input.scalars.some((scalar) => scalar.slug === slug));

const LOOKING = ["Selecting points", "Computing bounds", "Looking at the columns", "Measuring the raster"];
const WRITING = ["Writing points"];

/** Text formats show how many rows they have formatted. */
function phasesOf(label: string, otherwise: string): PhaseWeight[] {
  const shown = (name: string, weight: number) => ({ name, weight, message: () => otherwise });
  return [
    ...LOOKING.map((name) => shown(name, 1)),
    ...WRITING.map((name) => shown(name, 20)),
    {
      name: "Formatting points",
      weight: 20,
      message: (done, total) => `${label}: formatting ${done} / ${total} points`,
    },
  ];
}

/** Windows of the progress, by number of points. */
function slicesOf({ request, names }: CheckedScanExport, deps: Deps): (readonly [number, number])[] {
  const weights = request.scans.map((entry) => Math.max(1, expectedPoints(entry, deps)));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const share = names.xml ? DATA_SHARE.bundle : DATA_SHARE.data;
  let before = 0;
  return weights.map((weight) => {
    const from = (before / sum) * share;
    before += weight;
    return [from, Math.min((before / sum) * share, share)];
  });
}

/** Writes the XML file and the paths of spinning scanners; returns the names of the latter. */
async function writeBundle(
  scans: readonly ExportedScan[],
  { request, names }: CheckedScanExport,
  files: ExportedFiles,
  job: Job,
): Promise<string[]> {
  job.stage("Writing the bundle", DATA_SHARE.bundle, 0.9);
  const paths = scans.filter(({ entry }) => entry.scan_pattern === "spinning_multibeam");
  for (const { entry, trajectory } of paths) await files.writeText(trajectory, stationaryPath(entry));
  job.stage("Writing grid definitions", 0.9, 0.93);
  const grids = await bundleGrids(request.grids ?? [], job);
  job.stage("Writing scanner metadata", 0.93, 0.95);
  await files.writeText(names.xml ?? "", bundleXml(scans, grids));
  return paths.map(({ trajectory }) => trajectory);
}

/** The raster of a PTX file. */
function rasterOf(name: string, scans: readonly ExportedScan[]): Pick<WrittenFile, "grid"> {
  const scan = scans.find(({ file }) => file === name);
  const raster: PtxWrittenScan | undefined = scan?.written.rasters?.[0];
  if (!scan || !raster) return {};
  const { rows, columns: cols, filled, collapsed, unplaced } = raster;
  return { grid: { rows, cols, cells: rows * cols, filled, collapsed, unplaced, source: scan.source } };
}

const said = (warnings: readonly string[]) => (warnings.length > 0 ? { warnings: [...warnings] } : {});

/** Names ignored keys too: a misspelt one may be the reason. */
function failed({ unknown_keys }: CheckedScanExport, code: ErrorCode, error: string): WrittenTail {
  return {
    success: false,
    files: [],
    point_count: 0,
    scan_count: 0,
    error,
    code,
    ...said(unknownKeyWarnings(unknown_keys)),
  };
}
