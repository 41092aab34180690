import type { LasExtraRecord } from "../native/files/readers.ts";

export type Triple = readonly [number, number, number];

/**
 * How a LAS file stored an extra dimension: what an export needs to write it back as it was. Slug and label are those that
 * the file's name and description stand for; a column renamed since is written under its new ones.
 */
export interface LasExtra {
  readonly slug: string;
  readonly label: string;
  readonly record: LasExtraRecord;
}

/** One scalar column beside the fixed ones, in the order the client shows them. */
export interface ExtraDim {
  readonly slug: string;
  readonly label: string;
  /** Absent for columns that no LAS file brought. */
  readonly las_extra?: LasExtra;
}

/** Scanner position of one scan, stored frame, metres. */
export interface ScanOrigin {
  readonly scan_index: number;
  readonly origin: Triple;
}

/** Names of the fixed columns; every other key of `columns` is an extra's slug behind this prefix. */
export const FIXED_COLUMNS = ["positions", "colors", "intensity", "timestamps", "beam_origins", "deleted"] as const;
export const extraKey = (slug: string): string => `extra/${slug}`;
