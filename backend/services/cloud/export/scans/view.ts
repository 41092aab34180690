import type { ScanExportEntry } from "../../../../../shared/contract/scan-export.ts";
import { AppError } from "../../../../../shared/errors.ts";
import type { Job } from "../../../../jobs/job.ts";
import * as cloud from "../../../../native/cloud/cloud.ts";
import type { CloudViewInput, PtxSweep } from "../../../../native/files/writers.ts";
import type { Triple } from "../../../../sessions/column-names.ts";
import { ColumnRef } from "../../../../sessions/column-ref.ts";
import { lasDimension } from "../../../files/column-roles.ts";
import { type ExportFormat, formatTraits, isLas, RASTER_COLUMNS } from "../../../files/export-format.ts";
import { MISS_SLUG } from "../../../files/slugs.ts";
import type { ExportView } from "../../../files/writers.ts";
import { clockWarnings } from "../las-clock.ts";
import { withReturnNumbers } from "../return-numbers.ts";
import { unknownColumns } from "../unknown-columns.ts";
import { rasterSize } from "./bundle-xml.ts";
import type { ScanPoints } from "./points.ts";

/** What an object's file contains. */
export interface ScanView {
  readonly view: ExportView;
  /** Column names of a text file, in order. */
  readonly columns: readonly string[];
  /** Raster of a PTX file without row_index and column_index. */
  readonly sweep: PtxSweep | null;
}

/** Columns of an object that names none, where present. */
const DEFAULT_COLUMNS = [MISS_SLUG, "timestamp", "target_index", "target_count", "intensity"];
const ORIGIN = ["origin_x", "origin_y", "origin_z"];
const TEXT: ReadonlySet<ExportFormat> = new Set(["xyz", "txt", "csv", "asc", "ply"]);
const DEGREE = Math.PI / 180;

/** What a format can hold: as in exports of points, but every table has every column. */
function traitsOf(format: ExportFormat): Pick<ReturnType<typeof formatTraits>, "colors" | "intensity" | "scalars"> {
  return TEXT.has(format) ? { colors: true, intensity: true, scalars: "asked" } : formatTraits(format);
}

/** How an object is written. Errors: invalid_argument for an origin or translation that is not a position. */
export async function scanView(
  points: ScanPoints,
  entry: ScanExportEntry,
  { format, include_misses }: { readonly format: ExportFormat; readonly include_misses: boolean },
  job: Job,
): Promise<ScanView> {
  const translation = triple(entry.translation ?? [0, 0, 0], "translation");
  const origin = triple(entry.origin, "origin");
  const misses = points.scalars.find(({ slug }) => slug === MISS_SLUG)?.column ?? null;
  const dropped = include_misses ? null : misses;
  const mask = await job.track(() => cloud.hitMask(dropped, points.deleted, points.positions.length));
  if (mask.skip) job.adopt(new ColumnRef(mask.skip));
  const names = wantedColumns(entry, format, include_misses);
  const chosen = chooseColumns(points, names, format);
  const shift = format === "ptx" ? points.world_shift : ([0, 0, 0] as const);
  const plain: CloudViewInput = {
    positions: points.positions,
    offset: sum(translation, shift),
    ...chosen.input,
    skip: mask.skip,
    stride: 1,
  };
  const { input, warnings: numbering } = isLas(format)
    ? await withReturnNumbers(plain, points.dims, job)
    : { input: plain, warnings: [] };
  const placed = await points.las(input, [...names], translation, job);
  const las = isLocal(points, format) ? { ...placed, ...WITHOUT_SYSTEM } : placed;
  const stored = sum(origin, translation.map((v) => -v) as unknown as Triple);
  const slugs = input.scalars.map(({ slug }) => slug);
  const indexed = slugs.includes("row_index") && slugs.includes("column_index");
  const view: ExportView = {
    input,
    las,
    scanners: { origin: stored, origins: [] },
    point_count: mask.hit_count,
    warnings: [
      ...points.warnings,
      ...unknownColumns(entry.columns, [
        ...points.scalars.map((scalar) => scalar.slug),
        ...(points.known.constant_dimensions ?? []).flatMap(({ name }) => [name, lasDimension(name).slug]),
        ...Object.keys(entry.scalar_columns ?? {}),
      ]),
      ...numbering,
      ...(isLas(format) ? await clockWarnings(points.known, input, job) : []),
      ...shiftWarning(points, format),
    ],
  };
  return { view, columns: chosen.columns, sweep: format === "ptx" && !indexed ? sweepOf(entry, mask.hit_count) : null };
}

