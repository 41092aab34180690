import { standsInPlot } from "../../../shared/client/in-plot.ts";
import {
  type GROUND_SOURCES,
  NO_TREE_FLAGS,
  type SkippedTree,
  type TreeRow,
} from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { LazyList } from "../../../shared/wire/json-values.ts";
import type { TreeInventory } from "../../native/inventory.ts";
import type { StemCover } from "./covered-stems.ts";
import type { CutTrees } from "./cut-trees.ts";
import { feetOf, type StemInStem, stemsInStems } from "./doubled-stems.ts";
import type { Diameter } from "./doubtful-diameters.ts";
import { type GroundAtStems, groundAtStems } from "./ground-at-stems.ts";
import { type ImpossibleTrees, impossibleTrees } from "./impossible-trees.ts";
import type { TreeImage } from "./mirrored-trees.ts";
import { numbersOf, Table } from "./native-table.ts";
import type { NoTrees } from "./no-trees.ts";
import type { ListedHeight } from "./odd-heights.ts";
import { type RepeatedTree, repeatedTrees } from "./repeated-trees.ts";
import { competing, flagsOf, measures, sourceOf, stemRow } from "./row-fields.ts";
import type { SameStem } from "./same-stems.ts";
import { hasSharedTop } from "./shared-tops.ts";
import type { StemFoot } from "./stem-feet.ts";
import { type StemAxis, stemAxes } from "./stem-tilt.ts";
import { type StrayTop, strayTop } from "./stray-tops.ts";
import { type ThickTop, thickTops } from "./thick-tops.ts";

/** The rows of an answer; they are made while it is written. */
export interface InventoryRows {
  readonly trees: LazyList;
  readonly stem_curve: LazyList;
  readonly skipped: LazyList;
  readonly ground_sources: Record<(typeof GROUND_SOURCES)[number], number>;
  /** Skipped because of their size, and for another reason. */
  readonly small_count: number;
  readonly failed_count: number;
  /** Of the trees, ascending. */
  readonly ids: readonly number[];
  readonly ground_at_stems: GroundAtStems;
  readonly impossible: ImpossibleTrees;
  readonly no_trees: NoTrees;
  readonly same_stems: readonly SameStem[];
  readonly images: readonly TreeImage[];
  readonly repeats: readonly RepeatedTree[];
  /** Measured with the tree that they stand in. */
  readonly parts: readonly RepeatedTree[];
  readonly doubled: readonly StemInStem[];
  readonly covers: readonly StemCover[];
  readonly feet: readonly StemFoot[];
  /** Of the trees with a diameter. */
  readonly axes: readonly StemAxis[];
  /** Trees with a diameter outside the plot, and their share of the basal area of the list. */
  readonly outside: { readonly count: number; readonly basal_share: number };
  /** Of the trees that have enough points. */
  readonly heights: readonly ListedHeight[];
  /** Of the trees that have one. */
  readonly diameters: readonly Diameter[];
  /** Of the height of each measured tree whose highest point does not stand alone: height_drop_m. */
  readonly drops_m: readonly number[];
  /** Measured trees with the flag shared_top. */
  readonly shared_tops: readonly number[];
  /** Measured trees with the flag stray_top. */
  readonly stray_tops: readonly StrayTop[];
  /** Trees with the flag thick_top. */
  readonly thick_tops: readonly ThickTop[];
  /** Of the trees with a crown. */
  readonly crowns: readonly { readonly area_m2: number; readonly gain_m2: number }[];
}

