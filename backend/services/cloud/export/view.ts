import type { ExportRequest } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import type { CloudViewInput } from "../../../native/files/writers.ts";
import type { CloudState } from "../../../sessions/cloud-session.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { type ExportFormat, formatTraits, isLas, RASTER_COLUMNS } from "../../files/export-format.ts";
import { MISS_SLUG } from "../../files/slugs.ts";
import type { ExportView } from "../../files/writers.ts";
import { extraColumn, fixedColumn, optionalExtra, positionsColumn } from "../../octree/columns.ts";
import { surviving } from "../../octree/misses.ts";
import { colorsColumn, pointsColumn, sourceStride, sourceTranslation } from "../../run/points.ts";
import { lasParams, plainLasParams } from "./las.ts";
import { clockWarnings } from "./las-clock.ts";
import { withReturnNumbers } from "./return-numbers.ts";
import { unknownColumns } from "./unknown-columns.ts";

/** Inline points: positions and colours. */
export async function inlineView(
  { points, colors }: ExportRequest,
  format: ExportFormat,
  job: Job,
): Promise<ExportView> {
  const rows = points ?? [];
  const input: CloudViewInput = {
    ...EMPTY,
    positions: job.adopt(pointsColumn(rows)).native,
    colors: colors && formatTraits(format).colors ? job.adopt(await colorsColumn(colors, job)).native : null,
  };
  return { input, las: plainLasParams(), scanners: null, point_count: rows.length, warnings: [] };
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
  const plain: CloudViewInput = {
    positions,
    offset: [sx + tx, sy + ty, sz + tz],
    colors: chosen.fixed("colors"),
    intensity: chosen.fixed("intensity"),
    timestamps: chosen.fixed("timestamps"),
    beam_origins: chosen.fixed("beam_origins"),
    scalars: chosen.scalars,
    skip: mask.skip,
    stride: sourceStride(mask.hit_count, source?.max_points),
  };
  const { input, warnings: numbering } = isLas(format)
    ? await withReturnNumbers(plain, state.meta.extra_dims_meta, job)
    : { input: plain, warnings: [] };
  const las = isLas(format)
    ? await lasParams(state.meta, input, request.columns ?? null, [tx, ty, tz], job)
    : plainLasParams(state.meta);
  const scanners = { origin: state.meta.miss_octree_origin, origins: state.meta.scan_origins ?? [] };
  const known = [...state.meta.extra_dims_meta, ...(state.meta.constant_dimensions ?? [])];
  const warnings = [
    ...unknownColumns(
      request.columns,
      known.map((one) => ("slug" in one ? one.slug : one.name)),
    ),
    ...chosen.warnings,
    ...numbering,
    ...lostConstants(state, format),
    ...lostPositions(state, format),
    ...(isLas(format) ? await clockWarnings(state.meta, input, job) : []),
    ...(await unmarkedMisses(state, input, format, job)),
  ];
  return { input, las, scanners, point_count: mask.hit_count, warnings };
}

/** Warns of constant LAS fields that a format other than LAS does not store. Their usual values are not worth a word. */
function lostConstants({ meta }: CloudState, format: ExportFormat): string[] {
  if (isLas(format)) return [];
  const usual = (name: string) => (name === "return_number" || name === "number_of_returns" ? 1 : 0);
  const lost = (meta.constant_dimensions ?? []).filter(({ name, value }) => value !== usual(name));
  if (lost.length === 0) return [];
  const list = lost.map(({ name, value }) => `${name} ${value}`).join(", ");
  return [`Left out, the same for every point: ${list}. las and laz store these fields.`];
}

/** Warns of the positions of several scans; the one of a single scan is known to who opens the file. */
function lostPositions({ meta }: CloudState, format: ExportFormat): string[] {
  const count = meta.scan_origins?.length ?? 0;
  if (count < 2 || format === "e57" || format === "ptx") return [];
  return [`The positions of the ${count} scanners are not in the file; e57 stores them.`];
}

/** Warns of unmarked sky points in a file: they look like distant hits. PTX marks them by empty cells. */
async function unmarkedMisses(
  state: CloudState,
  { scalars }: CloudViewInput,
  format: ExportFormat,
  job: Job,
): Promise<string[]> {
  const isMiss = optionalExtra(state, MISS_SLUG);
  if (!isMiss || format === "ptx" || scalars.some(({ slug }) => slug === MISS_SLUG)) return [];
  const { miss_count } = await surviving(state, job);
  if (miss_count === 0) return [];
  return [
    `${miss_count} sky points (misses) are in the file, but not marked: drop them after reading, or export with the column is_miss (laz, pcd, e57).`,
  ];
}

type Scalar = CloudViewInput["scalars"][number];

type Fixed = "colors" | "intensity" | "timestamps" | "beam_origins";

/** The columns that a format writes, and warnings about those it leaves out. */
function chooseColumns(state: CloudState, wanted: readonly string[] | null, format: ExportFormat) {
  const traits = formatTraits(format);
  const names = traits.scalars === "raster" ? RASTER_COLUMNS : [...new Set(wanted ?? [])];
  const every = traits.scalars === "all" && wanted === null;
  const all = state.meta.extra_dims_meta;
  const scalar = ({ slug, label }: (typeof all)[number]): Scalar => ({ slug, label, column: extraColumn(state, slug) });
  const bySlug = new Map(all.map((extra) => [extra.slug, extra]));
  const asked = traits.scalars === "none" ? [] : names.flatMap((slug) => bySlug.get(slug) ?? []);
  const named = traits.scalars === "asked" || traits.scalars === "all";
  const has: Record<Fixed, boolean> = {
    colors: traits.colors,
    intensity: traits.intensity,
    timestamps: every || (named && names.some((slug) => slug === "timestamp" || slug === "gps-time")),
    beam_origins: every || (named && ORIGIN.every((axis) => names.includes(axis))),
  };
  const written = every ? all : asked;
  const kept = new Set(written);
  const left = [
    ...(["colors", "intensity"] as const).filter((name) => !has[name] && fixedColumn(state, name)),
    ...all.filter((extra) => !kept.has(extra)).map(({ slug }) => slug),
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

/** Warnings about columns that the user did not leave out, with a way to keep them. */
function leftOut(left: readonly string[], wanted: readonly string[] | null, format: ExportFormat): string[] {
  const { holds } = formatTraits(format);
  const name = format.toUpperCase();
  if (left.length === 0) return [];
  if (holds) return [`Left out: ${left.join(", ")}. ${name} stores ${holds}; laz and pcd store every column.`];
  const named = wanted === null ? left.filter((column) => column !== "intensity") : [];
  return [
    ...(named.length > 0 ? [`Left out: ${named.join(", ")}. List them in columns to write them.`] : []),
    ...(left.includes("intensity")
      ? [`Left out: intensity. ${name} is written without it; laz and pcd store it.`]
      : []),
  ];
}
