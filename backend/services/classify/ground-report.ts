import type { GroundLayers } from "../../../shared/contract/ground-layers.ts";
import type { GroundReport, GroundResponse } from "../../../shared/contract/segment-ground.ts";
import type { AppError } from "../../../shared/errors.ts";
import type { AutoGround, ClothGround, GroundLabels, SmrfGround } from "../../native/classify/ground.ts";
import { doubtedWarnings } from "./file-ground.ts";
import type { CheckedGround, ClothPlan, GroundMeasured } from "./ground-filter.ts";
import { groundLayerWarnings } from "./ground-layers.ts";
import { groundResidualWarnings } from "./ground-residual.ts";
import type { FoundImages } from "./mirror-images.ts";

/** Rows that method auto labels differently, or why it could not be asked. */
export type ComparedGround = { readonly differing: number } | { readonly failed: string };

/** Above this share of differing labels a warning recommends method auto. */
const NOTABLE_DISAGREEMENT = 0.05;

/** Above this share of low outliers a warning follows: single echoes below the ground are rarer by far. */
const MOST_STRAYS = 0.01;

/** Above this share of the area without ground seen nearby a warning follows. */
const MOST_HIDDEN = 0.25;
/** From here on perhaps none is in the cloud: of plots of which the lowest 0.1 to 1 m were cut off 87 to 100 % are hidden. */
const MOSTLY_HIDDEN = 0.8;

/** Plants as high as this many deviations of the noise stand out: nine in ten of their returns lie 3 above the ground. */
const STANDS_OUT = 4.3;

/** Metres: if plants of this height do not stand out of the noise, a warning follows. */
const LOW_PLANTS = 0.25;

/** Labels and what the report needs to know about their run. */
export type FoundGround =
  | { readonly method: "cloth"; readonly found: ClothGround; readonly plan: ClothPlan }
  | {
      readonly method: "smrf";
      readonly found: SmrfGround;
      readonly params: (CheckedGround & { method: "smrf" })["params"];
    }
  | { readonly method: "auto"; readonly found: AutoGround }
  | {
      readonly method: "las_classification";
      readonly found: GroundLabels;
      readonly ground_classes: readonly number[];
    };

/** What was looked for beside the ground. */
interface Beside {
  readonly images: FoundImages;
  readonly layers: GroundLayers | null;
  /** See groundResidualOf. */
  readonly residual_m: number | null;
}

type OfMethod = Pick<
  GroundReport,
  | "class_threshold_used"
  | "class_threshold_method"
  | "params_used"
  | "params_derived"
  | "point_spacing_m"
  | "steepness"
  | "tiled"
  | "warnings"
>;

/** The report on ground labels in an answer. `compared`: null if they were not compared with method auto. */
export function groundReport(
  ground: FoundGround,
  compared: ComparedGround | null,
  measured: GroundMeasured,
  { images, layers, residual_m }: Beside,
  hits: number,
  elapsed_s: number,
): GroundReport {
  const { num_ground, num_plant, low_outliers }: GroundLabels = ground.found;
  const non_finite = hits - measured.finite_count;
  const of = ofMethod(ground, measured);
  const { auto_disagreement, warnings: onAuto } = disagreement(compared, ground);
  const warnings = [
    ...groundLayerWarnings(layers, "ground"),
    ...images.warnings,
    ...of.warnings,
    ...onAuto,
    ...groundResidualWarnings(residual_m, { num_ground, extent: measured.extent }),
  ];
  const strays = low_outliers / Math.max(1, measured.finite_count);
  if (strays > MOST_STRAYS) {
    warnings.push(
      `${low_outliers} points (${(100 * strays).toFixed(1)} %) lie below the surface and were left out as low outliers, more than stray returns explain: check the ground in a profile, or remove noise first (denoise).`,
    );
  }
  const hidden_ground = ground.method === "auto" ? ground.found.hidden_share : null;
  if (hidden_ground !== null && hidden_ground > MOST_HIDDEN) {
    warnings.push(
      `In ${(100 * hidden_ground).toFixed(0)} % of the area the ground was hardly seen: there is no layer of ground returns within 1 m. Points labelled ground there may be low plants, and a terrain model may be too high; check it in a profile.${hidden_ground > MOSTLY_HIDDEN ? " If the vegetation alone was kept in this cloud, it has no ground: heights then begin at its lowest points. Take the cloud with its ground." : ""}`,
    );
  }
  const ground_noise_m = ground.method === "auto" ? ground.found.noise_m : null;
  if (ground_noise_m !== null && STANDS_OUT * ground_noise_m > LOW_PLANTS) {
    warnings.push(
      `The returns of bare ground scatter by ${(100 * ground_noise_m).toFixed(1)} cm (standard deviation). Plants lower than ${(STANDS_OUT * ground_noise_m).toFixed(2)} m do not stand out of that noise; some of their points are labelled ground.`,
    );
  }
  if (non_finite > 0) warnings.push(`${non_finite} points have no finite coordinates; they are labelled plant.`);
  if (num_ground === 0) warnings.push("No point was labelled ground; check the class threshold and the up axis (z).");
  return {
    num_ground,
    num_plant: num_plant + images.left_out,
    non_finite,
    low_outliers,
    ground_layers: layers,
    mirrors: images.mirrors.map(({ x, y, ...mirror }) => ({ ...mirror, x: [...x], y: [...y] })),
    hidden_ground,
    ground_noise_m,
    ground_residual_m: residual_m,
    method: ground.method,
    ...of,
    frame: ground.method === "auto" ? copyOf(ground.found.frame) : null,
    auto_disagreement,
    warnings,
    elapsed_s,
  };
}

