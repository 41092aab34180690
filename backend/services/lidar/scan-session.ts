import type { ScannedCloud } from "../../../shared/contract/lidar-frame.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { errorText } from "../../jobs/native-error.ts";
import { type CloudMeta, type CloudState, freshState, META_DEFAULTS } from "../../sessions/cloud-session.ts";
import { type ExtraDim, extraKey, type Triple } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { currentOctree } from "../../sessions/edits.ts";
import { CANONICAL_LABELS } from "../files/roles.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { surviving } from "../octree/misses.ts";
import { buildOctrees, keepOctrees, octreeBlock, rebuilt } from "../octree/publish.ts";

/** The rows of a scan; the caller owns the columns. */
export interface ScanRows {
  readonly positions: ColumnRef;
  readonly is_miss: ColumnRef;
  /** u16. */
  readonly intensity: ColumnRef;
  /** f64, seconds. */
  readonly timestamps: ColumnRef;
  readonly colors: ColumnRef | null;
  /** vec3d; moving scanners. */
  readonly beam_origins: ColumnRef | null;
  /** Scalar columns by name. */
  readonly extras: ReadonlyMap<string, ColumnRef>;
  /** Standard fields that are not offered for colouring. */
  readonly hidden: ReadonlySet<string>;
  readonly miss_count: number;
  readonly scan_origin: Triple;
}

const LABELS: Readonly<Record<string, string>> = {
  ...CANONICAL_LABELS,
  distance: "Distance",
  deviation: "Deviation",
  nRaysHit: "Rays per Return",
  organ: "Organ",
  pulse_id: "Pulse",
};

/**
 * Makes a session of a scan: writes its columns beside the build of its octrees, then registers it. Errors: canceled, then
 * nothing is left; any of the session store. A failed octree is a warning.
 */
export async function scanSession(rows: ScanRows, deps: Deps, job: Job) {
  const state = freshState(columnsOf(rows), metaOf(rows));
  for (const column of state.columns.values()) column.retain(); // the staged session's own references
  const staging = deps.sessions.stage(state.columns, (start) => job.track(start));
  staging.catch(() => undefined); // it may fail before `await staging` below, which throws the error
  let registered: string | undefined;
  try {
    const { shown, block, overlay, warnings } = await octrees(state, rows.miss_count > 0, deps, job);
    const staged = await staging;
    job.checkpoint();
    const { session, unsaved_reason } = await deps.sessions.register(staged, { ...state.meta, ...shown });
    registered = session.id;
    await keepOctrees(deps);
    job.checkpoint();
    const answer: ScannedCloud["session"] = {
      ...block,
      session_id: session.id,
      point_count: rows.positions.length,
      has_misses: rows.miss_count > 0,
      miss_count: rows.miss_count,
      miss_slug: MISS_SLUG,
      scan_origin: [...rows.scan_origin],
      miss_octree_cache_id: overlay,
    };
    return { session: answer, warnings: [...warnings, ...(unsaved_reason ? [unsaved_reason] : [])] };
  } catch (error) {
    if (registered !== undefined)
      await deps.sessions.delete(registered); // canceled: no client knows the id
    else await staging.then((staged) => staged.discard()).catch(() => undefined); // `error` is the failure to report
    throw error;
  }
}

/** Builds the octrees of a state. A failure is a warning; a cancel is thrown. */
async function octrees(state: CloudState, overlay: boolean, deps: Deps, job: Job) {
  try {
    const quiet = job.quiet();
    const mask = await surviving(state, quiet);
    const built = await buildOctrees(state, mask, deps, { from: 0, to: 1, overlay }, quiet);
    const shown = currentOctree(rebuilt(built, state));
    const warnings = built.overlay?.warnings ?? [];
    return { shown, block: octreeBlock(built), overlay: shown.miss_octree_cache_id ?? null, warnings };
  } catch (error) {
    job.checkpoint();
    const warnings = [`The octree of a scan could not be built: ${errorText(error)}`];
    return { shown: {}, block: {}, overlay: null, warnings };
  }
}

function columnsOf({ positions, is_miss, intensity, timestamps, colors, beam_origins, extras }: ScanRows) {
  const columns = new Map<string, ColumnRef>([
    ["positions", positions],
    ["intensity", intensity],
    ["timestamps", timestamps],
  ]);
  if (colors) columns.set("colors", colors);
  if (beam_origins) columns.set("beam_origins", beam_origins);
  for (const [name, column] of extras) columns.set(extraKey(name), column);
  columns.set(extraKey(MISS_SLUG), is_miss);
  return columns;
}

function metaOf({ extras, hidden, scan_origin }: ScanRows): CloudMeta {
  const extra = (slug: string): ExtraDim => ({
    slug,
    label: LABELS[slug] ?? slug,
    ...(hidden.has(slug) ? { hidden: true as const } : {}),
  });
  const hidden_fixed = [
    ...(hidden.has("intensity") ? ["intensity" as const] : []),
    ...(hidden.has("timestamp") ? ["timestamps" as const] : []),
  ];
  return {
    extra_dims_meta: [...[...extras.keys()].map(extra), extra(MISS_SLUG)],
    ...(hidden_fixed.length > 0 ? { hidden_fixed } : {}),
    world_shift: null,
    crs_epsg: null,
    crs_is_geographic: false,
    crs_wkt: null,
    source_units: null,
    source_unit_scale: 1,
    gps_time_encoding: null,
    source_scale_m: null,
    source_path: null,
    ascii_format: null,
    column_plan: null,
    octree_cache_id: null,
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: null,
    octree_stale_gen: 0,
    miss_octree_cache_id: null,
    miss_octree_origin: scan_origin,
    ...META_DEFAULTS,
  };
}
