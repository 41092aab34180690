import { AppError } from "../../../shared/errors.ts";
import { MAX_SKELETON_LEVELS, MAX_SKELETON_NEIGHBORS } from "../../../shared/limits.ts";
import {
  DEFAULT_SAMPLE_POINTS,
  parsePictureSize,
  parseSamplePoints,
  type ReadingOptions,
  wholeNumber,
} from "../analyze/options.ts";
import { DEFAULT_PICTURE_PX } from "../drawing/view-frame.ts";
import { checkedReading, parseMetres } from "../run/inputs.ts";

/** Options from commander, before their values are checked. */
export interface RawSkeletonOptions {
  readonly out: string;
  readonly searchRadius?: string;
  readonly neighbors?: string;
  readonly levels?: string;
  readonly evenLevels?: true;
  readonly leastPoints?: string;
  readonly leastShare?: string;
  readonly keepOutliers?: true;
  readonly centroids?: true;
  readonly units?: string;
  readonly up?: string;
  readonly columns?: string;
  readonly points?: string;
  readonly pictureSize?: string;
  readonly force?: true;
  readonly json?: true;
}

export interface SkeletonOptions {
  readonly out: string;
  /** Fields of the request; those that are absent have its defaults. */
  readonly tuning: Readonly<{
    search_radius?: number | null;
    max_neighbors?: number;
    quantization_levels?: number;
    use_nonlinear_quantization?: boolean;
    threshold_filter?: number;
    use_proportion_filter?: boolean;
    proportion_threshold?: number;
    remove_outliers?: boolean;
    recenter?: boolean;
  }>;
  readonly reading: ReadingOptions;
  readonly points: number;
  readonly pictureSize: number;
  readonly force: boolean;
  readonly json: boolean;
}

const MOST_LEAST_POINTS = 1_000_000_000;

/** Errors: invalid_argument. */
export function checkedSkeleton(raw: RawSkeletonOptions): SkeletonOptions {
  const { searchRadius, neighbors, levels, leastPoints, leastShare, points, pictureSize } = raw;
  const tuning = {
    ...(searchRadius === undefined ? {} : { search_radius: radiusOf(searchRadius) }),
    ...(neighbors === undefined
      ? {}
      : { max_neighbors: wholeNumber("--neighbors", neighbors, 1, MAX_SKELETON_NEIGHBORS) }),
    ...(levels === undefined ? {} : { quantization_levels: wholeNumber("--levels", levels, 2, MAX_SKELETON_LEVELS) }),
    ...(raw.evenLevels ? { use_nonlinear_quantization: false } : {}),
    ...(leastPoints === undefined
      ? {}
      : { threshold_filter: wholeNumber("--least-points", leastPoints, 0, MOST_LEAST_POINTS) }),
    ...(leastShare === undefined ? {} : shareOf(leastShare)),
    ...(raw.keepOutliers ? { remove_outliers: false } : {}),
    ...(raw.centroids ? { recenter: false } : {}),
  };
  return {
    out: raw.out,
    tuning,
    reading: checkedReading(raw),
    points: points === undefined ? DEFAULT_SAMPLE_POINTS : parseSamplePoints(points),
    pictureSize: pictureSize === undefined ? DEFAULT_PICTURE_PX : parsePictureSize(pictureSize),
    force: raw.force ?? false,
    json: raw.json ?? false,
  };
}

const radiusOf = (text: string): number | null => (text === "auto" ? null : parseMetres("--search-radius", text));

function shareOf(text: string) {
  const share = text.trim() === "" ? Number.NaN : Number(text);
  if (!(share >= 0 && share <= 1))
    throw new AppError("invalid_argument", `--least-share "${text}" must be a number from 0 to 1`);
  return share === 0 ? { use_proportion_filter: false } : { proportion_threshold: share };
}
