import type { ExportRequest } from "../../shared/contract/pointcloud.ts";
import type { Job } from "../jobs/job.ts";
import * as cloud from "../native/cloud.ts";
import type { CloudViewInput, LasWriteParams } from "../native/writers.ts";
import type { CloudState, ScanOrigin, Triple } from "../sessions/cloud-session.ts";
import { ColumnRef } from "../sessions/column-ref.ts";
import { version } from "../version.ts";
import { type ExportFormat, formatTraits, isLas, RASTER_COLUMNS } from "./export-format.ts";
import { colorsColumn, pointsColumn, sourceStride, sourceTranslation } from "./points.ts";
import { extraColumn, fixedColumn, positionsColumn } from "./session-columns.ts";

/** What a writer is given: the columns that the format holds, and what it wants to know besides. */
export interface ExportView {
  readonly input: CloudViewInput;
  readonly las: LasWriteParams;
  /** Scanner positions, stored frame; null for inline points. */
  readonly scanners: Scanners | null;
  readonly point_count: number;
  readonly warnings: string[];
}

interface Scanners {
  /** Of the cloud, or of its first scan; null = none is known. */
  readonly origin: Triple | null;
  readonly origins: readonly ScanOrigin[];
}

const SOFTWARE = `point-cloud-backend ${version}`.slice(0, 32);
const DEFAULT_SCALE_M = 0.001;
/** Largest values of LAS point formats 0-3: five bits of class, three of echo number. */
const LEGACY_MAX: ReadonlyMap<string, number> = new Map([
  ["classification", 31],
  ["return_number", 7],
  ["number_of_returns", 7],
]);
/** Columns whose values came from these LAS fields; they go back there. */
const LAS_FIELD_OF: ReadonlyMap<string, string> = new Map([
  ["target_index", "return_number"],
  ["target_count", "number_of_returns"],
]);
/** Fields that only point formats 6 and above have. */
const MODERN_FIELDS: ReadonlySet<string> = new Set(["scan_angle", "scanner_channel", "overlap", "nir"]);

/** Inline points: positions and colours, LAS 1.2. */
export function inlineView({ points, colors }: ExportRequest, format: ExportFormat, job: Job): ExportView {
  const rows = points ?? [];
  const input: CloudViewInput = {
    ...EMPTY,
    positions: job.adopt(pointsColumn(rows)).native,
    colors: colors && formatTraits(format).colors ? job.adopt(colorsColumn(colors)).native : null,
  };
  return { input, las: lasParams({ version: "1.2" }), scanners: null, point_count: rows.length, warnings: [] };
}

const EMPTY = {
  offset: [0, 0, 0],
  colors: null,
  intensity: null,
  timestamps: null,
  beam_origins: null,
  scalars: [],
  skip: null,
  stride: 1,
} as const;

/** The survivors of a session, misses included, in true world coordinates. Nothing is copied. */
export async function sessionView(
  state: CloudState,
  request: ExportRequest,
  format: ExportFormat,
  job: Job,
): Promise<ExportView> {
  const source = request.source;
  const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
  const [tx, ty, tz] = source ? sourceTranslation(source) : [0, 0, 0];
  const positions = positionsColumn(state);
  const deleted = fixedColumn(state, "deleted");
  const mask = await job.track(() => cloud.hitMask(null, deleted, positions.length));
  if (mask.skip) job.adopt(new ColumnRef(mask.skip));
  const chosen = chooseColumns(state, request.columns ?? null, format);
  const input: CloudViewInput = {
    positions,
    offset: [sx + tx, sy + ty, sz + tz],
    colors: chosen.fixed("colors"),
    intensity: chosen.fixed("intensity"),
    timestamps: chosen.fixed("timestamps"),
    beam_origins: chosen.fixed("beam_origins"),
    scalars: isLas(format) ? await lasScalars(chosen.scalars, job) : chosen.scalars,
    skip: mask.skip,
    stride: sourceStride(mask.hit_count, source?.max_points),
  };
  const las = lasParams(await lasVersion(state, input.scalars, job), state);
  const scanners = { origin: state.meta.miss_octree_origin, origins: state.meta.scan_origins ?? [] };
  return { input, las, scanners, point_count: mask.hit_count, warnings: chosen.warnings };
}

type Scalar = CloudViewInput["scalars"][number];

type Fixed = "colors" | "intensity" | "timestamps" | "beam_origins";

