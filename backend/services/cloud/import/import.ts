import type { CreateSessionTail } from "../../../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_CLOUD_COLUMNS } from "../../../../shared/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Job } from "../../../jobs/job.ts";
import * as native from "../../../native/cloud/cloud.ts";
import { type CloudMeta, freshState, META_DEFAULTS } from "../../../sessions/cloud-session.ts";
import type { Triple } from "../../../sessions/column-names.ts";
import type { CreatedSession } from "../../../sessions/new-sessions.ts";
import { type AssignedColumns, assignColumns } from "../../files/assigned-columns.ts";
import { importBytes } from "../../files/import-cost.ts";
import { readCloud } from "../../files/read.ts";
import { MISS_SLUG } from "../../files/slugs.ts";
import type { SourceKind } from "../../files/source.ts";
import { NO_POINTS, releaseUnused, type SourceCloud } from "../../files/source-cloud.ts";
import { type BuiltOctree, buildOctree, hitsOctreeSource } from "../../octree/build.ts";
import { positionsColumn } from "../../octree/columns.ts";
import { buildMissOctree, detectMisses, surviving } from "../../octree/misses.ts";
import { type CloudSummary, cloudSummary } from "../../octree/summary.ts";
import { unknownKeyWarnings } from "../../run/unknown-keys.ts";
import { trajectoryParams } from "./beam-trajectory.ts";
import { LIKELY_DEGREES, looksLikeDegrees } from "./likely-degrees.ts";
import { readWarnings } from "./read-warnings.ts";
import { type CheckedCreate, toWorld } from "./request.ts";
import { rasterParams, scanList, scanWarnings } from "./scan-params.ts";
import { extentWarnings, shiftWarnings, systemWarnings } from "./unit-warnings.ts";

/** Formats that mark each miss or contain none. Their poses are often placeholders: with the origin of a national grid
 * as scanner position, detection by distance would mark every point as sky. */
export const SAYS_ITS_MISSES: ReadonlySet<SourceKind> = new Set(["pcd", "e57", "ptx"]);
const SPACING = { max_samples: 20_000, seed: 1 };

/** Imports a file as a new session. It becomes visible in the last step; a failure or cancel leaves nothing behind. */
export async function createCloudSession(checked: CheckedCreate, deps: Deps, job: Job): Promise<CreateSessionTail> {
  if (checked.shift_problem) throw checked.shift_problem;
  return deps.admission.run(job, "Import", await importBytes(checked.path, checked.kind), async () => {
    job.stage("Reading source file", 0.02, 0.25);
    const cloud = await readCloud(
      {
        path: checked.path,
        kind: checked.kind,
        frame: checked.frame,
        ascii_format: checked.request.ascii_format ?? null,
        column_plan: checked.request.column_plan ?? null,
        scan_index: checked.request.scan_index ?? null,
      },
      job,
    );
    job.stage("Loading points into memory", 0.25, 0.45);
    const assigned = await assignColumns(cloud, wishes(checked), job);
    checkColumns(assigned);
    releaseUnused(cloud, new Set(assigned.columns.values()), job); // the octree is built in their memory
    job.stage("Detecting sky/miss points", 0.45, 0.52);
    const origin = cloud.scan_origin ?? checked.origin;
    const threshold = checked.request.miss_distance_threshold;
    const { autodetected } = SAYS_ITS_MISSES.has(checked.kind)
      ? { autodetected: 0 }
      : await detectMisses(assigned, origin, threshold, job);
    return buildSession({ checked, cloud, assigned, origin, autodetected }, deps, job);
  });
}

/** Errors: unsupported for more columns than a session can have. */
function checkColumns({ columns }: AssignedColumns): void {
  if (columns.size <= MAX_CLOUD_COLUMNS) return;
  throw new AppError(
    "unsupported",
    `the file has ${columns.size} columns, more than the ${MAX_CLOUD_COLUMNS} of a session; leave some out with column_plan or drop_slugs`,
  );
}

interface Imported {
  readonly checked: CheckedCreate;
  readonly cloud: SourceCloud;
  readonly assigned: AssignedColumns;
  readonly origin: Triple | null;
  readonly autodetected: number;
}

