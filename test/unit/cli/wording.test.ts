import { expect, test } from "vitest";
import { commandLineWords, reportedWarnings } from "../../../backend/cli/wording.ts";
import { formerHeights } from "../../../backend/services/classify/ground-gaps.ts";
import type { CloudState } from "../../../backend/sessions/cloud-session.ts";

test("messages name options of the command line, not fields of the API", () => {
  expect(
    commandLineWords(
      "6.2 % of the points are labelled noise; scanner noise is 0.1 to 3 %. Try k before you remove them.",
    ),
  ).toBe(
    "6.2 % of the points are labelled noise; scanner noise is 0.1 to 3 %. None was removed; --no-denoise leaves the labels out.",
  );
  expect(commandLineWords("Import with source_units to convert them.")).toBe("Use --units to convert them.");
  expect(commandLineWords("cell_size 0.001 gives 4e9 cells")).toBe("--cell 0.001 gives 4e9 cells");
  expect(commandLineWords("to_string of return_number")).toBe("to_string of return_number");
});

test.each([
  [
    "a point lies below it: the cloud is a surface, as photos give (seen_below_canopy). The terrain",
    "a point lies below it: the cloud is a surface, as photos give. The terrain",
  ],
  ["If you know the leaf angles, send gtheta_override.", "If you know the leaf angles, give --g."],
  ["G is not known. Use gtheta_override.", "G is not known. Give --g."],
  ["Send gtheta_spec with a distribution if you know it.", "Give a distribution as --g if you know it."],
  [
    "Send return_weights energy with leaf_intensity of each scan if its intensities are linear.",
    "Give --leaf-intensity if the intensities are linear.",
  ],
  [
    "the triangles 38 % larger than the surface under them, and surface_area with them (relief). Thin the points (max_points 4900) or use method poisson.",
    "the triangles 38 % larger than the surface under them, and the area with them. About 4900 points would show it smooth.",
  ],
  [
    "both of its faces are part of surface_area: a leaf counts twice, and so does a surface with noise (relief).",
    "both of its faces are part of the area: a leaf counts twice, and so does a surface with noise.",
  ],
  [
    "drawn between sparse points, and surface_area with it (relief). Delete the sparse part first, or use method ball_pivoting with small radii, which leaves it open.",
    "drawn between sparse points, and the area with it. Delete the sparse part first, or take --method ball_pivoting with small --radii, which leaves it open.",
  ],
  [
    "(relief). Delete the sparse part first, or give a smaller alpha.",
    "(relief). Delete the sparse part first, or give a smaller --alpha.",
  ],
  [
    "probably no tree. They have no diameter (flags: flat) and are in no value of the stand. Delete such points and segment the trees again.",
    "probably no tree. They have no diameter and are in no value of the stand.",
  ],
  [
    "stand within 0.4 m of a wall (flags: at_wall; tree 2, 3), as drain",
    "stand within 0.4 m of a wall (tree 2, 3), as drain",
  ],
  [
    "are: no tree. They are counted in num_trees; tree_inventory leaves them out of the stand. Delete such points first.",
    "are: no tree. They are counted among the trees.",
  ],
  [
    "They are in no value of the stand (flags: wire). Delete such points and segment the trees again.",
    "They are in no value of the stand.",
  ],
  [
    "of rain: no tree. They are in no value of the stand (flags: scattered); heights and crowns of trees among them may be too large. Label noise (denoise), delete what is left of them, and segment the trees again.",
    "of rain: no tree. They are in no value of the stand; heights and crowns of trees among them may be too large.",
  ],
  [
    "2 of 9 trees have highest points that stand alone (flags: stray_top; tree 3, 8), as rain does: heights may be up to 0.50 m too large (stray_top_m), and crowns too wide. Label noise first (denoise), then ground, trees and this list again.",
    "2 of 9 trees have highest points that stand alone (tree 3, 8), as rain does: heights may be up to 0.50 m too large (column stray_top_m), and crowns too wide.",
  ],
  ["the ten nearest others (ground_residual_m; 0.01 to 0.10 m where", "the ten nearest others (0.01 to 0.10 m where"],
  [
    "Around the stem of 1 of 3 trees with a diameter no ground was seen (ground_share below 0.2; tree 7)",
    "Around the stem of 1 of 3 trees with a diameter no ground was seen (column ground_share below 0.2; tree 7)",
  ],
  [
    "1 of 9 trees has a highest point that stands alone (flags: stray_top; tree 3), as rain",
    "1 of 9 trees has a highest point that stands alone (tree 3), as rain",
  ],
  [
    "2 of 9 trees with a diameter end while the stem is thick (flags: thick_top; tree 3, 8; tree 3: 12 cm",
    "2 of 9 trees with a diameter end while the stem is thick (tree 3, 8; tree 3: 12 cm",
  ],
  [
    "(x -0.60 m, y +0.25 m in the median; flags: repeated; tree 2 of 1): the cloud shows them twice, and models are wrong, too. Move the scans onto each other (POST align_scans of a session with scan numbers, or POST c2c/icp-register of single scans), then segment and measure again.",
    "(x -0.60 m, y +0.25 m in the median; tree 2 of 1): the cloud shows them twice, and models are wrong, too. Move the scans onto each other (register) before they are one file.",
  ],
  [
    "which glass in a wall shows (flags: mirror_image; tree 4 of 3): the beams were turned back",
    "which glass in a wall shows (tree 4 of 3): the beams were turned back",
  ],
  [
    "8 of 24 trees with a diameter have next to nothing beside the stem (flags: no_crown; tree 22, 55), as posts",
    "8 of 24 trees with a diameter have next to nothing beside the stem (tree 22, 55), as posts",
  ],
  [
    "2 of 9 trees have their highest point among points of other trees (flags: shared_top; tree 3, 8): where",
    "2 of 9 trees have their highest point among points of other trees (tree 3, 8): where",
  ],
  [
    "They are no ground and are labelled plant; if they are ground, send skip_images false. Delete them (delete_region or filter, z below -0.7 there): other operations take",
    "They are no ground and are labelled plant. Delete them from the file (z below -0.7 there): other operations take",
  ],
  [
    'method "las_classification" finds no ground: all points have class 1, not 2; choose method auto',
    "--ground las_classification finds no ground: all points have class 1, not 2; take --ground auto",
  ],
  [
    "14 % of its ground (2) are plant here. If the file was checked, take its ground: method las_classification.",
    "14 % of its ground (2) are plant here. If the file was checked, take its ground: --ground las_classification.",
  ],
  ["9 of class 9 (water). Name their classes in ground_classes if they are.", "9 of class 9 (water)."],
  [
    "(4 and 3), and has no diameter (flags: same_stem): the points of one stem have two numbers, or limbs and leaves stand around it. Look at them; segment the trees again or merge the two numbers.",
    "(4 and 3), and has no diameter: the points of one stem have two numbers, or limbs and leaves stand around it. Look at them.",
  ],
  ["belong to no tree. Where these classes mean something else, send skip_structures false.", "belong to no tree."],
  [
    "the radius of its twigs as 0.42 mm (twig_radius_mm, if you measured it)",
    "the radius of its twigs as 0.42 mm (--species-twig, if you measured it)",
  ],
  ["return_weights energy needs intensities: scan 1 has none.", "--leaf-intensity needs intensities: scan 1 has none."],
  [
    "Half of the ground's returns lie more than 3.7 cm above the terrain, whose cells have percentile 5 of their heights (ground_percentile). If that is noise of the ranges and not low plants, the terrain is that much too low; 50 takes the middle.",
    "Half of the ground's returns lie more than 3.7 cm above the terrain, whose cells have percentile 5 of their heights. If that is noise of the ranges and not low plants, the terrain is that much too low.",
  ],
  [
    "without wood_split total_leaf_area is plant area. Label the wood (segment_wood) and send wood_split to leave it out.",
    "without --wood the leaf area is plant area. Label the points (npm start -- wood) and give --wood to leave it out.",
  ],
  [
    "leaves of 0.05 m (element_width) are wider than halves of voxels of 0.1 m. Send their width if they are narrower,",
    "leaves of 0.05 m (--leaf-width) are wider than halves of voxels of 0.1 m. Give their width if they are narrower,",
  ],
  [
    "above the terrain below it, whose cells have percentile 5 of their heights (ground_percentile). If that is noise of the ranges, the canopy is that much too high; 50 takes the middle.",
    "above the terrain below it, whose cells have percentile 5 of their heights. If that is noise of the ranges, the canopy is that much too high.",
  ],
  [
    "canopy more than chm_min_height (2 m) above the ground. For lower plants send a smaller one, with the width of the smaller plants as chm_crown_scale.",
    "canopy more than 2 m above the ground.",
  ],
  [
    "so that several which touch are one. Give seed_points where each plant is known.",
    "so that several which touch are one.",
  ],
  ["such leaves read too high by 17 % (element_gain); leaves", "such leaves read too high by 17 %; leaves"],
  ["min_voxel_hits was not given: voxels need 5 beams.", "--min-hits was not given: voxels need 5 beams."],
  [
    "No triangles in the grid with lmax 0.1 m and max_aspect_ratio 4: of 9 candidates, 9 are longer. Raise lmax, or use gtheta_override.",
    "No triangles in the grid with --lmax 0.1 m and max_aspect_ratio 4: of 9 candidates, 9 are longer. Raise --lmax, or give --g.",
  ],
  [
    "The fit did not converge within max_iterations 5; raise it.",
    "The fit did not converge within --max-iterations 5; raise it.",
  ],
  [
    "as leaves do. Search a layer where the stems are free of branches (change band_min_m and band_max_m).",
    "as leaves do.",
  ],
  [
    "Align the two roughly first, or let initial: auto search for the pose.",
    "Align the two roughly first, or let --initial auto search for the pose.",
  ],
  [
    "initial: auto found no pose, so the iterations began as with initial: centroid: the sides",
    "--initial auto found no pose, so the iterations began as with --initial centroid: the sides",
  ],
  [
    "have no miss points, so transmitted beams cannot be counted: run Backfill Misses first, or re-import a format that keeps misses.",
    "have no miss points, so transmitted beams cannot be counted: give files that keep misses, such as PTX, E57 or a table with is_miss; scan writes them with --misses.",
  ],
  [
    "one origin cannot be that of all. Extract them by the column scan_index (exclude_values [], include_misses true) and send each with its own origin.",
    "one origin cannot be that of all. Give each scan as a file of its own, with --origin, or an E57 file, which holds the positions.",
  ],
  [
    "so the leaf area density reads high: run Backfill Misses first, which places them by their rows and columns.",
    "so the leaf area density reads high: give files whose points have rows and columns, from which lad places them.",
  ],
  ["fewer than threshold_filter 30 points", "fewer than --least-points 30 points"],
  ["instead of 44. Give seed_points, or remove undergrowth.", "instead of 44. Remove undergrowth."],
  [
    "instead of 44. Use method auto, which begins at the stems, give seed_points, or remove undergrowth.",
    "instead of 44. Use --method auto, which begins at the stems, or remove undergrowth.",
  ],
  [
    "and there are too few trees: segment the trees again with method auto or with seed_points.",
    "and there are too few trees; use --method auto, or remove undergrowth.",
  ],
  [
    "coppice do: by rule they are left out (rejected.merged). segment_trees with method auto makes trees of them.",
    "coppice do: they are not counted as stems; method auto makes trees of them.",
  ],
  ["try a larger search_radius", "try a larger --search-radius"],
  [
    "Crowns have only 2.0 points on average, so chm_crown_scale 2.5 m is small for these points and may split crowns; give the width of the smaller crowns.",
    "Crowns have only 2.0 points on average, so a crown width of 2.5 m is small for these points and may split crowns; give that of the smaller crowns as --crown-width.",
  ],
  [
    "Where crowns are wider than chm_crown_scale 2.5 m, send their width. On six",
    "Where crowns are wider than 2.5 m, give their width as --crown-width. On six",
  ],
  [
    "17 stems are seen in two columns of points alone (radius_unknown), as a scan has them on thin or far stems: such radii say little. tree_inventory measures diameters along more of the stem.",
    "17 stems are seen in two columns of points alone, as a scan has them on thin or far stems: such radii say little. Diameters of the tree list are measured along more of the stem.",
  ],
  [
    "cells of 0.35 m instead of 0.21 m (chm_crown_scale / 12), because the points are 0.59 m apart",
    "cells of 0.35 m instead of 0.21 m, because the points are 0.59 m apart",
  ],
  ["27 % larger than the hulls of so few (crown_area_gain_m2). Crowns", "27 % larger than the hulls of so few. Crowns"],
  [
    "too sparse at this height: search a thicker layer (raise band_max_m), or find trees by their crowns (segment_trees with method chm).",
    "too sparse at this height: find trees by their crowns (--method chm).",
  ],
  [
    "bbox [1, 2, 3, 2] has no area: send [min x, min y, max x, max y] with each minimum below its maximum.",
    "seen from above, the points have no area.",
  ],
])("%s", (message, words) => {
  expect(commandLineWords(message)).toBe(words);
});

test("warnings come once; those on things a report does not contain are left out", () => {
  const mesh = "The 32-bit vertices of the mesh keep 0.03 m.";
  const scans = "The clouds are 2 scans: scan_index of the merged cloud tells them apart.";
  expect(reportedWarnings(["a", mesh, scans, "a", "world_shift is large"])).toEqual(["a", "--shift is large"]);
});

test("heights above a former ground are measured anew by every report", () => {
  const told = formerHeights({
    columns: new Map([["extra/height_above_ground", { native: {} }]]),
  } as unknown as CloudState);
  expect(told.length).toBe(1);
  expect(reportedWarnings([...told, "Another."])).toEqual(["Another."]);
});
