import type { NoiseReport } from "../../../shared/contract/pointcloud-denoise.ts";
import {
  OVER_REMOVAL_FRACTION,
  OVER_REMOVAL_WARNING_FRACTION,
  TREE_METHOD_WARNING_POINTS,
} from "../../../shared/limits.ts";
import type { MixedPixels, NoiseLabels, NoiseParams } from "../../native/classify/denoise.ts";
import { type CheckedCriterion, type Spacing, sparseWarning, unusedFields } from "./noise-criterion.ts";

/** True if mixed pixels were looked for. */
const isSearched = ({ consistent, moving, step_rad }: MixedPixels) => consistent && !moving && step_rad > 0;

/** Parameters by name; those for mixed pixels only if these were looked for. */
function numbersOf(params: NoiseParams, mixed: MixedPixels | null): Record<string, number> {
  const beams = params.method === "auto" && mixed && isSearched(mixed) ? params.beams : null;
  const all = { ...params, ...beams, ...(beams && mixed ? { beam_step_rad: mixed.step_rad } : {}) };
  const numbers = Object.entries(all).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  return Object.fromEntries(numbers.filter(([name]) => name !== "tile_points"));
}

/** Why mixed pixels were not looked for, everywhere or at some points. */
function mixedPixelWarnings(mixed: MixedPixels, max_spacing: number): string[] {
  const { step_rad, moving, consistent, inconsistent_share, unknown_count, coarse_count } = mixed;
  const none = "Mixed pixels were not looked for:";
  if (!(step_rad > 0)) return [`${none} the angle between the beams could not be measured from their origins.`];
  if (moving) return [`${none} the scanner moved (more than 256 beam origins).`];
  if (!consistent) {
    return [
      `${none} ${(100 * inconsistent_share).toFixed(1)} % of the points contradict the beam origins, as if they were seen from another place.`,
    ];
  }
  const warnings: string[] = [];
  if (unknown_count > 0) warnings.push(`${none.slice(0, -1)} among ${unknown_count} points without a beam origin.`);
  if (coarse_count > 0)
    warnings.push(
      `${none.slice(0, -1)} among ${coarse_count} points where the beams are more than ${max_spacing} m apart: things thinner than that look the same.`,
    );
  return warnings;
}

/** What a run of a method found. */
interface Finding {
  readonly criterion: CheckedCriterion;
  readonly found: NoiseLabels;
  readonly params: NoiseParams;
  readonly spacing: Spacing;
  readonly elapsed_s: number;
  readonly previously_denoised: boolean;
}

/** The report on noise labels in an answer. */
export function noiseReport({
  criterion,
  found,
  params,
  spacing,
  elapsed_s,
  previously_denoised,
}: Finding): NoiseReport {
  const { analyzed_count, flagged_count: flagged, non_finite_count: non_finite, plan, mixed_pixels } = found;
  const { method } = params;
  const beams = params.method === "auto" ? params.beams : null;
  const fraction = analyzed_count > 0 ? flagged / analyzed_count : 0;
  const over_removal = fraction > OVER_REMOVAL_FRACTION;
  const warnings = [
    ...new Set([
      ...unusedFields(criterion),
      ...spacing.warnings,
      ...found.warnings,
      ...sparseWarning(criterion, spacing, params),
      ...(mixed_pixels && beams ? mixedPixelWarnings(mixed_pixels, beams.max_spacing) : []),
    ]),
  ];
  if (fraction > OVER_REMOVAL_WARNING_FRACTION) {
    const milder = {
      ror: "a larger radius",
      voxel_count: "a larger voxel",
      sor: "a larger std_ratio",
      auto: "ror with a larger radius",
    }[method];
    warnings.push(
      `${(100 * fraction).toFixed(1)} % of the points are labelled noise; scanner noise is 0.1 to 3 %. Try ${milder} before you remove them.`,
    );
  }
  if (method !== "voxel_count" && analyzed_count > TREE_METHOD_WARNING_POINTS) {
    warnings.push(
      `${method} sorts all ${analyzed_count} points into a tree; above ${TREE_METHOD_WARNING_POINTS / 1e6} M points, voxel_count takes a fraction of the time.`,
    );
  }
  if (non_finite > 0) warnings.push(`${non_finite} points have no finite coordinates; they are labelled noise.`);
  if (method === "sor" && previously_denoised) {
    warnings.push(
      "Noise was removed or labelled here before: sor takes more points with every pass, fine twigs first.",
    );
  }
  if (spacing.measured && spacing.p95_m === null && method !== "sor")
    warnings.push(
      "All points have the same position, so their spacing could not be measured; fixed lengths were used instead.",
    );
  return {
    flagged,
    kept: analyzed_count - flagged,
    fraction,
    non_finite,
    over_removal,
    warnings,
    method,
    params_used: numbersOf(params, mixed_pixels),
    spacing_m: spacing.median_m,
    spacing_p95_m: spacing.p95_m,
    elapsed_s,
    stats: {
      ...(plan ? { tiled: { ...plan, grid: [...plan.grid] } } : {}),
      ...(mixed_pixels
        ? {
            mixed_pixels: {
              searched: isSearched(mixed_pixels),
              flagged: mixed_pixels.labelled_count,
              not_judged: mixed_pixels.unknown_count + mixed_pixels.coarse_count,
              inconsistent_share: mixed_pixels.inconsistent_share,
            },
          }
        : {}),
    },
  };
}