const sum = ([ax, ay, az]: Triple, [bx, by, bz]: Triple): Triple => [ax + bx, ay + by, az + bz];

function triple(values: readonly number[], what: string): Triple {
  const [x, y, z] = values;
  if (values.length !== 3 || x === undefined || y === undefined || z === undefined) {
    throw new AppError("invalid_argument", `${what} must be three numbers, not [${values.join(", ")}]`);
  }
  return [x, y, z];
}

/** Names of the columns to write, in order; is_miss first, because a miss without it would be read as a hit. */
function wantedColumns(entry: ScanExportEntry, format: ExportFormat, include_misses: boolean): ReadonlySet<string> {
  const traits = traitsOf(format);
  if (traits.scalars === "none") return new Set();
  if (traits.scalars === "raster") return new Set(RASTER_COLUMNS);
  const wanted = new Set([...(include_misses ? [MISS_SLUG] : []), ...(entry.columns ?? DEFAULT_COLUMNS)]);
  if (!include_misses) wanted.delete(MISS_SLUG);
  return wanted;
}

/** The columns of the view, and their names in the order in which a text file has them. */
function chooseColumns(points: ScanPoints, names: ReadonlySet<string>, format: ExportFormat) {
  const traits = traitsOf(format);
  const listed = traits.scalars === "asked" || traits.scalars === "all";
  const colors = traits.colors ? points.colors : null;
  const intensity = traits.intensity && (!listed || names.has("intensity")) ? points.intensity : null;
  const origins = ORIGIN.every((axis) => names.has(axis)) ? points.beam_origins : null;
  // A clock is one of the columns of a text file, at its place in the list; other formats have a field of their own.
  const clock = names.has("timestamp") ? points.timestamps : null;
  const text = TEXT.has(format);
  const scalars = [...names].flatMap((slug) => {
    if (slug === "timestamp" && text && clock) return [{ slug, label: slug, column: clock }];
    return points.scalars.filter((scalar) => scalar.slug === slug);
  });
  const columns = [
    ...["x", "y", "z"],
    ...(colors ? ["r255", "g255", "b255"] : []),
    ...(intensity ? ["intensity"] : []),
    ...(origins ? ORIGIN : []),
    ...scalars.map(({ slug }) => slug),
  ];
  const input = { colors, intensity, timestamps: text ? null : clock, beam_origins: origins, scalars };
  return { input, columns };
}

/** What a file in local coordinates says of the coordinate system and grid of its source. */
const WITHOUT_SYSTEM = { epsg: 0, epsg_is_geographic: false, wkt: "", geotiff: null, grid: null } as const;

/** Whether the file has the coordinates that clients draw, without the world shift, as the origins of the request. */
const isLocal = ({ world_shift }: ScanPoints, format: ExportFormat): boolean =>
  format !== "ptx" && world_shift.some((v) => v !== 0);

/** Says that the coordinates are local, and that a file that could name a coordinate system names none. */
function shiftWarning(points: ScanPoints, format: ExportFormat): string[] {
  if (!isLocal(points, format)) return [];
  const system = isLas(format) || format === "e57" ? " The file names no coordinate system." : "";
  return [
    `Coordinates are without the world shift [${points.world_shift.join(", ")}]; add it to get true coordinates.${system}`,
  ];
}

/** Directions of the cells of a raster sweep; null for other patterns. */
function sweepOf(entry: ScanExportEntry, points: number): PtxSweep | null {
  if (entry.scan_pattern !== "raster") return null;
  const { n_theta, n_phi } = rasterSize(entry, points);
  const step = (low: number, high: number, count: number) => (count > 1 ? ((high - low) / (count - 1)) * DEGREE : 0);
  return {
    n_theta,
    n_phi,
    theta_min_rad: entry.theta_min * DEGREE,
    theta_step_rad: step(entry.theta_min, entry.theta_max, n_theta),
    phi_min_rad: entry.phi_min * DEGREE,
    phi_step_rad: step(entry.phi_min, entry.phi_max, n_phi),
  };
}
