import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import type { CloudViewInput, LasPlacement, LasWriteParams } from "../../../native/files/writers.ts";
import type { CloudMeta } from "../../../sessions/cloud-session.ts";
import type { ExtraDim, Triple } from "../../../sessions/column-names.ts";
import { version } from "../../../version.ts";
import { lasDimension } from "../../files/column-roles.ts";
import { RETURN_FIELDS } from "./return-numbers.ts";

/** How a session becomes a LAS or LAZ file: version, fields of the columns, coordinate grid and coordinate system. */

const SOFTWARE = `point-cloud-backend ${version}`.slice(0, 32);
const DEFAULT_SCALE_M = 0.001;
/** Largest values of LAS point formats 0-3: five bits of class, three of echo number. */
const LEGACY_MAX: ReadonlyMap<string, number> = new Map([
  ["classification", 31],
  ["return_number", 7],
  ["number_of_returns", 7],
]);
/** LAS field of an echo column from another format, if its numbers count from 1 and return-numbers.ts made no columns for
 * these fields. */
const LAS_FIELD_OF: ReadonlyMap<string, string> = new Map([
  ["target_index", "return_number"],
  ["target_count", "number_of_returns"],
]);
/** Fields that only point formats 6 and above have. */
const MODERN_FIELDS: ReadonlySet<string> = new Set(["scan_angle", "scanner_channel", "overlap", "nir"]);
const MAX_LEGACY_POINTS = 0xffffffff;

type Scalar = CloudViewInput["scalars"][number];
interface Written extends Pick<LasWriteParams, "placements" | "constants"> {
  /** One per placement, in the same order. */
  readonly scalars: readonly Scalar[];
  readonly rows: number;
}

type Versions = Pick<LasWriteParams, "version" | "legacy_points">;

/** What is known of a cloud that a LAS file states. */
export type LasMeta = Pick<
  CloudMeta,
  | "extra_dims_meta"
  | "constant_dimensions"
  | "crs_epsg"
  | "crs_is_geographic"
  | "crs_wkt"
  | "crs_geotiff"
  | "gps_time_encoding"
  | "source_scale_m"
  | "source_offset_m"
>;

/** `wanted`: slugs of the columns to write; null = all. */
export async function lasParams(
  meta: LasMeta,
  { scalars, positions }: Pick<CloudViewInput, "scalars" | "positions">,
  wanted: readonly string[] | null,
  translation: Triple,
  job: Job,
): Promise<LasWriteParams> {
  const placements = await placementsOf(scalars, meta.extra_dims_meta, job);
  const asked = wanted && new Set(wanted);
  const constants = (meta.constant_dimensions ?? [])
    .filter(({ name }) => asked === null || [name, lasDimension(name).slug].some((slug) => asked.has(slug)))
    .map(({ name, value }) => ({ field: name, value }));
  const fields = { scalars, placements, constants, rows: positions.length };
  const versions = await versionFor(meta, fields, job);
  return { ...baseParams(meta), ...versions, placements, constants, grid: gridOf(meta, translation) };
}

/** Columns read from LAS fields are written back to them if every value fits (the writer checks the other columns). */
async function placementsOf(scalars: readonly Scalar[], dims: readonly ExtraDim[], job: Job): Promise<LasPlacement[]> {
  const numbered = scalars.some(({ slug }) => RETURN_FIELDS.has(slug));
  const echo = scalars.filter(
    ({ slug }) => !numbered && LAS_FIELD_OF.has(slug) && !dims.some((dim) => dim.slug === slug && dim.las_field),
  );
  const stats = await job.track(() =>
    cloud.columnStats(
      echo.map(({ column }) => column),
      null,
    ),
  );
  const isEcho = new Set(echo.filter((_, i) => fits(stats[i], 1, 15)));
  return scalars.map((scalar) => {
    const { slug } = scalar;
    const dim = dims.find((own) => own.slug === slug);
    const record = recordOf(dim);
    if (record) return { slug, field: "", record };
    if (dim?.las_field) return { slug, field: dim.las_field, record: null };
    if (isEcho.has(scalar)) return { slug, field: LAS_FIELD_OF.get(slug) ?? "", record: null };
    return { slug, field: slug.startsWith("las_") ? slug.slice("las_".length) : slug, record: null };
  });
}

