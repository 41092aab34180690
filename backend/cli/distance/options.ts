import { AppError } from "../../../shared/errors.ts";
import { MAX_DISTANCE_BANDS } from "../../../shared/limits.ts";
import { DEFAULT_SAMPLE_POINTS, parsePictureSize, parseSamplePoints, type ReadingOptions } from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading } from "../run/inputs.ts";

/** Formats that store a scalar column. */
export const COLUMN_FORMATS = ["las", "laz", "ply", "pcd", "txt", "csv"] as const;
export type ColumnFormat = (typeof COLUMN_FORMATS)[number];

/** Options from commander, before their values are checked. */
export interface RawDistanceOptions {
  readonly out: string;
  readonly signed?: true;
  readonly bands?: string;
  readonly format?: string;
  readonly units?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface DistanceOptions {
  readonly out: string;
  readonly signed: boolean;
  /** Metres. */
  readonly bands: readonly number[];
  /** undefined: that of the cloud, or LAS. */
  readonly format: ColumnFormat | undefined;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const bad = (message: string) => new AppError("invalid_argument", message);

/** "0.01,0.05" in metres. Errors: invalid_argument. */
export function parseBands(text: string): number[] {
  const bands = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (!bands.every((band) => band >= 0 && Number.isFinite(band)))
    throw bad(`--bands "${text}" must be distances in metres, such as 0.01,0.05`);
  if (bands.length > MAX_DISTANCE_BANDS)
    throw bad(`--bands has ${bands.length} distances, more than ${MAX_DISTANCE_BANDS}`);
  return bands;
}

/** Errors: invalid_argument. */
export function checkedDistance(raw: RawDistanceOptions): DistanceOptions {
  const { format, points, pictureSize } = raw;
  const chosen = format === undefined ? undefined : COLUMN_FORMATS.find((name) => name === format.toLowerCase());
  if (format !== undefined && !chosen)
    throw bad(`--format "${format}" is not one of ${COLUMN_FORMATS.join(", ")}, which store the distances as a column`);
  return {
    out: raw.out,
    signed: raw.signed ?? false,
    bands: raw.bands === undefined ? [] : parseBands(raw.bands),
    format: chosen,
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}
