import { namedTrees } from "./named-trees.ts";

/** What a segmentation took for trees, by their ids. */
export interface NoTrees {
  /** Number of all trees. */
  readonly of: number;
  /** On flat surfaces: cpp/ops/trees/flat_trees.h. */
  readonly flat: readonly number[];
  /** Of power lines: cpp/ops/trees/flat_trees.h. */
  readonly wires: readonly number[];
  /** Drops, snow or insects: cpp/ops/trees/scattered_tree.h. */
  readonly scattered: readonly number[];
  /** With a diameter, but next to nothing beside the stem. */
  readonly bare: readonly number[];
  /** With a diameter, but beside a wall: cpp/ops/trees/stems_at_walls.h. */
  readonly at_walls: readonly number[];
  /** Of the trees with a diameter, and of those that are bare or at walls, their part of the basal area. */
  readonly diameters: number;
  readonly bare_share: number;
  readonly at_walls_share: number;
}

/** That trees are walls, roofs and vehicles; `effect`: what it does to the answer, a sentence. */
export function flatWarnings(flat: readonly number[], of: number, effect: string): string[] {
  if (flat.length === 0) return [];
  const lies = flat.length === 1 ? "tree lies" : "trees lie";
  return [
    `${flat.length} of ${of} ${lies} for a good part on flat surfaces (${namedTrees(flat)}), as walls, roofs, vehicles and signs do: probably no tree. ${effect}`,
  ];
}

/** That trees are wires; `effect`: what it does to the answer, a sentence. */
export function wireWarnings(wires: readonly number[], of: number, effect: string): string[] {
  if (wires.length === 0) return [];
  const are = wires.length === 1 ? "tree is a thin, level line" : "trees are thin, level lines";
  return [
    `${wires.length} of ${of} ${are} (${namedTrees(wires)}), as conductors of power lines and wires of fences are: no tree. ${effect}`,
  ];
}

const LEAVE_OUT = "Values per hectare count them; leave them out if they are no trees.";

/** That trees are walls, posts, or pipes at walls. */
export function noTreeWarnings({
  of,
  flat,
  wires,
  scattered,
  bare,
  at_walls,
  diameters,
  ...shares
}: NoTrees): string[] {
  const warnings = flatWarnings(
    flat,
    of,
    "They have no diameter (flags: flat) and are in no value of the stand. Delete such points and segment the trees again.",
  );
  warnings.push(
    ...wireWarnings(
      wires,
      of,
      "They are in no value of the stand (flags: wire). Delete such points and segment the trees again.",
    ),
  );
  if (scattered.length > 0) {
    const has = scattered.length === 1 ? "tree has points" : "trees have points";
    warnings.push(
      `${scattered.length} of ${of} ${has} at least 8 times as far apart as those of the ground there (${namedTrees(scattered)}), as drops of rain, snow, fog, dust and insects: no tree. They are in no value of the stand (flags: scattered); heights and crowns of trees among them may be too large. Label noise (denoise), delete what is left of them, and segment the trees again.`,
    );
  }
  const told = (ids: readonly number[], one: string, many: string, flag: string, as: string, share: number) => {
    if (ids.length === 0) return;
    const trees = `${ids.length} of ${diameters} trees with a diameter ${ids.length === 1 ? one : many}`;
    warnings.push(
      `${trees} (flags: ${flag}; ${namedTrees(ids)}), ${as}: ${Math.round(100 * share)} % of the basal area. ${LEAVE_OUT}`,
    );
  };
  const bareAs = "as posts, masts and dead stems do, or where a diameter is far too large";
  const nothing = "next to nothing beside the stem";
  told(bare, `has ${nothing}`, `have ${nothing}`, "no_crown", bareAs, shares.bare_share);
  const wallAs = "as drain pipes and the edges of bay windows do";
  const place = "within 0.4 m of a wall";
  told(at_walls, `stands ${place}`, `stand ${place}`, "at_wall", wallAs, shares.at_walls_share);
  return warnings;
}
