import { DENOISE_METHODS, type DenoiseMethod, NoiseCriterion } from "../../../shared/contract/pointcloud-denoise.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import type { MixedPixelParams, NoiseParams } from "../../native/classify/denoise.ts";
import * as cloud from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { repeatedWarning } from "../run/repeated-points.ts";

/** A criterion with valid parameters. */
export type CheckedCriterion = Omit<NoiseCriterion, "method"> & { readonly method: DenoiseMethod };

const MAX_COUNT = 2 ** 32 - 2;
const MAX_NEIGHBORS = 1000;
const SAMPLES = 200_000;
/** Chosen on generated plots and scans with planted noise: docs/accuracy.md. */
const CLUSTERS = {
  nb_neighbors: 16,
  link_factor: 7,
  ball_factor: 0.9,
  most_thin: 0.005,
  surface_factor: 1.4,
  cluster_points: 17,
  gap_factor: 6,
};
/** 95th percentile of the spacing over its median, up to which airborne beams are about as far apart everywhere: 2.1 to 2.3 in two scans. */
const MOST_SPREAD = 4;
/** Surfaces whose spacings differ by less (upper over lower quartile) are sampled evenly, as by a drone. */
const MOST_UNEVEN = 1.4;
/** The same for mixed pixels; angles in steps between neighbouring beams. */
const MIXED_PIXELS: MixedPixelParams = {
  max_spacing: 0.015,
  support_steps: 2.1,
  support_slope: 2.5,
  edge_steps: 1.6,
  edge_depth: 0.05,
  edge_support: 2,
  line_steps: 3,
  line_slope: 8,
  line_tolerance: 0.3,
  inconsistent_share: 0.01,
};

/** Checks all fields, also those of other methods. Errors: invalid_argument, naming the value and its rule. */
export function checkCriterion(criterion: NoiseCriterion): CheckedCriterion {
  const method = DENOISE_METHODS.find((name) => name === criterion.method);
  if (!method) {
    throw new AppError(
      "invalid_argument",
      `method "${criterion.method.slice(0, 60)}" is none of ${DENOISE_METHODS.join(", ")}`,
    );
  }
  for (const name of ["radius", "voxel", "std_ratio"] as const) {
    const value = criterion[name];
    if (value !== null && value !== undefined && !(value > 0 && Number.isFinite(value)))
      throw new AppError("invalid_argument", `${name} must be a number above 0, not ${value}`);
  }
  for (const [name, most] of [
    ["nb_points", MAX_COUNT],
    ["min_points", MAX_COUNT],
    ["nb_neighbors", MAX_NEIGHBORS],
  ] as const) {
    const value = criterion[name];
    if (value < 1 || value > most) throw new AppError("invalid_argument", `${name} must be 1 to ${most}, not ${value}`);
  }
  return { ...criterion, method };
}

const USED_BY = {
  radius: "ror",
  nb_points: "ror",
  voxel: "voxel_count",
  min_points: "voxel_count",
  nb_neighbors: "sor",
  std_ratio: "sor",
} as const satisfies Partial<Record<keyof NoiseCriterion, DenoiseMethod>>;

/** Warnings for fields of other methods. Defaults pass: the contract lets clients send every field. */
export function unusedFields(criterion: CheckedCriterion): string[] {
  const defaults = NoiseCriterion.parse({});
  const names = (Object.keys(USED_BY) as (keyof typeof USED_BY)[]).filter(
    (name) => USED_BY[name] !== criterion.method && (criterion[name] ?? null) !== defaults[name],
  );
  return names.map((name) => `${name} belongs to method ${USED_BY[name]}; it was ignored for ${criterion.method}.`);
}

/** Statistics of the distance to the nearest point at another position; null if not measured or not measurable. */
export interface Spacing {
  readonly measured: boolean;
  readonly median_m: number | null;
  readonly p95_m: number | null;
  /** Why the GPU was not used although it was requested. */
  readonly warnings: readonly string[];
}

