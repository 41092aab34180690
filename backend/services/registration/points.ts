import type { BulkNumbers } from "../../../shared/contract/geometry.ts";
import type { PointSource } from "../../../shared/contract/point-source.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/registration.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import type { Surviving } from "../octree/publish.ts";
import { numbersColumn, sourceSession, sourceStride, sourceTranslation } from "../run/points.ts";

/** Points of a comparison: every stride-th of the rows that `skip` does not mark. */
export interface ComparedPoints {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  /** Rows that are not skipped. */
  readonly count: number;
  /** Added to the positions: true world coordinates. */
  readonly shift: readonly [number, number, number];
  readonly stride: number;
  readonly warnings: readonly string[];
}

/** Inline points, or the session of a source descriptor. */
export interface CheckedPoints {
  readonly list: BulkNumbers | null;
  readonly source: PointSource | null;
  /** null: inline points. */
  readonly session: CloudSession | null;
}

/** Errors: not_found; invalid_argument for a list `name` of another length than 3 n and a source without a session. */
export async function checkPoints(
  list: BulkNumbers | null,
  source: PointSource | null,
  name: string,
  deps: Deps,
): Promise<CheckedPoints> {
  const session = source ? await sourceSession(source, deps) : null;
  if (source) sourceTranslation(source);
  else if (list && list.length % 3 !== 0) {
    throw new AppError("invalid_argument", `${name} has ${list.length} numbers, not a multiple of 3`);
  }
  return { list, source, session };
}

/** The session that points come from. */
export interface ComparedSession {
  readonly session: CloudSession;
  readonly state: CloudState;
  readonly mask: Surviving;
}

/** Runs `body` with the points; those of a session are pinned until it settles. */
export async function withPoints<T>(
  { list, source, session }: CheckedPoints,
  job: Job,
  body: (points: ComparedPoints, of: ComparedSession | null) => Promise<T>,
): Promise<T> {
  if (!session) return body(await inlinePoints(list ?? [], job), null);
  return session.read(job, async (state) => {
    const mask = await surviving(state, job.quiet());
    const { skip, hit_count } = mask;
    const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
    const [tx, ty, tz] = source ? sourceTranslation(source) : [0, 0, 0];
    const points: ComparedPoints = {
      positions: positionsColumn(state),
      skip,
      count: hit_count,
      shift: [sx + tx, sy + ty, sz + tz],
      stride: sourceStride(hit_count, source?.max_points),
      warnings: await noiseTakesPart(state, mask, job.quiet()),
    };
    return body(points, { session, state, mask });
  });
}

async function inlinePoints(points: BulkNumbers, job: Job): Promise<ComparedPoints> {
  const list = job.adopt(numbersColumn(points)).native;
  const { positions, skip, far_count } = await job.quiet().track(() => native.pointsOfList(list));
  const warning = `${far_count} points lie far from all others, at 800 m or more: they count as sky points and were left out.`;
  return {
    positions: job.adopt(new ColumnRef(positions)).native,
    skip: skip && job.adopt(new ColumnRef(skip)).native,
    count: positions.length - far_count,
    shift: [0, 0, 0],
    stride: 1,
    warnings: far_count > 0 ? [warning] : [],
  };
}
