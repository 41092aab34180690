import type { TreesReport, TreeTiling } from "../../../shared/contract/segment-trees.ts";
import type { CanopyCrowns, FoundTrees } from "../../native/trees.ts";
import type { TreesPlan } from "./tree-plan.ts";

/** Standard deviation of the smoothing of cpp/ops/trees/canopy_model.h, cells. */
const SMOOTH_SIGMA = 1;

const NAMED = 10;
/** Crowns with fewer points on average are hardly crowns of their own. */
const FEW_CROWN_POINTS = 25;
/** Fewer crowns say nothing about the scale, nor about what they hide. */
const SEVERAL_CROWNS = 10;
/** Part of the tops that hardly rise above a crown beside them from which they are told. */
const TOLD_SHALLOW = 0.3;
/** Part of the outlines along other crowns from which trees are hidden. */
const TOLD_TOUCHING = 0.3;

/** cpp/ops/trees/path_constants.h: plants that are this high are trees, also where they touch. */
const CARPET_HEIGHT_M = 1.3;
/** The same of plants that stand alone. */
const LEAST_HEIGHT_M = 0.7;
/** Less is not worth a word. */
const LEAST_CARPET_M2 = 5;

/** Where trees of less of the canopy have a stem, the cloud does not suit cheapest paths. */
const LEAST_ON_STEMS = 0.25;

type Report = Omit<TreesReport, "elapsed_s">;
type ChmRun = Extract<TreesPlan, { readonly chm: unknown }>;
type GraphRun = Exclude<TreesPlan, ChmRun>;

const common = ({ input }: TreesPlan) => ({
  ground_warning: input.ground === null,
  non_finite: input.non_finite_count,
});

/** The report on crowns found in a canopy height model. */
export function chmReport(plan: ChmRun, found: CanopyCrowns): Report {
  const { cell_m, min_height_m, crown_scale_m } = plan.chm.params;
  return {
    ...common(plan),
    num_trees: found.num_trees,
    method: "chm",
    fusion_warning: null,
    chm: {
      method: "chm",
      cell: cell_m,
      min_height: min_height_m,
      crown_scale: crown_scale_m,
      smooth_sigma: SMOOTH_SIGMA,
      ground_source: found.ground_given ? "ground_class" : "lowest_return",
      num_trees: found.num_trees,
    },
    params: { chm_cell: cell_m, chm_min_height: min_height_m, chm_crown_scale: crown_scale_m },
    warnings: [
      ...plan.warnings,
      ...plan.chm.warnings,
      ...scaleWarnings(found, crown_scale_m),
      ...touchWarnings(found),
      ...(plan.input.seeds ? [] : limbWarnings(found, crown_scale_m)),
      ...(found.num_trees === 0 ? [noCrowns(min_height_m)] : []),
      ...seedWarnings(found.empty_seeds),
    ],
  };
}

const noCrowns = (min_height_m: number): string =>
  `No tree was found: method chm looks for canopy more than chm_min_height (${min_height_m} m) above the ground. For lower plants send a smaller one, with the width of the smaller plants as chm_crown_scale.`;

/** A sentence if the crown scale is too fine for the density of the points. */
function scaleWarnings({ num_trees, crown_points }: CanopyCrowns, scale: number): string[] {
  const mean = crown_points / num_trees;
  if (num_trees < SEVERAL_CROWNS || mean >= FEW_CROWN_POINTS) return [];
  return [
    `Crowns have only ${mean.toFixed(1)} points on average, so chm_crown_scale ${scale} m is small for these points and may split crowns; give the width of the smaller crowns.`,
  ];
}

/**
 * A sentence if many tops hardly rise above crowns beside them. Seen from above, limbs of broad crowns look like that, and
 * trees of closed canopies, too: of generated stands with a precision of .91 and more 0 to 27 %, of the six plots 61 to 77 %.
 */
function limbWarnings({ num_trees, shallow }: CanopyCrowns, scale: number): string[] {
  if (num_trees < SEVERAL_CROWNS || shallow < TOLD_SHALLOW * num_trees) return [];
  return [
    `Of ${num_trees} treetops ${shallow} rise less than 5 % of their height above the saddle to a higher one beside them: each is the top of a tree or a limb of a broad crown, which method chm cannot tell; without them there are ${num_trees - shallow}. Where crowns are wider than chm_crown_scale ${scale} m, send their width. On six airborne plots of broadleaved forest, where 140 crowns were drawn in the field, it finds 331 trees with 2.5 m and 142 with 4 m.`,
  ];
}

/** A sentence if crowns are so close that trees hide under others. */
function touchWarnings({ num_trees, touching }: CanopyCrowns): string[] {
  if (num_trees < SEVERAL_CROWNS || touching < TOLD_TOUCHING) return [];
  return [
    `Crowns touch along ${(100 * touching).toFixed(0)} % of their outlines: method chm finds trees whose tops are seen from above, and those under others or close beside them are not in the list. Of the trees of generated stands of mixed sizes whose crowns touch along 33 to 51 %, it found 47 to 68 %, not counting an understorey; in rows, 95 %.`,
  ];
}

