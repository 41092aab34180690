import type { BackfillMissesTail } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { MAX_BACKFILL_CELLS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { columnStats } from "../../native/cloud/cloud.ts";
import * as native from "../../native/misses.ts";
import {
  type CloudChange,
  type CloudState,
  type MissColumn,
  NO_MISSES,
  stateAfter,
} from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { lostHits } from "../cloud/child.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { buildMissOctree, type MissOverlay, surviving } from "../octree/misses.ts";
import { keepOctrees } from "../octree/publish.ts";
import { originWarnings } from "../run/origin-warnings.ts";
import { numbersColumn } from "../run/points.ts";
import { type CheckedBackfill, clockReason, declaredScan, notReturns } from "./backfill-check.ts";
import { addedRows, LimitsNeeded } from "./backfill-rows.ts";
import { missesAmidHits } from "./lost-hits.ts";
import { movingOrigins } from "./scans/moving.ts";

/** Native memory per point, per miss, and per row or column: copies and sorts of the op, the miss with its overlay, medians. */
const ROW_BYTES = 150;
const MISS_BYTES = 44 + 24 + 24;
const LINE_BYTES = 80;
/** Misses per row, if the size of the raster is not known. */
const LIKELY_MISSES = 4;
/** A larger share of returns without a cell is told. */
const MOST_OFF_SHARE = 0.001;

/**
 * Recovers the misses of a session: all pulses of its raster but those of returns, deleted ones included. The points of
 * the cloud do not change. A failure is reported in the tail; a cancel is thrown.
 */
export async function backfillMisses(checked: CheckedBackfill, deps: Deps, job: Job): Promise<BackfillMissesTail> {
  const { session, origin } = checked;
  try {
    job.stage("Reading scan", 0.05, 0.05);
    return await session.read(job, async (base) => {
      const bytes = await bytesOf(checked, base, job.quiet());
      return deps.admission.run(job, "Backfill", bytes, () => recovered(checked, base, deps, job));
    });
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return {
      backfilled: 0,
      miss_count: 0,
      has_misses: false,
      scan_origin: [...origin],
      already_had_misses: false,
      miss_octree_cache_id: session.closed ? null : session.state.meta.miss_octree_cache_id,
      restored_deleted_hits: 0,
      error: message,
      code,
    };
  }
}

async function bytesOf({ request, routes }: CheckedBackfill, base: CloudState, job: Job): Promise<number> {
  const points = positionsColumn(base).length;
  const rows = Math.max(request.n_theta ?? 0, routes.includes("grid") ? await countOf(base, "row_index", job) : 0);
  const columns = Math.max(request.n_phi ?? 0, routes.includes("grid") ? await countOf(base, "column_index", job) : 0);
  const guess = rows > 0 && columns > 0 && !routes.includes("clock") ? 0 : LIKELY_MISSES * points;
  const pulses = Math.max(rows * columns, guess);
  // A raster of more pulses is refused before it takes memory.
  const raster = rows * columns > MAX_BACKFILL_CELLS ? 0 : LINE_BYTES * (rows + columns);
  return ROW_BYTES * points + MISS_BYTES * Math.min(MAX_BACKFILL_CELLS, pulses) + raster;
}

/** Number of rows or columns that an index column tells of. */
async function countOf(base: CloudState, slug: "row_index" | "column_index", job: Job): Promise<number> {
  const column = optionalExtra(base, slug);
  const [stats] = column ? await job.track(() => columnStats([column], null)) : [];
  return Math.max(0, Math.floor((stats?.max ?? -1) + 1));
}

async function recovered(
  checked: CheckedBackfill,
  base: CloudState,
  deps: Deps,
  job: Job,
): Promise<BackfillMissesTail> {
  const { session, origin } = checked;
  const mask = await surviving(base, job.quiet());
  const rows = positionsColumn(base).length;
  const hits = rows - mask.miss_count;
  job.stage(`Building cloud (${hits} points)`, 0.15, 0.15);
  const scan = await scanRows(checked, base, job.quiet());
  const { misses, warnings } = await job.whileWaiting("Reconstructing misses", () =>
    reconstructed(checked, scan, job.quiet()),
  );
  const [made_up, origins] = [misses.get("positions"), misses.get("origins")];
  const gaps = await missesAmidHits(scan.hits, origin, made_up ? { positions: made_up, origins } : null, job.quiet());
  job.stage("Storing misses", 0.9, 0.9);
  const count = misses.get("positions")?.length ?? 0;
  const lost = lostHits(base.meta);
  const change: CloudChange = {
    misses: count > 0 ? misses : NO_MISSES,
    meta: {
      backfilled_misses_stale: false,
      backfilled_misses_moved: false,
      unrestorable_hit_count: count > 0 ? 0 : lost,
      misses_of_lost_hits: count > 0 ? lost : 0,
      ...(count > 0 ? { miss_octree_origin: origin } : {}),
    },
  };
  const overlay = await overlayOf(stateAfter(base, change), mask.miss_count, deps, job);
  job.stage("Done", 1, 1); // the last cancel point
  await session.commit(base, { ...change, meta: { ...change.meta, miss_octree_cache_id: overlay.cache_id } }, job);
  await keepOctrees(deps);
  return {
    backfilled: count,
    miss_count: count,
    has_misses: count > 0,
    scan_origin: [...origin],
    already_had_misses: false,
    miss_octree_cache_id: overlay.cache_id,
    restored_deleted_hits: hits - mask.hit_count,
    warnings: [
      ...checked.warnings,
      ...scan.warnings,
      ...warnings,
      ...(gaps ? [gaps] : []),
      ...droppedHits(count > 0 ? lost : 0),
      ...overlay.warnings,
    ],
  };
}

/** Of hits that a bake, split, extract or merge dropped, only the pulses are known. */
const droppedHits = (count: number): string[] =>
  count > 0
    ? [
        `${count} hits of the scan were dropped by a bake, split, extract or merge. Their pulses are taken as misses, which is wrong where these hits lay in or before the grid of a leaf area. Recover misses before such edits, or open the file again.`,
      ]
    : [];

const overlayOf = (after: CloudState, missCount: number, { octreeCache }: Deps, job: Job): Promise<MissOverlay> =>
  buildMissOctree(after, missCount, octreeCache, { from: 0.9, to: 0.99 }, job);

/** The returns of a scan in the frame of its scanner. */
interface Scan {
  readonly rows: native.ScanRows;
  readonly scan: native.DeclaredScan;
  /** Null: it stood still. */
  readonly moving: native.MovingScanner | null;
  /** The same returns in the stored frame, with their beam origins if it moved. */
  readonly hits: Parameters<typeof missesAmidHits>[0];
  readonly warnings: readonly string[];
}

async function scanRows(checked: CheckedBackfill, base: CloudState, job: Job): Promise<Scan> {
  const { request, origin } = checked;
  const times = fixedColumn(base, "timestamps");
  const still = {
    positions: positionsColumn(base),
    skip: await notReturns(base, job),
    times,
    row_index: optionalExtra(base, "row_index"),
    column_index: optionalExtra(base, "column_index"),
  };
  const { trajectory } = request;
  const target_index = optionalExtra(base, "target_index");
  const { positions: points, skip: is_miss } = still;
  const returns = { name: "The cloud", positions: points, is_miss, times, target_index, shift: NO_SHIFT };
  if (!trajectory || !times) {
    const hits = { ...still, origins: null };
    const warnings = await originWarnings({ ...returns, origin, given: origin }, job);
    return { rows: still, hits, scan: declaredScan(request, origin), moving: null, warnings };
  }
  const joined = await movingOrigins({ ...returns, times }, trajectory, job);
  const flat = trajectory.poses.flatMap(({ t, x, y, z, qx, qy, qz, qw }) => [t, x, y, z, qx, qy, qz, qw]);
  const { lever_arm, boresight_rpy } = trajectory;
  const moving = { poses: job.adopt(numbersColumn(flat)).native, lever_arm, boresight_rpy };
  const seen = await job.track(() => native.toScannerFrame(still.positions, times, moving));
  const positions = job.adopt(new ColumnRef(seen)).native;
  const scan = declaredScan({ ...request, ...LEVEL }, [0, 0, 0]);
  const hits = { ...still, origins: joined.origins };
  return { rows: { ...still, positions }, hits, scan, moving, warnings: joined.warnings };
}

const NO_SHIFT = [0, 0, 0] as const;
/** The poses of a moving scanner tell its attitude. */
const LEVEL = { tilt_roll_deg: 0, tilt_pitch_deg: 0, azimuth_offset_deg: 0 } as const;

interface Reconstructed {
  readonly misses: ReadonlyMap<MissColumn, ColumnRef>;
  readonly warnings: readonly string[];
}

const BY: Readonly<Record<native.MissRoute, string>> = {
  clock: "pulse clock",
  grid: "rows and columns",
  declared: "declared raster",
};

/**
 * The misses by the first route that finds the raster. Errors: that of the last one; LimitsNeeded before a declared raster,
 * whose limits would be a guess too.
 */
async function reconstructed(checked: CheckedBackfill, scan: Scan, job: Job): Promise<Reconstructed> {
  const warnings: string[] = [];
  let limits: LimitsNeeded | undefined;
  if (checked.clock) warnings.push(`The pulse clock of the scan was not used: ${clockReason(checked.clock)}.`);
  for (const [i, route] of checked.routes.entries()) {
    if (route === "declared" && limits) throw limits;
    try {
      const found = await job.track(() => native.recoverMisses(rowsFor(route, scan), paramsOf(route, scan)));
      if (route === "clock") warnings.push(...rowsOfClock(found, checked, scan));
      const misses = await missColumns(route, found, scan, job);
      return { misses, warnings: [...warnings, ...toldOf(route, found)] };
    } catch (raw) {
      const error = fromNative(raw);
      if (job.canceled || error.code !== "invalid_argument" || i + 1 === checked.routes.length) throw raw;
      if (error instanceof LimitsNeeded) limits = error;
      warnings.push(`The misses could not be placed by the ${BY[route]} of the scan: ${error.message}.`);
    }
  }
  throw new Error("no route"); // checkBackfill() leaves at least one
}

/** Warnings about rows without a return. Errors: LimitsNeeded; what was found is released. */
function rowsOfClock(found: native.RecoveredMisses, { request }: CheckedBackfill, { scan }: Scan): string[] {
  try {
    return addedRows(found, request, scan);
  } catch (error) {
    for (const column of [found.positions, found.times, found.row_index, found.column_index]) column?.release();
    throw error;
  }
}

/** Only a moving scanner needs the times of rows and columns. */
const rowsFor = (route: native.MissRoute, { rows, moving }: Scan): native.ScanRows =>
  route === "clock" || moving ? rows : { ...rows, times: null };

const paramsOf = (route: native.MissRoute, { scan, moving }: Scan) => ({
  route,
  scan,
  max_cells: MAX_BACKFILL_CELLS,
  moved: moving !== null,
});

/** The columns of the buffer, stored frame; the run owns them. */
async function missColumns(
  route: native.MissRoute,
  found: native.RecoveredMisses,
  { moving }: Scan,
  job: Job,
): Promise<Map<MissColumn, ColumnRef>> {
  const adopt = (column: NonNullable<native.RecoveredMisses["times"]>) => job.adopt(new ColumnRef(column));
  const seen = adopt(found.positions);
  const times = found.times && adopt(found.times);
  const [row, column] = [adopt(found.row_index), adopt(found.column_index)];
  const columns = new Map<MissColumn, ColumnRef>([["positions", seen]]);
  if (moving && times) {
    const beams = await job.track(() => native.fromScannerFrame(seen.native, times.native, moving));
    columns.set("positions", adopt(beams.positions));
    columns.set("origins", adopt(beams.origins));
  }
  if (times) columns.set("timestamp", times);
  if (route !== "clock") columns.set("row_index", row).set("column_index", column);
  return columns;
}

function toldOf(route: native.MissRoute, found: native.RecoveredMisses): string[] {
  const { rows, columns, median_residual, off_count, return_count } = found;
  const off = off_count > MOST_OFF_SHARE * return_count ? [`${off_count} points have no place in the raster.`] : [];
  return [
    `The misses were placed by the ${BY[route]} of the scan: ${rows} rows, ${columns} columns; half of the points lie within ${Math.max(0.001, median_residual).toPrecision(2)} steps of their pulses.`,
    ...off,
  ];
}