/** The extra-bytes record of a column in its source file, with the slug and label if the user changed them. */
function recordOf(dim: ExtraDim | undefined): LasPlacement["record"] {
  const extra = dim?.las_extra;
  if (!dim || !extra) return null;
  const { record } = extra;
  return {
    ...record,
    name: dim.slug === extra.slug ? record.name : dim.slug,
    description: dim.label === extra.label ? record.description : dim.label,
  };
}

const fits = (stats: cloud.ColumnStats | undefined, low: number, high: number): boolean =>
  stats?.is_integral === true && stats.nan_count === 0 && (stats.min ?? low) >= low && (stats.max ?? high) <= high;

/**
 * LAS 1.4 with point formats 6 and above, except for two things that only formats 0 to 3 store exactly, if the other
 * values fit their narrower fields: a coordinate system known only as GeoTIFF keys (then 1.2), and scan angles in whole
 * degrees, which newer formats store in steps of 0.006 degrees (then 1.2, or 1.4 with formats 0 to 3 if WKT is known).
 */
async function versionFor(meta: LasMeta, { scalars, placements, rows, ...all }: Written, job: Job): Promise<Versions> {
  const constants = all.constants.filter(({ value }) => value !== 0);
  const columns = placements.map(({ field }) => field);
  const fields = [...columns, ...constants.map(({ field }) => field)];
  const wkt = meta.crs_wkt !== null;
  const keys = meta.crs_epsg !== null || (meta.crs_geotiff ?? null) !== null;
  const modern: Versions = { version: "1.4", legacy_points: false };
  if (!(fields.includes("scan_angle_rank") || (keys && !wkt))) return modern;
  if (rows > MAX_LEGACY_POINTS || fields.some((field) => MODERN_FIELDS.has(field))) return modern;
  const narrow = scalars.flatMap(({ column }, i) => {
    const max = LEGACY_MAX.get(columns[i] ?? "");
    return max === undefined ? [] : [{ column, max }];
  });
  const stats = await job.track(() =>
    cloud.columnStats(
      narrow.map(({ column }) => column),
      null,
    ),
  );
  if (!narrow.every(({ max }, i) => fits(stats[i], 0, max))) return modern;
  if (!constants.every(({ field, value }) => value <= (LEGACY_MAX.get(field) ?? value))) return modern;
  return { version: wkt ? "1.4" : "1.2", legacy_points: wkt };
}

/** Coordinate grid of the source file, translated with the points: coordinates on it keep their integers. */
function gridOf(meta: LasMeta, [tx, ty, tz]: Triple): LasWriteParams["grid"] {
  const { source_scale_m: scale, source_offset_m: offset } = meta;
  if (!scale || !offset) return null;
  return { scale, offset: [offset[0] + tx, offset[1] + ty, offset[2] + tz] };
}

function baseParams(meta?: LasMeta): LasWriteParams {
  const now = new Date();
  const year = now.getUTCFullYear();
  return {
    version: "1.2",
    legacy_points: false,
    compressed: false,
    scale_m: Math.min(DEFAULT_SCALE_M, ...(meta?.source_scale_m ?? []).map(Math.abs)),
    step_known: (meta?.source_scale_m ?? null) !== null,
    grid: null,
    placements: [],
    constants: [],
    adjusted_standard_time: meta?.gps_time_encoding === "adjusted_standard",
    epsg: meta?.crs_epsg ?? 0,
    epsg_is_geographic: meta?.crs_is_geographic ?? false,
    wkt: meta?.crs_wkt ?? "",
    geotiff: meta?.crs_geotiff ?? null,
    system_identifier: "EXPORT",
    generating_software: SOFTWARE,
    creation_day_of_year:
      1 + Math.floor((Date.UTC(year, now.getUTCMonth(), now.getUTCDate()) - Date.UTC(year, 0, 1)) / 86_400_000),
    creation_year: year,
  };
}

/** Inline points are LAS 1.2. `meta`: for formats that state no more of it than the coordinate system. */
export const plainLasParams = (meta?: LasMeta): LasWriteParams => baseParams(meta);