async function buildSession(imported: Imported, deps: Deps, job: Job): Promise<CreateSessionTail> {
  const state = freshState(imported.assigned.columns, initialMeta(imported));
  job.stage("Computing bounds", 0.52, 0.58);
  const mask = await surviving(state, job);
  const summary = await cloudSummary(state, mask.skip, job, imported.assigned.stats);
  const spacing = await job.track(() => native.pointSpacing(positionsColumn(state), mask.skip, SPACING));
  job.stage("Writing octree source", 0.58, 0.62);
  for (const column of state.columns.values()) column.retain(); // the staged session's own references
  const staging = deps.sessions.stage(state.columns, (start) => job.track(start)); // beside the octree build
  staging.catch(() => undefined); // it may fail before `await staging` below, which throws the error
  let registered = false;
  try {
    const octree = await buildOctree(
      deps.octreeCache,
      hitsOctreeSource(state, mask.skip),
      { from: 0.62, to: 0.9 },
      job,
    );
    job.stage("Building miss overlay", 0.92, 0.99);
    const overlay = await buildMissOctree(state, mask.miss_count, deps.octreeCache, { from: 0.92, to: 0.99 }, job);
    const trajectory = await trajectoryParams(state, job);
    const staged = await staging;
    job.stage("Finalizing", 1, 1);
    job.checkpoint(); // the last cancel point
    const meta: CloudMeta = {
      ...state.meta,
      octree_cache_id: octree.cache_id,
      octree_point_count: positionsColumn(state).length - mask.deleted_count,
      miss_octree_cache_id: overlay.cache_id,
    };
    const created = await deps.sessions.register(staged, meta);
    registered = true;
    await deps.octreeCache.writePins();
    if (job.canceled) {
      await deps.sessions.delete(staged.id); // canceled while it was published: no client knows the id
      job.checkpoint();
    }
    void deps.octreeCache.evict(); // never rejects; no request waits for the clean-up
    const { miss_count } = mask;
    const apart = spacingApart(spacing);
    const warnings = [...overlay.warnings, ...trajectory.warnings, ...spacing.warnings, ...apart.warnings];
    const parts = { imported, summary, octree, created, trajectory: trajectory.params, warnings, miss_count };
    return tail({ ...parts, spacing_m: apart.spacing_m });
  } catch (error) {
    if (registered) throw error;
    await staging.then((staged) => staged.discard()).catch(() => undefined); // `error` is the failure to report
    throw error;
  }
}

/** The median spacing; where most points share their position with another, that between different positions. */
function spacingApart({ median_m, distinct_median_m }: native.PointSpacing) {
  if (median_m !== 0 || distinct_median_m === null) return { spacing_m: median_m, warnings: [] };
  const text =
    "At least half of the points share their position with another; the point spacing is that of different positions.";
  return { spacing_m: distinct_median_m, warnings: [text] };
}

function wishes({ request, frame }: CheckedCreate) {
  const lower = (slugs: readonly string[] | null | undefined) =>
    new Set((slugs ?? []).map((slug) => slug.toLowerCase()));
  return {
    frame,
    drop: lower(request.drop_slugs),
    roles: request.role_overrides ?? {},
    labels: request.scalar_labels ?? {},
  };
}

function initialMeta({ checked, cloud, assigned, origin }: Imported): CloudMeta {
  const { request, frame, unit_scale } = checked;
  const shifted = frame.shift.some((value) => value !== 0);
  const rescaled = unit_scale !== null && unit_scale !== 1;
  const constantTime = assigned.constant_dimensions.some(({ name, value }) => name === "gps_time" && value !== 0);
  return {
    extra_dims_meta: assigned.extra_dims_meta,
    ...(assigned.constant_dimensions.length > 0 ? { constant_dimensions: assigned.constant_dimensions } : {}),
    world_shift: shifted ? frame.shift : null,
    crs_epsg: rescaled ? null : (cloud.crs?.epsg ?? null), // a foot-based CRS would be wrong for metres
    crs_is_geographic: cloud.crs?.is_geographic ?? false,
    crs_wkt: rescaled || !cloud.crs?.wkt ? null : cloud.crs.wkt,
    ...(rescaled || !cloud.crs?.geotiff ? {} : { crs_geotiff: cloud.crs.geotiff }),
    source_units: request.source_units ?? null,
    source_unit_scale: unit_scale,
    gps_time_encoding: assigned.columns.has("timestamps") || constantTime ? cloud.gps_time_encoding : null,
    ...(assigned.intensity_units ? { intensity_units: assigned.intensity_units } : {}),
    source_scale_m: cloud.scale_m,
    ...(cloud.offset_m ? { source_offset_m: cloud.offset_m } : {}),
    source_path: checked.path,
    ascii_format: request.ascii_format ?? null,
    column_plan: request.column_plan ?? null,
    octree_cache_id: null,
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: null,
    octree_stale_gen: 0,
    miss_octree_cache_id: null,
    miss_octree_origin: origin,
    ...META_DEFAULTS,
    ...scanOrigins(cloud),
  };
}

