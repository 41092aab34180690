import type { DetectStemsRequest, DetectStemsResponse } from "../../../shared/contract/cloud-session/detect-stems.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/stems.ts";
import { type CloudSession, type CloudState, requireUnchanged } from "../../sessions/cloud-session.ts";
import { unclassifiedWarnings } from "../classify/ground-gaps.ts";
import { noiseWarnings } from "../classify/noise-rows.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { coarseWarnings } from "./coarse-coordinates.ts";
import { treeHits } from "./tree-noise.ts";

/** Also the `tool` of the endpoint. */
export const STEMS_TOOL = "Stem detection";

const HIGHEST_BAND_M = 1000;
const LEAST_DIAMETER_M = 0.04;
const PHASES = [
  { name: "Selecting the layer", weight: 2 },
  { name: "Clustering the layer", weight: 3 },
  { name: "Finding stems", weight: 5 },
];

/** Errors: invalid_argument for a band or a diameter out of order. */
export function checkStems({ band_min_m, band_max_m, max_diameter_m }: DetectStemsRequest): void {
  if (band_min_m < 0 || band_max_m > HIGHEST_BAND_M || band_min_m >= band_max_m) {
    throw new AppError(
      "invalid_argument",
      `band_min_m ${band_min_m} must be 0 or more and below band_max_m ${band_max_m}, which must be at most ${HIGHEST_BAND_M}`,
    );
  }
  if (max_diameter_m <= LEAST_DIAMETER_M) {
    throw new AppError(
      "invalid_argument",
      `max_diameter_m ${max_diameter_m} must be above ${LEAST_DIAMETER_M}, the diameter of the thinnest stem`,
    );
  }
}

const NOISE_EFFECT = ["belongs to no stem", "belong to no stem"] as const;
const UNCLASSIFIED_EFFECT = "Their heights above the ground may be unknown too, so stems among them are not found.";

function heightsOf(state: CloudState) {
  const heights = optionalExtra(state, "height_above_ground");
  if (heights) return heights;
  throw new AppError(
    "invalid_argument",
    "The cloud has no column height_above_ground: run Generate DEM with height above ground first (POST dem with add_height_column true)",
  );
}

/**
 * Finds the stems that cross a layer of a session; writes nothing.
 * Errors: invalid_argument without heights; conflict if the cloud changed meanwhile.
 */
export function detectStems(
  session: CloudSession,
  request: DetectStemsRequest,
  deps: Deps,
  job: Job,
): Promise<DetectStemsResponse> {
  const { band_min_m, band_max_m, max_diameter_m, skip_noise } = request;
  const params = { band_min_m, band_max_m, max_diameter_m };
  return session.read(job, async (base) => {
    const heights = heightsOf(base);
    const { skip, hit_count, noise_count } = await treeHits(base, skip_noise, job.quiet());
    const positions = positionsColumn(base);
    const ground = optionalExtra(base, "ground_class");
    const bytes = 8 * positions.length + 32 * hit_count + native.stemDetectionBytes(hit_count);
    return deps.admission.run(job, STEMS_TOOL, bytes, async () => {
      job.stage("Detecting stems", 0, 1, PHASES);
      const found = await job.track(() => native.detectStems(positions, skip, heights, ground, params));
      requireUnchanged(base, session.state);
      const { layer_points, clusters, rejected } = found;
      const unclassified = await unclassifiedWarnings(ground, skip, UNCLASSIFIED_EFFECT, job);
      const coarse = found.stems.length > 0 ? await coarseWarnings(positions, skip, job) : [];
      const warnings = [
        ...noiseWarnings(noise_count, NOISE_EFFECT),
        ...unclassified,
        ...coarse,
        ...columnWarnings(found),
        ...besideWarnings(found),
        ...(found.stems.length > 0 ? whyFew(found) : [whyNone(found, hit_count, request)]),
      ];
      return {
        session_id: session.id,
        seeds: found.stems.map(seedOf),
        layer_points,
        clusters,
        rejected,
        params,
        warnings,
      };
    });
  });
}

const seedOf = ({ position: [x, y, z], radius_m, n_inliers, arc_coverage, has_two_columns }: native.FoundStem) => ({
  x,
  y,
  z,
  radius_m,
  n_inliers,
  arc_coverage,
  radius_unknown: has_two_columns,
});

/** Share of the stems, and number, from which it is told. */
const TOLD_BESIDE = 0.05;
const FEWEST_BESIDE = 3;

