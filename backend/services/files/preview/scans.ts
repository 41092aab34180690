import type { z } from "zod";
import { MAX_LISTED_SCANS, type PreviewResponse, type PreviewScan } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import * as native from "../../../native/files/readers.ts";
import {
  boxOf,
  type FileColumn,
  fileColumns,
  georeference,
  joined,
  minimumOf,
  numberText,
  OWN_LAYOUT,
  orWarning,
  SAMPLE_ROWS,
  suggestedShift,
} from "./head.ts";

type Scan = z.infer<typeof PreviewScan>;

/** A preview searches this much of a PTX file for scans. */
const PTX_WALK_BYTES = 256 * 1024 * 1024;

/** Roles of E57 elements in the import. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ["colorRed", "r255"],
  ["colorGreen", "g255"],
  ["colorBlue", "b255"],
  ["intensity", "intensity"],
  ["rowIndex", "row_index"],
  ["columnIndex", "column_index"],
  ["returnIndex", "target_index"],
  ["returnCount", "target_count"],
  ["timeStamp", "timestamp"],
]);
const CARTESIAN = ["cartesianX", "cartesianY", "cartesianZ"] as const;
const SPHERICAL = ["sphericalRange", "sphericalAzimuth", "sphericalElevation"] as const;
const COLORS = ["colorRed", "colorGreen", "colorBlue"] as const;
const INVALID = /^(cartesian|spherical)InvalidState$|^is(Color|Intensity|TimeStamp)Invalid$/;

/** E57: the scans, and the fields and first points of the first scan that has any. */
export async function e57Preview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const header = await job.track(() => native.readE57Header(path));
  const warnings = [...header.warnings, ...(header.crs?.warnings ?? [])];
  const sampled = header.scans.findIndex(({ point_count }) => point_count > 0);
  const scan = header.scans[Math.max(0, sampled)];
  const nothing: native.E57Sample = { positions: [], values: [] };
  const sample =
    sampled < 0
      ? nothing
      : await orWarning(
          () => job.track(() => native.readE57Sample(path, sampled, SAMPLE_ROWS)),
          nothing,
          warnings,
          job,
        );
  const fields = scan ? [...e57Fields(scan, header.scans), ...scanNumber(header.scans.length)] : [];
  const rows = sample.positions.map((position, row) => [
    ...[0, 1, 2].map((axis) => numberText(position?.[axis])),
    ...fields.map(({ name }) => {
      if (name === null) return String(sampled);
      const field = scan?.fields.findIndex((known) => known.name === name) ?? -1;
      return numberText(sample.values[field]?.[row]);
    }),
  ]);
  const scans = header.scans.map(e57Scan);
  const bounds = unionOf(scans);
  const posed = scans.filter(({ rotation }) => rotation !== null);
  const low = bounds?.min ?? minimumOf([...sample.positions, ...posed.map(({ origin }) => origin)]);
  return {
    ...OWN_LAYOUT,
    kind: "e57",
    columns: scan ? fileColumns([...e57Positions(scan), ...fields], rows) : [],
    sample_rows: rows.slice(0, maxRows),
    warning: joined([...(posed.length > 0 ? severalScans(scans.length) : []), ...warnings]),
    suggested_shift: low && suggestedShift(low),
    bounds,
    ...georeference(header.crs),
    ...(header.crs?.unit_m ? {} : { detected_units: "m", units_certain: true }), // the standard's unit
    ...scanList(scans, true),
  };
}

/** The column that tells the scans apart. It has no name in the file. */
const scanNumber = (scanCount: number): FileColumn[] =>
  scanCount > 1 ? [{ name: null, label: "scan_index", role: null, is_float: false }] : [];

/** x, y and z, with the file's names if it stores Cartesian coordinates. */
function e57Positions(scan: native.E57HeaderScan | undefined): FileColumn[] {
  const has = (name: string) => scan?.fields.some((field) => field.name === name) ?? false;
  const cartesian = CARTESIAN.every(has);
  return ["x", "y", "z"].map((role, axis) => ({
    name: cartesian ? (CARTESIAN[axis] ?? null) : null,
    role,
    is_float: true,
  }));
}

/** Columns besides the positions: the fields of the sampled scan, then fields that only other scans have. */
function e57Fields(first: native.E57HeaderScan, scans: readonly native.E57HeaderScan[]): FileColumn[] {
  const found = new Map<string, FileColumn>();
  for (const scan of [first, ...scans.slice(0, MAX_LISTED_SCANS)]) {
    const names = new Set(scan.fields.map(({ name }) => name));
    const whole = (parts: readonly string[]) => parts.every((part) => names.has(part));
    const taken = [...(whole(CARTESIAN) ? CARTESIAN : []), ...(whole(SPHERICAL.slice(1)) ? SPHERICAL : [])];
    for (const { name, is_integer, is_text } of scan.fields) {
      if (found.has(name) || INVALID.test(name) || (taken as string[]).includes(name)) continue;
      const part = (COLORS as readonly string[]).includes(name) && !whole(COLORS);
      const role = is_text ? "skip" : part ? null : (ROLES.get(name) ?? null);
      found.set(name, { name, role, is_float: !is_integer });
    }
  }
  return [...found.values()];
}