export function inventoryRows(
  found: TreeInventory,
  { fit_method, min_points }: { readonly fit_method: "ransac" | "hough"; readonly min_points: number },
  cut: CutTrees = new Map(),
): InventoryRows {
  const trees = new Table(found.trees, found.tree_fields);
  const standing = found.stand ? new Table(found.stand_trees, found.stand_fields) : null;
  const curve = new Table(found.curve, found.curve_fields);
  const thick = thickTops(trees, curve);
  const hulls = numbersOf(found.hulls);
  const firstCorner = startsOf(trees);
  const skipped = numbersOf(found.skipped);
  const hull = (row: number): [number, number][] | null => {
    const count = trees.get(row, "hull_corners");
    const first = firstCorner[row] as number;
    if (count < 3) return null;
    return Array.from({ length: count }, (_, i) => [
      hulls[2 * (first + i)] as number,
      hulls[2 * (first + i) + 1] as number,
    ]);
  };
  const row = (i: number): TreeRow => {
    const id = { tree_id: trees.get(i, "tree_id"), n_points: trees.get(i, "n_points") };
    if (trees.get(i, "too_few_points") === 1) return { ...id, flags: ["too_few_points"] };
    return {
      ...id,
      ...measures(trees, i, fit_method),
      cut_width_m: cut.get(id.tree_id)?.width_m ?? 0,
      cut_top: cut.get(id.tree_id)?.top ?? false,
      crown_hull_xy: hull(i),
      ...(standing ? competing(standing, i) : {}),
      flags: thick.has(id.tree_id) ? [...flagsOf(trees, i), "thick_top" as const].sort() : flagsOf(trees, i),
    };
  };
  const ids = Array.from({ length: trees.length }, (_, i) => trees.get(i, "tree_id"));
  const ground_sources = { height_above_ground: 0, ground_class: 0, tree_min_z: 0 };
  for (let i = 0; i < trees.length; i += 1) {
    if (trees.get(i, "too_few_points") === 0) ground_sources[sourceOf(trees, i)] += 1;
  }
  const isNoTree = (i: number) => flagsOf(trees, i).some((flag) => NO_TREE_FLAGS.includes(flag));
  const measured = Array.from({ length: trees.length }, (_, i) => i).filter(
    (i) => trees.get(i, "too_few_points") === 0 && !isNoTree(i),
  );
  let small_count = 0;
  for (let i = 2; i < skipped.length; i += 3) if (skipped[i] === 0) small_count += 1;
  const small = `fewer than ${min_points} points`;
  return {
    trees: new LazyList(trees.length, row),
    stem_curve: new LazyList(curve.length, (i) => stemRow(curve, i)),
    skipped: new LazyList(skipped.length / 3, (i): SkippedTree => {
      const reason = skipped[3 * i + 2] as number;
      return {
        tree_id: skipped[3 * i] as number,
        n_points: skipped[3 * i + 1] as number,
        reason: reason === 0 ? small : (found.reasons[reason - 1] ?? "unknown"),
      };
    }),
    ground_sources,
    ids,
    ground_at_stems: groundAtStems(trees, measured),
    impossible: impossibleTrees(trees),
    outside: outsidePlot(trees, found.stand),
    diameters: Array.from({ length: trees.length }, (_, i) => ({
      tree_id: trees.get(i, "tree_id"),
      dbh_m: trees.get(i, "dbh_diameter_m"),
      sigma_m: trees.get(i, "dbh_sigma_m"),
    })).filter(({ dbh_m }) => Number.isFinite(dbh_m)),
    heights: measured.map((i) => ({
      tree_id: trees.get(i, "tree_id"),
      height_m: trees.get(i, "height_m"),
      dbh_m: trees.get(i, "dbh_diameter_m"),
    })),
    drops_m: measured.filter((i) => strayTop(trees, i) === 0).map((i) => trees.get(i, "height_drop_m")),
    shared_tops: measured.filter((i) => hasSharedTop(trees, i)).map((i) => trees.get(i, "tree_id")),
    stray_tops: measured
      .map((i) => ({ tree_id: trees.get(i, "tree_id"), lower_m: strayTop(trees, i) }))
      .filter(({ lower_m }) => lower_m > 0),
    thick_tops: [...thick.values()],
    crowns: measured
      .map((i) => ({ area_m2: trees.get(i, "crown_projected_area_m2"), gain_m2: trees.get(i, "crown_area_gain_m2") }))
      .filter(({ area_m2 }) => area_m2 > 0),
    no_trees: noTreesOf(trees, ids),
    axes: stemAxes(trees),
    covers: ids.map((tree_id, i) => ({
      ...{ tree_id, covered: trees.get(i, "covered") === 1, buttressed: trees.known(i, "foot_top_m") !== null },
      dbh_m: trees.get(i, "dbh_diameter_m"),
      ...{ scatter_m: trees.get(i, "dbh_scatter_m"), bare_scatter_m: trees.get(i, "bare_scatter_m") },
    })),
    feet: ids
      .map((tree_id, i) => ({
        ...{ tree_id, top_m: trees.get(i, "foot_top_m"), axial_m: trees.get(i, "foot_axial_m") },
        ...{ dbh_m: trees.get(i, "dbh_diameter_m"), above_m: trees.get(i, "foot_diameter_m") },
      }))
      .filter(({ top_m }) => Number.isFinite(top_m)),
    images: ids.map((tree_id, i) => ({ tree_id, of: trees.get(i, "image_of") })).filter(({ of }) => of > 0),
    repeats: repeatedTrees(trees),
    parts: repeatedTrees(trees, "part_of"),
    doubled: stemsInStems(feetOf(trees)),
    same_stems: ids.map((tree_id, i) => ({ tree_id, as: trees.get(i, "same_stem_as") })).filter(({ as }) => as > 0),
    small_count,
    failed_count: skipped.length / 3 - small_count,
  };
}

function noTreesOf(trees: Table, ids: readonly number[]): NoTrees {
  const isAtWall = ids.map((_, i) => trees.get(i, "at_wall") === 1);
  const squares = ids.map((_, i) => trees.get(i, "dbh_diameter_m") ** 2);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + (value > 0 ? value : 0), 0);
  const isBare = ids.map((_, i) => trees.get(i, "no_crown") === 1);
  return {
    of: ids.length,
    flat: ids.filter((_, i) => trees.get(i, "flat") === 1),
    wires: ids.filter((_, i) => trees.get(i, "wire") === 1),
    scattered: ids.filter((_, i) => trees.get(i, "scattered") === 1),
    bare: ids.filter((_, i) => isBare[i]),
    at_walls: ids.filter((_, i) => isAtWall[i]),
    at_walls_share: sum(squares.filter((_, i) => isAtWall[i])) / sum(squares),
    diameters: squares.filter((square) => square > 0).length,
    bare_share: sum(squares.filter((_, i) => isBare[i])) / sum(squares),
  };
}

function outsidePlot(trees: Table, stand: TreeInventory["stand"]): InventoryRows["outside"] {
  let [count, basal, all] = [0, 0, 0];
  for (let i = 0; stand && i < trees.length; i += 1) {
    const square = trees.get(i, "dbh_diameter_m") ** 2;
    if (Number.isNaN(square)) continue;
    all += square;
    if (standsInPlot({ stem_base: trees.point(i, "stem_base") }, stand)) continue;
    count += 1;
    basal += square;
  }
  return { count, basal_share: basal / all };
}

/** First row of the hull of each tree. */
function startsOf(trees: Table): number[] {
  let next = 0;
  return Array.from({ length: trees.length }, (_, i) => {
    const first = next;
    next += trees.get(i, "hull_corners");
    return first;
  });
}