/** Scanner positions of a file with several scans. */
function scanOrigins({ scans }: SourceCloud): Pick<CloudMeta, "scan_origins"> {
  const scan_origins = scans.flatMap(({ scan_index, origin }) => (origin === null ? [] : [{ scan_index, origin }]));
  return scans.length > 1 && scan_origins.length > 0 ? { scan_origins } : {};
}

interface TailParts {
  readonly imported: Imported;
  readonly summary: CloudSummary;
  readonly octree: BuiltOctree;
  readonly created: CreatedSession;
  readonly trajectory: Awaited<ReturnType<typeof trajectoryParams>>["params"];
  readonly warnings: readonly string[];
  readonly miss_count: number;
  readonly spacing_m: number | null;
}

function tail({
  imported,
  summary,
  octree,
  created,
  trajectory,
  miss_count,
  spacing_m,
  ...rest
}: TailParts): CreateSessionTail {
  const { meta, columns } = created.session.state;
  const world = imported.cloud.scan_origin && toWorld(imported.cloud.scan_origin, imported.checked.frame);
  const warnings = [
    ...importWarnings(imported),
    ...(imported.cloud.crs === null && looksLikeDegrees(octree.tight_bounds, meta.world_shift) ? [LIKELY_DEGREES] : []),
    ...extentWarnings(octree.tight_bounds),
    ...shiftWarnings(octree.tight_bounds, meta.world_shift, imported.checked.unit_scale),
    ...rest.warnings,
    ...(created.unsaved_reason ? [created.unsaved_reason] : []),
  ];
  const unplaceable = imported.cloud.unplaceable_miss_count;
  const origin = trajectory?.origin ?? world;
  const scan_params = { ...(origin ? { origin } : {}), ...rasterParams(imported.cloud.scans), ...trajectory };
  return {
    ...octree,
    ...summary,
    session_id: created.session.id,
    total_count: columns.get("positions")?.length ?? 0,
    world_shift: meta.world_shift && [...meta.world_shift],
    source_units: meta.source_units,
    source_unit_scale: meta.source_unit_scale,
    crs_epsg: meta.crs_epsg,
    point_spacing: spacing_m,
    has_misses: miss_count > 0,
    miss_slug: MISS_SLUG,
    ...(miss_count > 0 ? { miss_count } : {}),
    miss_octree_cache_id: meta.miss_octree_cache_id,
    ...(imported.autodetected > 0 ? { autodetected_misses: imported.autodetected } : {}),
    ...(unplaceable > 0 ? { unplaceable_miss_count: unplaceable } : {}),
    ...(world ? { scan_origin: world } : {}),
    ...(Object.keys(scan_params).length > 0 ? { scan_params } : {}),
    ...scanList(imported.cloud.scans, imported.checked.frame),
    ...(meta.constant_dimensions ? { constant_dimensions: [...meta.constant_dimensions] } : {}),
    ...(meta.gps_time_encoding && columns.has("timestamps") ? { gps_time_encoding: meta.gps_time_encoding } : {}),
    ...(warnings.length > 0 ? { warnings: [...new Set(warnings)] } : {}),
  };
}

/** Warns of a text layout sent for a file that describes its own columns. */
function layoutWarnings({ kind, request }: CheckedCreate): string[] {
  const given = [request.column_plan ? "column_plan" : "", request.ascii_format ? "ascii_format" : ""].filter(
    (name) => name !== "",
  );
  if (kind === "ascii" || given.length === 0) return [];
  return [`${given.join(" and ")}: for text files only, and ignored; this file (${kind}) describes its own columns.`];
}

/** Warnings about how the file was read. */
function importWarnings({ cloud, assigned, checked }: Imported): string[] {
  return [
    ...unknownKeyWarnings(checked.unknown_keys),
    ...layoutWarnings(checked),
    ...(cloud.positions.length === 0 ? [NO_POINTS] : []),
    ...scanWarnings(cloud),
    ...readWarnings(cloud, assigned, checked.unit_scale),
    ...systemWarnings(cloud.crs, checked.unit_scale),
  ];
}
