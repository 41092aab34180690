/** Fields of the API and the options of the command line that set them. */
const OPTIONS: Readonly<Record<string, string>> = {
  source_units: "--units",
  world_shift: "--shift",
  ascii_format: "--columns",
  column_plan: "--columns",
  scalar_filters: "--filter",
  cell_size: "--cell",
  max_correspondence_distance: "--max-distance",
  leaf_intensity: "--leaf-intensity",
  min_voxel_hits: "--min-hits",
  element_width: "--leaf-width",
  radius_model: "--radius-model",
  search_radius: "--search-radius",
  quantization_levels: "--levels",
  max_neighbors: "--neighbors",
  threshold_filter: "--least-points",
  proportion_threshold: "--least-share",
  min_dbh_cm: "--min-dbh",
  breast_height_m: "--breast-height",
  plot_area_m2: "--plot-area",
  wood_density: "--wood-density",
  max_iterations: "--iterations",
  normal_radius: "--normal-radius",
  normal_max_nn: "--normal-neighbors",
  scan_column: "--scan-column",
};

/** Sentences of the service that no change of single words turns into those of the command line. */
const SENTENCES: readonly (readonly [from: string | RegExp, to: string])[] = [
  ["Import with source_units", "Use --units"],
  ["enter the plot area", "give --plot-area"],
  [/ Try [^.]* before you remove them\./g, " None was removed; --no-denoise leaves the labels out."],
  ["within max_iterations", "within --max-iterations"],
  [/\binitial: (auto|centroid)\b/g, "--initial $1"],
  [
    "run Backfill Misses first, or re-import a format that keeps misses",
    "give files that keep misses, such as PTX, E57 or a table with is_miss; scan writes them with --misses",
  ],
  [
    /Extract them by the column scan_index [^.]* own origin\./g,
    "Give each scan as a file of its own, with --origin, or an E57 file, which holds the positions.",
  ],
  [
    "run Backfill Misses first, which places them by their rows and columns",
    "give files whose points have rows and columns, from which lad places them",
  ],
  [
    "Raise the columns onto a terrain (terrain_follow with dem), or let the grid begin above the ground",
    "To raise the columns onto it, leave out --level, or let --box begin above the ground",
  ],
  [/ \((?:filled|occluded)_leaf_area\)/g, ""],
  ["not part of total_leaf_area,", "not part of the leaf area,"],
  ["without wood_split total_leaf_area is plant area", "without --wood the leaf area is plant area"],
  [" % (element_gain);", " %;"],
  ["Send their width if they are narrower", "Give their width if they are narrower"],
  [
    "Label the wood (segment_wood) and send wood_split to leave it out",
    "Label the points (npm start -- wood) and give --wood to leave it out",
  ],
  [" % of total_leaf_area;", " % of the leaf area;"],
  ["send gtheta_override with gtheta_per_beam", "give --g"],
  ["send gtheta_override", "give --g"],
  ["use gtheta_override", "give --g"],
  ["Use gtheta_override", "Give --g"],
  [" Send gtheta_per_beam to give each beam its own G.", ""],
  ["Send gtheta_spec with a distribution", "Give a distribution as --g"],
  [
    "send return_type multi, with return_weights energy if its intensities are linear",
    "give --multi, with --leaf-intensity if its intensities are linear",
  ],
  ["Send return_weights energy with leaf_intensity of each scan if its", "Give --leaf-intensity if the"],
  ["return_weights energy needs leaf_intensity of", "--leaf-intensity is needed for"],
  ["return_weights energy needs", "--leaf-intensity needs"],
  [/\blmax (?=[\d.]+ m and max_aspect_ratio)/g, "--lmax "],
  [", or max_aspect_ratio if the hits are much farther apart in one direction", ""],
  ["Raise lmax,", "Raise --lmax,"],
  [
    "search a thicker layer (raise band_max_m), or find trees by their crowns (segment_trees with method chm)",
    "find trees by their crowns (--method chm)",
  ],
  [/ \(chm_crown_scale \/ 12\), because/g, ", because"],
  [
    /, so chm_crown_scale ([\d.]+ m) is (.*?); give the width of the smaller crowns/g,
    ", so a crown width of $1 is $2; give that of the smaller crowns as --crown-width",
  ],
  [/ wider than chm_crown_scale ([\d.]+ m), send their width\./g, " wider than $1, give their width as --crown-width."],
  [/bbox \[[^\]]*\] has no area: send [^.]*\./g, "seen from above, the points have no area."],
  [
    ": by rule they are left out (rejected.merged). segment_trees with method auto makes trees of them.",
    ": they are not counted as stems; method auto makes trees of them.",
  ],
  [" skipped (min_points).", " skipped."],
  ["Give seed_points, or remove undergrowth.", "Remove undergrowth."],
  [
    "Use method auto, which begins at the stems, give seed_points, or remove undergrowth.",
    "Use --method auto, which begins at the stems, or remove undergrowth.",
  ],
  ["use method chm; otherwise give seed_points.", "use --method chm."],
  [/ chm_min_height \(([\d.]+ m)\) above the ground\. For lower plants send [^.]*\./g, " $1 above the ground."],
  [" Give seed_points where each plant is known.", ""],
  [": segment the trees again with method auto or with seed_points.", "; use --method auto, or remove undergrowth."],
  [/ Search a (?:thinner )?layer [^.]*\(change band_min_m and band_max_m\)(?:, or raise max_diameter_m)?\./g, ""],
  [/ Search a layer [^.]*\(raise band_min_m and band_max_m\)(?:, or raise max_diameter_m)?\./g, ""],
  [
    "a LAS file holds at most 341. Choose fewer columns",
    "a LAS file holds at most 341; analyze --format pcd keeps all",
  ],
  [
    / the terrain( below it)?, whose cells have percentile ([\d.]+) of their heights \(ground_percentile\)\. (.*); 50 takes the middle\./g,
    " the terrain$1, whose cells have percentile $2 of their heights. $3.",
  ],
  ["; scan_heights has all.", "."],
  [" m (ground_layers): scans", " m: scans"],
  [
    " (column scan_index, or see scan_column), by which POST align_scans moves them.",
    " (column scan_index, or see --scan-column), by which inventory moves them.",
  ],
  [
    /; if these are scans, POST align_scans with scan_column (\S+) moves them\./g,
    "; if these are scans, inventory with --scan-column $1 moves them.",
  ],
  [
    " Move the scans onto each other (POST align_scans of a session with trees), then segment ground and trees again.",
    " The command inventory moves the scans of a plot onto each other, unless it is told --no-align.",
  ],
  [", half_points)", ")"],
  [" alone (lone_returns)", " alone"],
  [", as photos give (seen_below_canopy).", ", as photos give."],
  [" in the mean (height_drop_m).", " in the mean."],
  [" in the median; flags: repeated; tree", " in the median; tree"],
  [
    " (POST align_scans of a session with scan numbers, or POST c2c/icp-register of single scans), then segment and measure again.",
    " (register) before they are one file.",
  ],
  [" in a wall shows (flags: mirror_image; tree", " in a wall shows (tree"],
  ["They have no diameter (flags: flat) and are in no value", "They have no diameter and are in no value"],
  ["take its ground: method las_classification.", "take its ground: --ground las_classification."],
  ["; choose method auto", "; take --ground auto"],
  [/method "las_classification" (takes|finds)/g, "--ground las_classification $1"],
  [" Name their classes in ground_classes if they are.", ""],
  [/: turn the cloud \(POST transform\) and build the model again\./g, ": give it as --up."],
  [
    / but (-?[xyz]): (.*) Turn the cloud \(POST transform with matrix \[[^\]]*\]\) and [a-z ]* again\./g,
    " but $1: $2 Give --up $1.",
  ],
  [/ Turn the cloud \(POST transform with matrix \[[^\]]*\]\) and [a-z ]* again\./g, " Turn the file first."],
  [" (flags: buttressed; tree", " (tree"],
  [" points of other trees (flags: shared_top; tree", " points of other trees (tree"],
  ["; if they are ground, send skip_images false.", "."],
  [
    / Delete them \(delete_region or filter, (z below [-0-9.]+) there\): other/g,
    " Delete them from the file ($1 there): other",
  ],
  ["nearest others (ground_residual_m; ", "nearest others ("],
  ["no ground was seen (ground_share below", "no ground was seen (column ground_share below"],
  [" stand alone (flags: stray_top; tree", " stand alone (tree"],
  [" stands alone (flags: stray_top; tree", " stands alone (tree"],
  [
    " m too large (stray_top_m), and crowns too wide. Label noise first (denoise), then ground, trees and this list again.",
    " m too large (column stray_top_m), and crowns too wide.",
  ],
  [" the stem is thick (flags: thick_top; tree", " the stem is thick (tree"],
  [
    " (flags: scattered); heights and crowns of trees among them may be too large. Label noise (denoise), delete what is left of them, and segment the trees again.",
    "; heights and crowns of trees among them may be too large.",
  ],
  [" no bark is seen (flags: covered; tree", " no bark is seen (tree"],
  [
    " They have no diameter; stem_curve has those of the bare stem above.",
    " They have no diameter; stem_curve.csv has those of the bare stem above.",
  ],
  [", which sigma_m does not tell: look at them", ", which their standard errors do not tell: look at them"],
  ["dbh_m is the circle between them", "Their diameters are the circles between them"],
  ["counts it; foot.diameter_m is the diameter", "counts it; the column above_foot_diameter_m has the diameter"],
  [" no diameter (flags: same_stem): the points", " no diameter: the points"],
  [" Look at them; segment the trees again or merge the two numbers.", " Look at them."],
  [" Delete such points and segment the trees again.", ""],
  [" next to nothing beside the stem (flags: no_crown; tree", " next to nothing beside the stem (tree"],
  [
    " They are counted in num_trees; tree_inventory leaves them out of the stand. Delete such points first.",
    " They are counted among the trees.",
  ],
  ["They are in no value of the stand (flags: wire).", "They are in no value of the stand."],
  [" within 0.4 m of a wall (flags: at_wall; tree", " within 0.4 m of a wall (tree"],
  [" Where these classes mean something else, send skip_structures false.", ""],
  [" of points alone (radius_unknown), as", " of points alone, as"],
  [
    " tree_inventory measures diameters along more of the stem.",
    " Diameters of the tree list are measured along more of the stem.",
  ],
  [" the hulls of so few (crown_area_gain_m2).", " the hulls of so few."],
  ["more noise than range_noise_m says,", "more noise than --range-noise says,"],
  ["(cut_width_m, cut_top)", "(columns cut_width_m and cut_top)"],
  ["; scan_offsets has the directions.", "; scan_offsets of the summary has the directions."],
  [" stems; view_fit).", " stems; view_fit of the summary)."],
  [" moved to their mean place (align_scans), up to", " moved to their mean place, up to"],
  [": measure with align_scans true, or move the scans onto each other (POST align_scans).", "; leave --no-align out."],
  [": move them onto each other (POST align_scans), then measure again.", "."],
  [" cm; scan_layers).", " cm; scan_layers of the summary)."],
  [" degrees; scan_layers).", " degrees; scan_layers of the summary)."],
  [" were measured with both moved together (align_scans).", " were measured with both moved together."],
  [" of them, and measured with them (flags: repeated; ", " of them, and measured with them ("],
  [", or import them with their numbers (column scan_index), by which POST align_scans moves them.", "."],
  [" wrong by up to as much: measure with align_scans true.", " wrong by up to as much: leave --no-align out."],
  [" first (POST align_scans of a session with trees).", " first (inventory does so)."],
  [
    ": move the scans onto each other (POST align_scans), then divide the cloud into trees and label its wood again.",
    "; inventory --qsm moves the scans of a plot onto each other.",
  ],
  ["; align_scans true moves the scans of each tree onto each other.", "; leave --no-align out."],
  ["; align_scans true moves the scans onto each other.", "; leave --no-align out."],
  [" align_scans false leaves them (view_fit has the figures of each tree).", " --no-align leaves them."],
  ["; align_scans false leaves them.", "; --no-align leaves them."],
  [" root mean square (view_fit).", " root mean square."],
  [" models and crowns made of it: POST align_scans moves its scans.", " models and crowns made of it."],
  [", which is part of sigma_m.", ", which is part of the standard errors of diameters."],
  [", and surface_area with them (relief).", ", and the area with them."],
  [", and surface_area with it (relief).", ", and the area with it."],
  ["or use method ball_pivoting with small radii", "or take --method ball_pivoting with small --radii"],
  ["first, or give smaller radii.", "first, or give smaller --radii."],
  ["first, or give a smaller alpha.", "first, or give a smaller --alpha."],
  [
    "Method delaunay closes all between points in x and y; for what is no terrain use another method.",
    "--method delaunay closes all between points in x and y; for what is no terrain take another one.",
  ],
  [/ Thin the points \(max_points (\d+)\)(?: or use method poisson)?\./g, " About $1 points would show it smooth."],
  [" are part of surface_area: a leaf", " are part of the area: a leaf"],
  [" surface with noise (relief).", " surface with noise."],
  [": a leaf counts twice (relief).", ": a leaf counts twice."],
  [" (twig_radius_mm, if you measured it)", " (--species-twig, if you measured it)"],
  ["min_voxel_hits was not given", "--min-hits was not given"],
];

