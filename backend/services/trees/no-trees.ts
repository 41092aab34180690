import { namedTrees } from "./named-trees.ts";

/** What a segmentation took for trees, by their ids. */
export interface NoTrees {
  /** Number of all trees. */
  readonly of: number;
  /** On flat surfaces: cpp/ops/trees/flat_trees.h. */
  readonly flat: readonly number[];
  /** With a diameter, but next to nothing beside the stem. */
  readonly bare: readonly number[];
  /** Of the trees with a diameter, and of those that are bare, their part of the basal area. */
  readonly diameters: number;
  readonly bare_share: number;
}

/** That trees are walls, roofs and vehicles; `effect`: what it does to the answer, a sentence. */
export function flatWarnings(flat: readonly number[], of: number, effect: string): string[] {
  if (flat.length === 0) return [];
  const lies = flat.length === 1 ? "tree lies" : "trees lie";
  return [
    `${flat.length} of ${of} ${lies} for a good part on flat surfaces (${namedTrees(flat)}), as walls, roofs, vehicles and signs do: probably no tree. ${effect}`,
  ];
}

/** That trees are walls, or posts. */
export function noTreeWarnings({ of, flat, bare, diameters, bare_share }: NoTrees): string[] {
  const warnings = flatWarnings(
    flat,
    of,
    "They have no diameter (flags: flat) and are in no value of the stand. Delete such points and segment the trees again.",
  );
  if (bare.length === 0) return warnings;
  const has = bare.length === 1 ? "has" : "have";
  return [
    ...warnings,
    `${bare.length} of ${diameters} trees with a diameter ${has} next to nothing beside the stem (flags: no_crown; ${namedTrees(bare)}), as posts, masts and dead stems do, or where a diameter is far too large: ${Math.round(100 * bare_share)} % of the basal area. Values per hectare count them; leave them out if they are no trees.`,
  ];
}