/** Measures the spacing, except for voxel_count with a given voxel, which does not need it. */
export async function measureSpacing(
  { positions, skip }: { readonly positions: NativeColumn; readonly skip: NativeColumn | null },
  { method, voxel }: CheckedCriterion,
  device: cloud.OpOptions,
  job: Job,
): Promise<Spacing> {
  if (method === "voxel_count" && voxel !== null && voxel !== undefined)
    return { measured: false, median_m: null, p95_m: null, warnings: [] };
  const params = { max_samples: SAMPLES, seed: null };
  const { distinct_median_m, distinct_p95_m, duplicate_count, sampled_count, warnings } = await job.track(() =>
    cloud.pointSpacing(positions, skip, params, device),
  );
  const repeated = sampled_count > 0 ? duplicate_count / sampled_count : 0;
  return {
    measured: true,
    median_m: distinct_median_m,
    p95_m: distinct_p95_m,
    warnings: [
      ...warnings,
      ...(distinct_median_m === null ? [] : repeatedWarning(repeated, "noise that comes twice is not found")),
    ],
  };
}

/**
 * A length in metres from the 95th percentile of the spacing. Dense trunks dominate the median, and a length derived
 * from it would delete the tips of twigs (contract classification section 3).
 */
function automatic(times: number, { p95_m }: Spacing, unmeasurable: number): number {
  if (p95_m === null) return unmeasurable;
  const length = Math.max(MIN_LENGTH_M, times * p95_m);
  return isSparse(p95_m) ? length : Math.min(MAX_LENGTH_M, length);
}

const MIN_LENGTH_M = 0.02;
const MAX_LENGTH_M = 0.5;

/** True if the upper limit of a length would leave most points without neighbours, as in airborne scans. */
const isSparse = (p95_m: number): boolean => MAX_LENGTH_M < 1.5 * p95_m;

/** Names a derived length beyond the usual limit. */
export function sparseWarning(
  { method, ...given }: CheckedCriterion,
  { p95_m }: Spacing,
  params: NoiseParams,
): string[] {
  if (p95_m === null || !isSparse(p95_m)) return [];
  const derived = params.method === "ror" ? params.radius : params.method === "voxel_count" ? params.voxel : undefined;
  const name = method === "ror" ? "radius" : "voxel";
  if (derived === undefined || (given[name] ?? null) !== null) return [];
  return [
    `The points are ${p95_m.toFixed(2)} m apart (95th percentile), so ${name} is ${derived.toFixed(2)} m instead of at most ${MAX_LENGTH_M} m.`,
  ];
}

/**
 * Bounds of the links of `auto`. Of random points in a plane, 2^-36 are farther than six medians from their nearest
 * neighbour, and the 95th percentile is 2.08 medians (Clark & Evans 1954): so near points are always linked. The beams
 * of an airborne scan are about as far apart everywhere, so the bounds are close together there, and what lies eight
 * medians from everything is never linked, however thin the crowns below are; in scans from the ground the spacing
 * grows with the distance, and that of far twigs is many times the 95th percentile. Where nothing is thin, as in a room,
 * what lies nearer than eight medians is no noise, however densely the surfaces are sampled elsewhere. Where the 95th percentile is many
 * medians, as in a terrestrial scan of far ground or one merged with an airborne scan, the median is that of the dense part, and eight
 * of them would leave all of the rest unlinked.
 */
function linkBounds({ median_m, p95_m }: Spacing) {
  if (median_m === null || p95_m === null)
    return { min_ball_link: 0.05, most_uneven: MOST_UNEVEN, min_link: 0.05, max_link: 0.05 };
  const sparse = isSparse(p95_m);
  const min_link = 6 * median_m;
  const most = sparse && p95_m <= MOST_SPREAD * median_m ? Math.min(4 * p95_m, 8 * median_m) : 10 * p95_m;
  return {
    min_ball_link: 7.5 * median_m,
    most_uneven: sparse ? 0 : MOST_UNEVEN,
    min_link,
    max_link: Math.max(min_link, most),
  };
}

/** The parameters of the method, with derived lengths. `origins`: of the beams, one or one per row, null = not known. */
export function noiseParams(
  criterion: CheckedCriterion,
  spacing: Spacing,
  tile_points: number,
  origins: NativeColumn | null = null,
): NoiseParams {
  const { method, nb_points, min_points, nb_neighbors, std_ratio } = criterion;
  if (method === "sor") return { method, nb_neighbors, std_ratio };
  if (method === "auto")
    return { method, ...CLUSTERS, ...linkBounds(spacing), beams: origins && { ...MIXED_PIXELS, origins } };
  if (method === "ror")
    return { method, radius: criterion.radius ?? automatic(3, spacing, 0.05), nb_points, tile_points };
  return { method, voxel: criterion.voxel ?? automatic(5, spacing, 0.1), min_points, tile_points };
}