/** A message of the service in the words of the command line: options instead of fields of the API. */
export function commandLineWords(message: string): string {
  return SENTENCES.reduce((text, [from, to]) => text.replaceAll(from, to), message).replace(
    /\b[a-z]+(?:_[a-z]+)+\b/g,
    (word) => (Object.hasOwn(OPTIONS, word) ? (OPTIONS[word] ?? word) : word),
  );
}

/**
 * Warnings about things that a report does not contain: the mesh of a terrain, joins with a trajectory, heights above a former
 * ground, which every report measures anew, noise without ground, surface and stem, whose number is a line of its own.
 */
const NOT_REPORTED = [
  /\b32-bit vertices of the mesh\b/,
  /\bjoined to an absolute trajectory\b/,
  /\bheights above the former ground\b/,
  /^The clouds are \d+ scans: scan_index\b/,
  /\blabelled as noise \(.*\) (?:(?:is|are) no ground|belongs? to no (?:surface|stem))\.$/,
];

/** The warnings that concern the report, each once, in the words of the command line. */
export function reportedWarnings(warnings: readonly string[]): string[] {
  const kept = warnings.filter((text) => !NOT_REPORTED.some((rule) => rule.test(text)));
  return [...new Set(kept.map(commandLineWords))];
}

/** `1 file has`, `3 files have`. */
export const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
