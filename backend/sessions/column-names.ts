import type { LasExtraRecord } from "../native/files/readers.ts";

export type Triple = readonly [number, number, number];

/**
 * How a LAS file stored an extra dimension, so that an export can write it back unchanged. Slug and label are those
 * made from the file's name and description; if the column has others now, these are written.
 */
export interface LasExtra {
  readonly slug: string;
  readonly label: string;
  readonly record: LasExtraRecord;
}

/**
 * A standard field of the LAS file that has the same value in every point. It is no column of the session, and an
 * export to LAS writes it back. `rgb` with 0: the points have colours, all black.
 */
export interface ConstantDimension {
  /** Field name, as in the column names of a LAS file. */
  readonly name: string;
  readonly value: number;
}

/** A scalar column besides the fixed ones. Their order is that in which the client shows them. */
export interface ExtraDim {
  readonly slug: string;
  readonly label: string;
  /** Absent for columns that were not read from a LAS file. */
  readonly las_extra?: LasExtra;
  /** Field of the LAS file that the column was read from, if an export can write it back there. */
  readonly las_field?: string;
  /** Kept for exports and edits, but not shown: not in the octree and the answers. */
  readonly hidden?: true;
}

/** Unit of the source's intensity: source value = stored / divisor + offset. */
export interface IntensityUnits {
  readonly divisor: number;
  readonly offset: number;
}

/** Scanner position of one scan, stored frame, metres. */
export interface ScanOrigin {
  readonly scan_index: number;
  readonly origin: Triple;
}

/** Names of the fixed columns. Every other key of `columns` is extraKey() of the slug of an extra. */
export const FIXED_COLUMNS = ["positions", "colors", "intensity", "timestamps", "beam_origins", "deleted"] as const;
export const extraKey = (slug: string): string => `extra/${slug}`;