/** The report on a cut-pursuit segmentation or on cheapest paths. */
export function graphReport(
  plan: GraphRun,
  found: FoundTrees,
  fusion: { readonly fused: number; readonly implied: number },
): { readonly report: Report; readonly tiling: TreeTiling } {
  const voxels = voxelsOf(plan, found);
  const { tiled, stage1_collapsed, num_trees } = found;
  const report = {
    ...common(plan),
    num_trees,
    method: plan.filter.method,
    fusion_warning: fusionText(fusion, num_trees, plan.filter.method === "default" && !plan.input.seeds),
    chm: null,
    params: "params" in plan ? { ...plan.params, ...voxels } : { node_m: voxels.decimate_res1, ...trunksOf(found) },
    warnings: [
      ...plan.warnings,
      ...runWarnings(found, plan.input),
      ...(plan.filter.method === "auto" && !plan.input.seeds ? lowWarnings(found) : []),
      ...seedWarnings(found.empty_seeds),
    ],
  };
  const grid = tiled && ([tiled.grid[0], tiled.grid[1]] as [number, number]);
  return tiled && grid
    ? {
        report,
        tiling: {
          tiled: true,
          ...tiled,
          grid,
          trees_kept: num_trees,
          workers: 1,
          nodes: "params" in plan ? plan.nodes : (found.nodes ?? 0),
          ...voxels,
        },
      }
    : { report, tiling: { tiled: false, stage1_collapsed } };
}

const trunksOf = ({ trunks }: FoundTrees) =>
  trunks ? { trunk_layer_min_m: trunks.min_m, trunk_layer_max_m: trunks.max_m } : {};

function voxelsOf(plan: GraphRun, { node_m, decimate_res1, decimate_res2 }: FoundTrees) {
  if (!("params" in plan)) return { decimate_res1: node_m ?? 0, decimate_res2: node_m ?? 0 };
  const { params } = plan;
  return {
    decimate_res1: decimate_res1 ?? params.decimate_res1,
    decimate_res2: decimate_res2 ?? params.decimate_res2,
  };
}

function runWarnings({ tiled, stage1_collapsed, high, carpet }: FoundTrees, { seeds }: GraphRun["input"]): string[] {
  const cut = tiled?.trees_truncated ?? 0;
  return [
    ...(carpet ? carpetWarnings(carpet) : []),
    ...(high && !seeds ? stemWarnings(high) : []),
    ...(stage1_collapsed
      ? ["Stage 1 gave one segment; other voxels were tried, and params has those of the result. Give seed_points."]
      : []),
    ...(cut > 0
      ? [
          `${cut} trees may have been cut at the edge of a tile; repeat with a tile_buffer_m above ${tiled?.buffer_m} m.`,
        ]
      : []),
  ];
}

/** A sentence if low plants cover the ground so that none can be told from the next. */
function carpetWarnings({ area_m2, point_count }: NonNullable<FoundTrees["carpet"]>): string[] {
  if (area_m2 < LEAST_CARPET_M2) return [];
  return [
    `Plants below ${CARPET_HEIGHT_M} m cover about ${Math.round(area_m2)} m² without a gap between them: about ${point_count} points of them belong to no tree.`,
  ];
}

/** A sentence if no plant is high enough for stems to tell trees apart. */
function lowWarnings({ num_trees, high }: FoundTrees): string[] {
  if (high?.count !== 0) return []; // stemWarnings speaks of higher ones
  if (num_trees === 0)
    return [
      `No tree was found: for method auto plants below ${LEAST_HEIGHT_M} m are no trees, nor are plants below ${CARPET_HEIGHT_M} m that cover the ground without a gap.`,
    ];
  return [
    "No plant is higher than 2 m: method auto tells trees apart by their stems, and plants this low only by the gaps between them, so that several which touch are one. Give seed_points where each plant is known.",
  ];
}

/** A sentence if too few stems were seen for paths to start at, as from the air. */
function stemWarnings({ count, of_stems, without_tree }: NonNullable<FoundTrees["high"]>): string[] {
  if (count === 0 || of_stems >= LEAST_ON_STEMS * count) return [];
  const percent = (points: number) => `${((100 * points) / count).toFixed(1)} %`;
  return [
    `Too few stems were seen for method auto: of the points more than 2 m above the ground, ${percent(of_stems)} belong to trees with a stem and ${percent(without_tree)} to no tree. If the cloud was seen from the air, use method chm; otherwise give seed_points.`,
  ];
}

function fusionText(
  { fused, implied }: { fused: number; implied: number },
  trees: number,
  may_be_auto: boolean,
): string | null {
  if (fused === 0) return null;
  const which = fused === 1 ? "1 tree holds" : `${fused} trees hold`;
  return `${which} more than one stem: there are probably at least ${implied} trees instead of ${trees}. ${may_be_auto ? "Use method auto, which begins at the stems, give" : "Give"} seed_points, or remove undergrowth.`;
}

/** A sentence that names the seeds without points. */
function seedWarnings(empty: readonly number[]): string[] {
  if (empty.length === 0) return [];
  const named = empty.slice(0, NAMED).map((index) => index + 1);
  const more = empty.length > named.length ? ` and ${empty.length - named.length} more` : "";
  const which = empty.length === 1 ? "tree of seed" : "trees of seeds";
  return [`No points belong to the ${which} ${named.join(", ")}${more} (counted from 1).`];
}
