import type { ScannedCloud } from "../../../shared/contract/lidar-frame.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { errorText } from "../../jobs/native-error.ts";
import { type CloudMeta, type CloudSession, META_DEFAULTS } from "../../sessions/cloud-session.ts";
import { type ExtraDim, extraKey, type Triple } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { CANONICAL_LABELS } from "../files/roles.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { surviving } from "../octree/misses.ts";
import { buildOctrees, octreeBlock, publishOctrees } from "../octree/publish.ts";

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
 * Makes a session of a scan: registers it, then builds its octrees. Errors: canceled, then nothing is left; any of the
 * session store. A failed octree is a warning.
 */
export async function scanSession(rows: ScanRows, deps: Deps, job: Job) {
  const columns = columnsOf(rows);
  for (const column of columns.values()) column.retain(); // the session's own references
  const staged = await deps.sessions.stage(columns, (start) => job.track(start));
  let session: CloudSession;
  let unsaved: string | null;
  try {
    job.checkpoint();
    ({ session, unsaved_reason: unsaved } = await deps.sessions.register(staged, metaOf(rows)));
  } catch (error) {
    await staged.discard();
    throw error;
  }
  try {
    const { block, overlay, warnings } = await octrees(session, rows.miss_count > 0, deps, job);
    const shown: ScannedCloud["session"] = {
      ...block,
      session_id: session.id,
      point_count: rows.positions.length,
      has_misses: rows.miss_count > 0,
      miss_count: rows.miss_count,
      miss_slug: MISS_SLUG,
      scan_origin: [...rows.scan_origin],
      miss_octree_cache_id: overlay,
    };
    return { session: shown, warnings: [...warnings, ...(unsaved ? [unsaved] : [])] };
  } catch (error) {
    await deps.sessions.delete(session.id); // canceled: no client knows the id
    throw error;
  }
}

/** Builds and publishes the octrees of a new session. A failure is a warning; a cancel is thrown. */
async function octrees(session: CloudSession, overlay: boolean, deps: Deps, job: Job) {
  try {
    return await session.read(job, async (base) => {
      const quiet = job.quiet();
      const mask = await surviving(base, quiet);
      const built = await buildOctrees(base, mask, deps, { from: 0, to: 1, overlay }, quiet);
      job.checkpoint();
      await publishOctrees(session, base, built, deps, job);
      return {
        block: octreeBlock(built),
        overlay: session.state.meta.miss_octree_cache_id,
        warnings: built.overlay?.warnings ?? [],
      };
    });
  } catch (error) {
    job.checkpoint();
    return { block: {}, overlay: null, warnings: [`The octree of a scan could not be built: ${errorText(error)}`] };
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
