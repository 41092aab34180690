import type { StemRow, TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { type Ownership, ownersOf } from "./owners.ts";
import type { TileResult } from "./tile-result.ts";
import { hullOf } from "./tile-trees.ts";

/** The lists of all tiles as one; trees have their numbers in the whole. */
export interface JoinedLists {
  readonly owners: Ownership;
  readonly rows: readonly TreeRow[];
  readonly stem_curve: readonly StemRow[];
  /** Null: not asked for. */
  readonly qsm: readonly TreeQsmResult[] | null;
  /** Trees that were not measured: too few points. */
  readonly skipped_count: number;
  readonly ground_hull: readonly (readonly [number, number])[];
}

/** Joins what tiles found: of every tree the row of the tile that owns it. */
export function joinLists(results: readonly TileResult[]): JoinedLists {
  const owners = ownersOf(results);
  const byTile = new Map(results.map((result) => [result.tile, result]));
  const rows: TreeRow[] = [];
  const stem_curve: StemRow[] = [];
  const qsm: TreeQsmResult[] = [];
  let skipped_count = 0;
  const tables = new Map(results.map((result) => [result.tile, tablesOf(result)]));
  for (const [i, { tile, id }] of owners.trees.entries()) {
    const tables_of_tile = tables.get(tile);
    const row = tables_of_tile?.rows.get(id);
    const tree_id = i + 1;
    if (row) rows.push({ ...row, tree_id });
    else if (byTile.get(tile)?.skipped.some((skipped) => skipped.tree_id === id)) skipped_count += 1;
    for (const section of tables_of_tile?.curve.get(id) ?? []) stem_curve.push({ ...section, tree_id });
    const model = tables_of_tile?.qsm.get(id);
    if (model) qsm.push({ ...model, tree_id });
  }
  return {
    owners,
    rows,
    stem_curve,
    qsm: results.some((result) => result.qsm !== null) ? qsm : null,
    skipped_count,
    ground_hull: hullOf(results.flatMap(({ ground_hull }) => ground_hull)),
  };
}

function tablesOf({ rows, stem_curve, qsm }: TileResult) {
  const curve = new Map<number, StemRow[]>();
  for (const section of stem_curve) {
    const list = curve.get(section.tree_id);
    if (list) list.push(section);
    else curve.set(section.tree_id, [section]);
  }
  return {
    curve,
    rows: new Map(rows.map((row) => [row.tree_id, row])),
    qsm: new Map((qsm ?? []).map((model) => [model.tree_id, model])),
  };
}