/** The columns a format writes, and a word about those it leaves out. */
function chooseColumns(state: CloudState, wanted: readonly string[] | null, format: ExportFormat) {
  const traits = formatTraits(format);
  const names = traits.scalars === "raster" ? RASTER_COLUMNS : [...new Set(wanted ?? [])];
  const every = traits.scalars === "all" && wanted === null;
  const all = state.meta.extra_dims_meta;
  const scalar = ({ slug, label }: (typeof all)[number]): Scalar => ({ slug, label, column: extraColumn(state, slug) });
  const asked = traits.scalars === "none" ? [] : names.flatMap((slug) => all.filter((extra) => extra.slug === slug));
  const named = traits.scalars === "asked" || traits.scalars === "all";
  const has: Record<Fixed, boolean> = {
    colors: traits.colors,
    intensity: traits.intensity,
    timestamps: every || (named && names.some((slug) => slug === "timestamp" || slug === "gps-time")),
    beam_origins: every || (named && ORIGIN.every((axis) => names.includes(axis))),
  };
  const written = every ? all : asked;
  const left = [
    ...(["colors", "intensity"] as const).filter((name) => !has[name] && fixedColumn(state, name)),
    ...all.filter((extra) => !written.includes(extra)).map(({ slug }) => slug),
    ...(fixedColumn(state, "timestamps") && !has.timestamps ? ["timestamp"] : []),
    ...(fixedColumn(state, "beam_origins") && !has.beam_origins ? ORIGIN : []),
  ];
  return {
    scalars: written.map(scalar),
    fixed: (name: Fixed) => (has[name] ? fixedColumn(state, name) : null),
    warnings: leftOut(left, wanted, format),
  };
}

const ORIGIN = ["origin_x", "origin_y", "origin_z"];

/** What the user did not leave out is named, with what can be done about it. */
function leftOut(left: readonly string[], wanted: readonly string[] | null, format: ExportFormat): string[] {
  const { holds } = formatTraits(format);
  if (left.length === 0 || (wanted !== null && !holds)) return [];
  const list = `Left out: ${left.join(", ")}.`;
  if (holds) return [`${list} ${format.toUpperCase()} holds ${holds}; laz and pcd hold every column.`];
  const silent = left.filter((name) => name === "intensity");
  const named = left.filter((name) => name !== "intensity");
  return [
    ...(named.length > 0 ? [`Left out: ${named.join(", ")}. Name them in columns to write them.`] : []),
    ...(silent.length > 0
      ? [`Left out: intensity. ${format.toUpperCase()} is written without it; laz and pcd hold it.`]
      : []),
  ];
}

/** Columns that came from LAS fields go back to them when every value fits (the writer checks the others). */
async function lasScalars(scalars: readonly Scalar[], job: Job): Promise<Scalar[]> {
  const echo = scalars.filter(({ slug }) => LAS_FIELD_OF.has(slug));
  const stats = await job.track(() =>
    cloud.columnStats(
      echo.map(({ column }) => column),
      null,
    ),
  );
  const isEcho = new Set(echo.filter((_, i) => fits(stats[i], 1, 15)));
  return scalars.map((scalar) => {
    if (isEcho.has(scalar)) return { ...scalar, slug: LAS_FIELD_OF.get(scalar.slug) ?? scalar.slug };
    return scalar.slug.startsWith("las_") ? { ...scalar, slug: scalar.slug.slice(4) } : scalar;
  });
}

const fits = (stats: cloud.ColumnStats | undefined, low: number, high: number): boolean =>
  stats?.is_integral === true && stats.nan_count === 0 && (stats.min ?? low) >= low && (stats.max ?? high) <= high;

/**
 * 1.4, unless what it cannot hold asks for 1.2 and the narrower fields of that suffice: a CRS known as an EPSG code only
 * (1.4 takes WKT alone), or scan angles in whole degrees (1.4 counts in 0.006 degrees).
 */
async function lasVersion(
  state: CloudState,
  scalars: readonly Scalar[],
  job: Job,
): Promise<{ version: "1.2" | "1.4" }> {
  const code_only = state.meta.crs_epsg !== null;
  const degrees = scalars.some(({ slug }) => slug === "scan_angle_rank");
  if (state.meta.crs_wkt !== null || !(code_only || degrees)) return { version: "1.4" };
  const narrow = scalars.filter(({ slug }) => LEGACY_MAX.has(slug));
  const modern = scalars.some(({ slug }) => MODERN_FIELDS.has(slug));
  const stats = await job.track(() =>
    cloud.columnStats(
      narrow.map(({ column }) => column),
      null,
    ),
  );
  const room = narrow.every(({ slug }, i) => fits(stats[i], 0, LEGACY_MAX.get(slug) ?? 0));
  return { version: room && !modern ? "1.2" : "1.4" };
}

function lasParams({ version: las }: { version: "1.2" | "1.4" }, state?: CloudState): LasWriteParams {
  const meta = state?.meta;
  const now = new Date();
  const year = now.getUTCFullYear();
  return {
    version: las,
    compressed: false,
    scale_m: Math.min(DEFAULT_SCALE_M, ...(meta?.source_scale_m ?? [])),
    adjusted_standard_time: meta?.gps_time_encoding === "adjusted_standard",
    epsg: meta?.crs_epsg ?? 0,
    epsg_is_geographic: meta?.crs_is_geographic ?? false,
    wkt: meta?.crs_wkt ?? "",
    system_identifier: "EXPORT",
    generating_software: SOFTWARE,
    creation_day_of_year:
      1 + Math.floor((Date.UTC(year, now.getUTCMonth(), now.getUTCDate()) - Date.UTC(year, 0, 1)) / 86_400_000),
    creation_year: year,
  };
}
