import type { PointList } from "../../../shared/contract/geometry.ts";
import type { PointSource } from "../../../shared/contract/point-source.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { thinRows } from "../../native/fit.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { pointsColumn, sourceSession, sourceStride, sourceTranslation } from "../run/points.ts";

/** The points of a plant: the rows that `skip` does not mark, and what to add for true world coordinates. */
export interface PlantPoints {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  readonly count: number;
  readonly offset: Triple;
  /** Hits that their session labels as noise. */
  readonly noise: readonly string[];
}

/** What a request names its points with. */
export interface PointsRequest {
  readonly points?: PointList | null | undefined;
  readonly source?: PointSource | null | undefined;
}

/** The session of a request; null: inline points. Errors: invalid_argument, not_found. */
export async function plantSession({ points, source }: PointsRequest, deps: Deps): Promise<CloudSession | null> {
  if (source) {
    sourceTranslation(source);
    return sourceSession(source, deps);
  }
  if (!points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
  return null;
}

export function inlinePoints(points: PointList, job: Job): PlantPoints {
  const positions = job.adopt(pointsColumn(points)).native;
  return { positions, skip: null, count: positions.length, offset: [0, 0, 0], noise: [] };
}

/** The hits of a session, thinned as its source says. The run owns the mask. */
export async function sourcePoints(state: CloudState, source: PointSource, job: Job): Promise<PlantPoints> {
  const positions = positionsColumn(state);
  const hits = await surviving(state, job);
  const { skip: misses, hit_count } = hits;
  const stride = sourceStride(hit_count, source.max_points);
  const thin = () => thinRows(positions.length, misses, stride);
  const skip = stride > 1 ? job.adopt(new ColumnRef(await job.track(thin))).native : misses;
  const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
  const [tx, ty, tz] = sourceTranslation(source);
  return {
    positions,
    skip,
    count: Math.ceil(hit_count / stride),
    offset: [sx + tx, sy + ty, sz + tz],
    noise: await noiseTakesPart(state, hits, job),
  };
}
