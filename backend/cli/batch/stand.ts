import { isNoTree } from "../../../shared/client/index.ts";
import { INVENTORY_CONSTANTS } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { StandRecord, TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { addon } from "../../native/core/addon.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { listedStand } from "../../native/inventory.ts";

export interface JoinedStand {
  /** With competition and overlaps. */
  readonly trees: readonly TreeRow[];
  readonly stand: StandRecord;
  readonly warnings: readonly string[];
}

const column = (values: readonly number[]): NativeColumn =>
  new addon.Column("f64", new Uint8Array(Float64Array.from(values).buffer));

function valuesOf(table: NativeColumn): Float64Array {
  const bytes = new Uint8Array(table.bytes);
  for (let at = 0; at < bytes.length; ) at += table.readInto(bytes.subarray(at), at);
  return new Float64Array(bytes.buffer);
}

/** The stand pass on the joined list: once, as if all trees had been measured in one cloud. What is no tree takes no part. */
export async function joinedStand(
  trees: readonly TreeRow[],
  plot: readonly (readonly [number, number])[],
  competition_radius_m: number,
): Promise<JoinedStand> {
  const [east, north] = plot[0] ?? [0, 0];
  // Relative to a corner of the plot: areas of polygons far from the origin lose digits.
  const near = ([x, y]: readonly [number, number]) => [x - east, y - north];
  const hullOf = (tree: TreeRow) => (isNoTree(tree) ? [] : (tree.crown_hull_xy ?? []));
  const rows = trees.flatMap((tree) => {
    const base = isNoTree(tree) ? undefined : tree.stem_base;
    const place = base ? near([base[0], base[1]]) : [Number.NaN, Number.NaN];
    return [...place, tree.dbh_m ?? Number.NaN, hullOf(tree).length];
  });
  const { cover_cell_m, most_cover_cells, most_overlap_pairs, least_distance_m } = INVENTORY_CONSTANTS;
  const found = await listedStand(
    column(rows),
    column(trees.flatMap((tree) => hullOf(tree).flatMap(near))),
    column(plot.flatMap(near)),
    { competition_radius_m, least_distance_m, cover_cell_m, most_cover_cells, most_overlap_pairs },
  ).promise;
  const table = valuesOf(found.stand_trees);
  const hasPlot = plot.length >= 3;
  return {
    trees: trees.map((tree, i) => ({ ...tree, ...standing(found.stand_fields, table, i) })),
    stand: {
      plot_polygon: hasPlot ? plot.map(([x, y]) => [x, y]) : null,
      plot_area_m2: hasPlot ? found.plot_area_m2 : null,
      plot_source: hasPlot ? "ground_class" : "none",
      unseen_share: null,
      crown_union_area_m2: found.crown_union_area_m2,
      cover_cell_m: found.cover_cell_m,
      crown_area_sum_m2: trees.reduce(
        (sum, tree) => sum + (isNoTree(tree) ? 0 : (tree.crown_projected_area_m2 ?? 0)),
        0,
      ),
      competition_radius_m,
    },
    warnings: found.overlap_known ? [] : ["Crowns overlap too often to measure how far."],
  };
}

function standing(fields: readonly string[], table: Float64Array, i: number) {
  const get = (name: string) => table[i * fields.length + fields.indexOf(name)] ?? Number.NaN;
  const known = (name: string) => (Number.isNaN(get(name)) ? null : get(name));
  return {
    hegyi_index: known("hegyi_index"),
    hegyi_index_corrected: known("hegyi_index_corrected"),
    n_competitors: get("n_competitors"),
    crown_overlap_m2: known("crown_overlap_m2"),
    crown_overlap_fraction: known("crown_overlap_fraction"),
    edge: get("edge") === 1,
  };
}
