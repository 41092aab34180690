import { setImmediate } from "node:timers/promises";
import { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { PointList } from "../../../shared/contract/geometry.ts";
import type { PointSource } from "../../../shared/contract/point-source.ts";
import { AppError } from "../../../shared/errors.ts";
import { BLOCK_BYTES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { addon } from "../../native/core/addon.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { unitColors } from "../../native/lists.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { ListColumn } from "../../sessions/list-column.ts";

type Triple = readonly [number, number, number];

/**
 * The session that a source descriptor names. This is the only place that refuses sources without a session.
 * Errors: not_found, invalid_argument.
 */
export async function sourceSession(
  source: Pick<PointSource, "session_id" | "source_path">,
  { sessions }: Deps,
): Promise<CloudSession> {
  if (source.session_id) return sessions.get(source.session_id);
  if (source.source_path) {
    throw new AppError(
      "invalid_argument",
      "the source names a file but no session: a live session holds the edits, the file is stale. Create a session from the file first.",
    );
  }
  throw new AppError("invalid_argument", "the source has neither a session_id nor a source_path");
}

/** The translation of a source descriptor. Errors: invalid_argument for a wrong length. */
export function sourceTranslation({ translation }: PointSource): Triple {
  if (translation === null || translation === undefined) return [0, 0, 0];
  const [x, y, z] = translation;
  if (
    translation.length !== 3 ||
    x === undefined ||
    y === undefined ||
    z === undefined ||
    !translation.every(Number.isFinite)
  ) {
    throw new AppError(
      "invalid_argument",
      `source.translation must be three finite numbers, not [${translation.join(", ")}]`,
    );
  }
  return [x, y, z];
}

/** Stride that keeps at most `max` of `count` rows: every ceil(count / max)-th; all when `max` is null or not positive. */
export function sourceStride(count: number, max: number | null | undefined): number {
  return max === null || max === undefined || max <= 0 || count <= max ? 1 : Math.ceil(count / max);
}

/** Inline points as a native column, (n, 3) metres. Errors: internal for a list that validation has refused. */
export function pointsColumn(points: PointList): ColumnRef {
  if (points instanceof BulkColumn) return retained(points);
  const values = new Float64Array(3 * points.length);
  for (const [i, point] of points.entries()) values.set(point, 3 * i);
  return new ColumnRef(new addon.Column("vec3d", new Uint8Array(values.buffer)));
}

/** Inline numbers as a native column of f64; null is NaN. */
export function numbersColumn(numbers: BulkColumn | readonly (number | null)[]): ColumnRef {
  if (numbers instanceof BulkColumn) return retained(numbers);
  const values = Float64Array.from(numbers, (value) => value ?? Number.NaN);
  return new ColumnRef(new addon.Column("f64", new Uint8Array(values.buffer)));
}

/** Inline flags as a native column of u8, 1 = true. */
export function flagsColumn(flags: BulkColumn | readonly boolean[]): ColumnRef {
  if (flags instanceof BulkColumn) return retained(flags);
  return new ColumnRef(new addon.Column("u8", Uint8Array.from(flags, Number)));
}

/** Inline colours 0..1 as a native column of 16-bit channels; values outside the range are clipped. */
export async function colorsColumn(colors: PointList, job: Job): Promise<ColumnRef> {
  const unit = job.adopt(pointsColumn(colors)).native;
  return new ColumnRef(await job.track(() => unitColors(unit)));
}

/** The column of a list that arrived in a large request; the caller owns a reference of its own. */
function retained(list: BulkColumn): ColumnRef {
  if (!(list instanceof ListColumn) || !list.ref) throw new AppError("internal", "a list without its column");
  return list.ref.retain();
}

/** Copies a column to `out`, which has its size, block by block: the event loop runs between them. */
export async function copyOut(column: NativeColumn, out: Uint8Array): Promise<void> {
  for (let at = 0; at < out.length; at += BLOCK_BYTES) {
    column.readInto(out.subarray(at, at + BLOCK_BYTES), at);
    await setImmediate();
  }
}