const copyOf = ({ origin, slope, ...rest }: AutoGround["frame"]): NonNullable<GroundReport["frame"]> => ({
  ...rest,
  origin: [...origin],
  slope: [...slope],
});

function ofMethod(ground: FoundGround, measured: GroundMeasured): OfMethod {
  if (ground.method === "cloth") return clothReport(ground.found, ground.plan, measured);
  if (ground.method === "smrf") {
    return {
      class_threshold_used: ground.params.elevation_threshold,
      class_threshold_method: "manual",
      params_used: { ...ground.params },
      params_derived: [],
      point_spacing_m: null,
      steepness: null,
      tiled: null,
      warnings: [],
    };
  }
  if (ground.method === "las_classification")
    return {
      ...{ class_threshold_used: null, class_threshold_method: null, params_used: {}, params_derived: [] },
      ...{ point_spacing_m: null, steepness: null, tiled: null, warnings: [] },
    };
  ground.method satisfies "auto";
  const { point_spacing_m, ...params } = ground.found.derived;
  return {
    class_threshold_used: params.class_threshold,
    class_threshold_method: "derived",
    params_used: params,
    params_derived: Object.keys(params),
    point_spacing_m,
    steepness: null,
    tiled: null,
    warnings: [],
  };
}

function disagreement(
  compared: ComparedGround | null,
  { method, found: { num_ground, num_plant } }: FoundGround,
): Pick<GroundReport, "auto_disagreement" | "warnings"> {
  if (!compared) return { auto_disagreement: null, warnings: [] };
  if ("failed" in compared) {
    return { auto_disagreement: null, warnings: [`The labels were not compared with method auto: ${compared.failed}`] };
  }
  const share = compared.differing / Math.max(1, num_ground + num_plant);
  if (method === "las_classification") return { auto_disagreement: share, warnings: doubtedWarnings(share) };
  if (share <= NOTABLE_DISAGREEMENT) return { auto_disagreement: share, warnings: [] };
  const percent = (100 * share).toFixed(1);
  return {
    auto_disagreement: share,
    warnings: [
      `Method auto labels ${percent} % of the points differently; a cloth loses ground on slopes and edges, and keeps wide or dense objects, if its parameters do not fit the cloud. Compare with method auto.`,
    ],
  };
}

function clothReport(
  found: ClothGround,
  { params, derived, too_fine }: ClothPlan,
  { extent, measures }: GroundMeasured,
): OfMethod {
  const { want_heights: _, tile_min_points: __, tile_target_points: ___, ...used } = params;
  const { class_threshold_method: how, tiled } = found;
  const warnings = [...found.warnings];
  if (too_fine !== null) {
    warnings.push(
      `The point spacing suggests a cloth resolution of ${too_fine} m, but an extent of ${Math.max(...extent).toFixed(1)} m allows ${params.cloth_resolution} m at best, which may be too coarse for the ground. Remove stray points (denoise) or segment parts of the cloud.`,
    );
  }
  if (!found.settled) {
    warnings.push(
      `The cloth was still moving after ${params.iterations} iterations; more iterations may change the labels.`,
    );
  }
  if (how === "fallback") {
    warnings.push(
      `The class threshold could not be measured; ${found.class_threshold_used} m was used, the value of class_threshold.`,
    );
  }
  const isDerived = how === "manual" && derived.includes("class_threshold");
  const isMeasured = how === "knee" || how === "tail";
  return {
    class_threshold_used: found.class_threshold_used,
    class_threshold_method: isDerived ? "derived" : tiled && isMeasured ? "auto (sampled)" : how,
    params_used: used,
    params_derived: [...derived],
    point_spacing_m: measures?.point_spacing_m ?? null,
    steepness: measures?.steepness ?? null,
    tiled: tiled && { ...tiled, grid: [...tiled.grid] },
    warnings,
  };
}

/** The answer of a flat request that failed. */
export const failedGround = ({ code, message }: AppError, { method }: CheckedGround): GroundResponse => ({
  success: false,
  labels: [],
  num_points: 0,
  num_ground: 0,
  num_plant: 0,
  non_finite: 0,
  low_outliers: 0,
  ground_layers: null,
  mirrors: [],
  hidden_ground: null,
  frame: null,
  ground_noise_m: null,
  ground_residual_m: null,
  class_threshold_used: null,
  class_threshold_method: null,
  method,
  auto_disagreement: null,
  params_used: {},
  params_derived: [],
  point_spacing_m: null,
  steepness: null,
  tiled: null,
  warnings: [],
  elapsed_s: 0,
  error: message,
  code,
});
