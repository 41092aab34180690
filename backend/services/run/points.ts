import type { PointSource } from "../../../shared/contract/point-source.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import { addon } from "../../native/core/addon.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";

type Triple = readonly [number, number, number];

/**
 * The session that a source descriptor names. This is the only place that refuses sources without a session.
 * Errors: not_found, invalid_argument.
 */
export async function sourceSession(source: PointSource, { sessions }: Deps): Promise<CloudSession> {
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

/** Inline points as a native column, (n, 3) metres. */
export function pointsColumn(points: readonly Triple[]): ColumnRef {
  const values = new Float64Array(3 * points.length);
  for (const [i, point] of points.entries()) values.set(point, 3 * i);
  return new ColumnRef(new addon.Column("vec3d", new Uint8Array(values.buffer)));
}

/** Inline colours 0..1 as a native column of 16-bit channels; values outside the range are clipped. */
export function colorsColumn(colors: readonly Triple[]): ColumnRef {
  const values = new Uint16Array(3 * colors.length);
  for (const [i, color] of colors.entries()) {
    for (const [channel, value] of color.entries())
      values[3 * i + channel] = Math.round(Math.min(1, Math.max(0, value)) * 65535);
  }
  return new ColumnRef(new addon.Column("rgb16", new Uint8Array(values.buffer)));
}
