import type { DemRequest } from "../../../shared/contract/dem.ts";
import type { BulkNumbers } from "../../../shared/contract/geometry.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as edit from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { ValueUnits } from "../../native/terrain.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Hits, noiseTakesPart, withoutNoise } from "../classify/noise-rows.ts";
import { canopyStructureWarnings } from "../classify/structure-rows.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { type ScanColumn, scanColumn } from "../octree/scan-column.ts";
import { numbersColumn, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { unitIsStated } from "../run/unstated-units.ts";

/** Input points of a DEM and their attributes. The run owns the columns. */
export interface DemCloud {
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = leave out; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  /** The same with the rows that were left out as noise, which get heights. */
  readonly hits: Hits;
  /** Per row, 1 = ground; null = unknown. */
  readonly ground: NativeColumn | null;
  /** The caller sent ground labels: if they are insufficient, the ground is not segmented instead. */
  readonly ground_is_given: boolean;
  /** Per row, index of the return in its pulse; null = unknown. */
  readonly returns: NativeColumn | null;
  /** Per row, returns of its pulse; null = unknown. */
  readonly return_counts: NativeColumn | null;
  /** Per row. */
  readonly intensity: { readonly values: NativeColumn; readonly units: ValueUnits } | null;
  /** Per row, the scan or the flight line; null = unknown. */
  readonly scans: ScanColumn | null;
  readonly world_shift: Triple;
  readonly crs_epsg: number | null;
  /** False if nothing says that the coordinates are metres. */
  readonly unit_is_stated: boolean;
  /** What the caller must know of the points. */
  readonly warnings: readonly string[];
}

const AS_GIVEN: ValueUnits = { divisor: 1, offset: 0 };
/** Of sessions without intensity_units: 16-bit intensities are shown as 0..1. */
const FRACTION: ValueUnits = { divisor: 65535, offset: 0 };

/** The surviving hits of a session, with or without those that are labelled as noise, stored frame. */
export async function sessionCloud(state: CloudState, skip_noise: boolean, job: Job): Promise<DemCloud> {
  const hits = await surviving(state, job);
  const { skip, hit_count } = skip_noise ? await withoutNoise(state, hits, job) : hits;
  const intensity = fixedColumn(state, "intensity");
  return {
    positions: positionsColumn(state),
    skip,
    hit_count,
    hits,
    ground: optionalExtra(state, "ground_class"),
    ground_is_given: false,
    returns: optionalExtra(state, "target_index"),
    return_counts: optionalExtra(state, "target_count"),
    intensity: intensity && { values: intensity, units: state.meta.intensity_units ?? FRACTION },
    scans: scanColumn(state),
    world_shift: state.meta.world_shift ?? [0, 0, 0],
    crs_epsg: state.meta.crs_epsg,
    unit_is_stated: unitIsStated(state.meta),
    warnings: [],
  };
}

/** Inline points, or those of a source in true world coordinates, with the labels sent along. */
export async function flatCloud(request: DemRequest, deps: Deps, job: Job): Promise<DemCloud> {
  const base = request.source ? await sourceCloud(request, deps, job) : inlineCloud(request, job);
  const column = (values: BulkNumbers | null | undefined) =>
    values && values.length === base.hit_count ? job.adopt(numbersColumn(values)).native : null;
  const ground = column(request.ground_labels);
  const intensity = column(request.intensity);
  const returns = column(request.first_return_labels);
  return {
    ...base,
    ground: ground ?? base.ground,
    ground_is_given: ground !== null,
    returns: returns ?? base.returns,
    return_counts: returns ? null : base.return_counts,
    intensity: intensity ? { values: intensity, units: AS_GIVEN } : base.intensity,
  };
}

function inlineCloud({ points }: DemRequest, job: Job): DemCloud {
  const positions = job.adopt(pointsColumn(points ?? [])).native;
  return {
    positions,
    skip: null,
    hit_count: positions.length,
    hits: { skip: null, hit_count: positions.length },
    ground: null,
    ground_is_given: false,
    returns: null,
    return_counts: null,
    intensity: null,
    scans: null,
    world_shift: [0, 0, 0],
    crs_epsg: null,
    unit_is_stated: true,
    warnings: [],
  };
}

async function sourceCloud({ source, surface_type }: DemRequest, deps: Deps, job: Job): Promise<DemCloud> {
  if (!source) throw new Error("a source cloud without a source");
  const [tx, ty, tz] = sourceTranslation(source);
  const session = await sourceSession(source, deps);
  return session.read(job, async (state) => {
    const stored = await sessionCloud(state, false, job); // labels have one value per hit
    const [sx, sy, sz] = stored.world_shift;
    const move = [1, 0, 0, sx + tx, 0, 1, 0, sy + ty, 0, 0, 1, sz + tz];
    const { ground: classes, returns: numbers, return_counts: counts } = stored;
    const given = [
      stored.positions,
      classes,
      numbers,
      counts,
      stored.intensity?.values ?? null,
      stored.scans?.values ?? null,
    ];
    const present = given.filter((column) => column !== null);
    // One row per hit, like inline labels; copied, because the session may change meanwhile.
    const keep = stored.skip ?? (await noRows(stored.positions.length, job));
    const kept = (await job.track(() => edit.compactColumns(present, keep))).map((column) =>
      job.adopt(new ColumnRef(column)),
    );
    const [positions, ground, returns, return_counts, intensity, scans] = given.map((column) =>
      column ? kept.shift() : undefined,
    );
    if (!positions) throw new Error("compacting lost the positions");
    const moved = await job.track(() => edit.transformPositions(positions.native, move));
    return {
      ...stored,
      positions: job.adopt(new ColumnRef(moved)).native,
      skip: null,
      hits: { skip: null, hit_count: positions.native.length },
      ground: ground?.native ?? null,
      returns: returns?.native ?? null,
      return_counts: return_counts?.native ?? null,
      intensity: intensity && stored.intensity ? { ...stored.intensity, values: intensity.native } : null,
      scans: scans && stored.scans ? { ...stored.scans, values: scans.native } : null,
      world_shift: [0, 0, 0],
      crs_epsg: null,
      unit_is_stated: true,
      warnings: [
        ...(await noiseTakesPart(state, stored.hits, job)),
        ...(surface_type.toLowerCase() === "chm" ? await canopyStructureWarnings(state, stored.hits, job) : []),
      ],
    };
  });
}

async function noRows(rows: number, job: Job): Promise<NativeColumn> {
  return job.adopt(new ColumnRef(await job.track(() => edit.unionRows(rows, null, [])))).native;
}