const e57Scan = (scan: native.E57HeaderScan, scan_index: number): Scan => ({
  scan_index,
  name: scan.name === "" ? null : scan.name,
  point_count: scan.point_count,
  n_theta: scan.n_theta,
  n_phi: scan.n_phi,
  origin: scan.origin && [...scan.origin],
  rotation: scan.rotation && [...scan.rotation],
  has_misses: scan.may_have_misses,
  bounds: boxOf(scan.bounds),
});

/** Box around all scans with points; null if one of them declares no box. */
function unionOf(scans: readonly Scan[]): Scan["bounds"] {
  const filled = scans.filter(({ point_count }) => point_count > 0);
  const boxes = filled.flatMap(({ bounds }) => (bounds ? [bounds] : []));
  if (boxes.length === 0 || boxes.length < filled.length) return null;
  const each = (pick: (a: number, b: number) => number, corner: "min" | "max"): [number, number, number] =>
    boxes.map((box) => box[corner]).reduce((a, b) => [pick(a[0], b[0]), pick(a[1], b[1]), pick(a[2], b[2])]);
  return { min: each(Math.min, "min"), max: each(Math.max, "max") };
}

/** PTX: the scans found in the first part of the file, and the first cells of the first scan. */
export async function ptxPreview(path: string, maxRows: number, job: Job): Promise<PreviewResponse> {
  const head = await job.track(() => native.readPtxHead(path, SAMPLE_ROWS, PTX_WALK_BYTES));
  const width = Math.max(0, ...head.sample.map(({ words }) => words.length));
  const channels =
    width >= 7 ? ["intensity", "r255", "g255", "b255"] : width === 6 ? ["r255", "g255", "b255"] : ["intensity"];
  const names = width === 3 ? [] : channels;
  const height = Math.max(1, head.scans[0]?.n_theta ?? 1); // the cells are stored column by column
  const number = scanNumber(head.scans.length);
  const rows = head.sample.map(({ position, words }, cell) => [
    ...[0, 1, 2].map((axis) => numberText(position?.[axis])),
    ...names.map((_, i) => words[3 + i] ?? ""),
    ...[String(cell % height), String(Math.floor(cell / height))],
    ...number.map(() => "0"),
  ]);
  const fields: FileColumn[] = [
    ...["x", "y", "z", ...names].map((role) => ({ name: null, role, is_float: !/255$/.test(role) })),
    ...["row_index", "column_index"].map((role) => ({ name: null, role, is_float: false })),
    ...number,
  ];
  const scans = head.scans.map(
    ({ n_theta, n_phi, origin, has_empty_cells }, scan_index): Scan => ({
      scan_index,
      name: null,
      point_count: n_theta * n_phi,
      n_theta,
      n_phi,
      origin: origin && [...origin],
      rotation: null,
      has_misses: has_empty_cells,
      bounds: null,
    }),
  );
  const more = `At least ${scans.length} scan${scans.length === 1 ? "" : "s"}: only the first 256 MiB were searched.`;
  const stopped = !head.complete && head.warnings.length === 0;
  const low = minimumOf([...head.sample.map(({ position }) => position), ...scans.map(({ origin }) => origin)]);
  return {
    ...OWN_LAYOUT,
    kind: "ptx",
    columns: fileColumns(fields, rows),
    sample_rows: rows.slice(0, maxRows),
    warning: joined([...(stopped ? [more] : []), ...severalScans(scans.length), ...head.warnings]),
    suggested_shift: low && suggestedShift(low),
    bounds: null,
    ...georeference(null),
    detected_units: "m", // scanners write metres; the format itself defines no unit
    ...scanList(scans, head.complete),
  };
}

const severalScans = (count: number): string[] =>
  count > 1
    ? [`${count} scans: the import merges them, each placed by its own pose; send scan_index to import a single one.`]
    : [];

function scanList(scans: readonly Scan[], complete: boolean) {
  const points = scans.reduce((sum, { point_count }) => sum + point_count, 0);
  return {
    point_count: points,
    scans: scans.slice(0, MAX_LISTED_SCANS),
    scan_count: scans.length,
    scan_list_complete: complete && scans.length <= MAX_LISTED_SCANS,
  };
}