/** Stems that the rule of 0.3 m leaves out, although they are stems of their own. */
function besideWarnings({ stems, beside }: native.FoundStems): string[] {
  if (beside < FEWEST_BESIDE || beside < TOLD_BESIDE * stems.length) return [];
  return [
    `${beside} stems beside the ${stems.length} that were found stand closer than 0.3 m to one with more points without touching it, as culms of bamboo and stems of coppice do: by rule they are left out (rejected.merged). segment_trees with method auto makes trees of them.`,
  ];
}

const metres = (value: number) => `${Number(value.toFixed(2))} m`;

/** What most clusters without a stem lack, and what helps. */
const REASONS: Readonly<Record<native.StemRejection, string>> = {
  few_points:
    "have fewer than 20 points. The cloud is too sparse at this height: search a thicker layer (raise band_max_m), or find trees by their crowns (segment_trees with method chm)",
  too_wide:
    "are wider than max_diameter_m and have no part that is a stem. Search a layer above the shrubs (raise band_min_m and band_max_m), or raise max_diameter_m",
  not_upright:
    "do not reach through the layer, as grass and shrubs. Search a layer above them (raise band_min_m and band_max_m)",
  no_circle:
    "have no circle of a stem. Search a layer where the stems are free of branches (change band_min_m and band_max_m), or raise max_diameter_m",
  high_residual:
    "have points that scatter around the best circle, as leaves do, or stems where ranges are noisy. Search a layer where the stems are free of branches (change band_min_m and band_max_m)",
  few_inliers:
    "have hardly more points on the best circle than around it, as leaves do, or stems where ranges are noisy. Search a layer where the stems are free of branches (change band_min_m and band_max_m)",
  halves_differ:
    "have a lower and an upper half that are not on one axis. Search a thinner layer where the stems are straight (change band_min_m and band_max_m)",
  merged: "stand in the place of another stem",
};

/** Fewer of them may be shrubs. */
const FEWEST_SCATTERED = 3;

/** More clusters with points around their best circle than stems: of noisy ranges a few stems may pass, with wrong circles. */
function whyFew({ stems, rejected }: native.FoundStems): string[] {
  const scattered = rejected.high_residual + rejected.few_inliers;
  if (scattered < FEWEST_SCATTERED || scattered <= stems.length) return [];
  return [
    `Beside ${stems.length === 1 ? "1 stem" : `${stems.length} stems`} there are ${scattered} clusters whose points scatter around their best circle, as leaves do, or stems where ranges are noisy or scans do not fit each other: then stems are missing, and circles that were found may be wrong.`,
  ];
}

/** Stems of which only two columns of points were seen: nothing tells how far they bulge between them. */
function columnWarnings({ stems }: native.FoundStems): string[] {
  const count = stems.filter(({ has_two_columns }) => has_two_columns).length;
  if (count === 0) return [];
  const which = count === 1 ? "1 stem is seen" : `${count} stems are seen`;
  return [
    `${which} in two columns of points alone (radius_unknown), as a scan has them on thin or far stems: such radii say little, those of generated stands were half of the true ones and less. tree_inventory measures diameters along more of the stem.`,
  ];
}

/** Why there is no stem, and what to do. */
function whyNone(found: native.FoundStems, hits: number, { band_min_m, band_max_m }: DetectStemsRequest): string {
  const layer = `between ${metres(band_min_m)} and ${metres(band_max_m)} above the ground`;
  const { lowest_height, highest_height, clusters, rejected } = found;
  if (hits === 0)
    return "No stem was found: the cloud has no points. Undo the deletion of its points, or open another cloud.";
  if (lowest_height === null || highest_height === null) {
    return "No stem was found: no point that is not ground has a height above the ground. Generate the DEM with height above ground again.";
  }
  if (found.layer_points === 0) {
    const range = `The heights of the points that are not ground range from ${metres(lowest_height)} to ${metres(highest_height)}`;
    return `No stem was found: no point that is not ground lies ${layer}. ${range}: choose band_min_m and band_max_m among them, or generate the DEM with height above ground again if they are wrong.`;
  }
  const [most] = native.STEM_REJECTIONS.toSorted((a, b) => rejected[b] - rejected[a]);
  const reason = most ?? "no_circle";
  return `No stem was found: ${rejected[reason]} of ${clusters} clusters of points ${layer} ${REASONS[reason]}.`;
}
