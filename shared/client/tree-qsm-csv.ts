import type { TreeQsmResult } from "../contract/cloud-session/tree-qsm.ts";
import type { QsmMetrics } from "../contract/qsm-records.ts";
import { type CsvCell, csvLine } from "../wire/csv-cell.ts";

const RESULT_FIELDS = [
  "tree_id",
  "success",
  "error",
  "points_in_tree",
  "points_used",
  "voxel_m",
  "wood_only",
  "n_cylinders",
  "n_shoots",
] as const satisfies readonly (keyof TreeQsmResult)[];
const METRIC_FIELDS = [
  "total_woody_volume_m3",
  "stem_volume_m3",
  "branch_volume_m3",
  "trunk_diameter_mm",
  "tcsa_m2",
  "tree_height_m",
  "total_length_m",
  "n_scaffolds",
  "n_shoots_total",
  "max_rank",
  "canopy_width_m",
  "canopy_height_m",
] as const satisfies readonly (keyof QsmMetrics)[];
const LATER_FIELDS = ["cut_width_m", "cut_top", "base_gap_m"] as const satisfies readonly (keyof TreeQsmResult)[];

/** The table of the models of trees, a line at a time; the order of its columns is a contract: new ones are appended. */
export function* treeQsmCsv(scan_name: string, results: readonly TreeQsmResult[]): Generator<string> {
  const line = (cells: readonly CsvCell[]) => `${csvLine(cells)}\n`;
  yield line(["scan_name", ...RESULT_FIELDS, ...METRIC_FIELDS, ...LATER_FIELDS]);
  for (const result of results) {
    const { metrics } = result;
    yield line([
      scan_name,
      ...RESULT_FIELDS.map((name) => result[name]),
      ...METRIC_FIELDS.map((name) => metrics?.[name]),
      ...LATER_FIELDS.map((name) => result[name]),
    ]);
  }
}
