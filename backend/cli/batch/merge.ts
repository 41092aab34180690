import { join, resolve } from "node:path";
import {
  DEFAULT_STAND_SETTINGS,
  isNoTree,
  type StandSettings,
  standCsv,
  standSummary,
  stemCurveCsv,
  treeCsv,
  treeQsmCsv,
} from "../../../shared/client/index.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { crownsGeojson } from "../inventory/crowns-geojson.ts";
import { CROWN_FILE, STAND_FILE, STEM_FILE, TREE_FILE } from "../inventory/results.ts";
import { WOOD_FILE } from "../inventory/wood.ts";
import { PLACES, readJson, writeJson, writeWhole } from "./folders.ts";
import { type JoinedLists, joinLists } from "./join.ts";
import { joinWarnings, plotOf } from "./join-warnings.ts";
import { virtualRaster } from "./mosaic.ts";
import type { Plan } from "./plan-document.ts";
import { readOwnPlan } from "./program.ts";
import { joinedStand } from "./stand.ts";
import type { TileResult } from "./tile-result.ts";

/** What the merge found, for the report; the jobs of the clouds read `numbers`. */
export interface Merged {
  readonly tiles: readonly string[];
  readonly missing: readonly string[];
  readonly tree_count: number;
  /** With a row in the list. */
  readonly measured_count: number;
  /** Of these: walls, wires, rain, and images in glass. */
  readonly no_tree_count: number;
  readonly skipped_count: number;
  readonly truncated_count: number;
  readonly stand: ReturnType<typeof standSummary> | null;
  readonly outputs: readonly string[];
  readonly warnings: readonly string[];
  /** By tile: number in the tile and in the whole, in turn. */
  readonly numbers: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

/** Joins the results of the tiles that are not `missing`. The file `numbers.json` is written last. */
export async function mergeTiles(out: string, missing: readonly string[], deps: AnalyzeDeps): Promise<void> {
  const root = resolve(out);
  const plan = await readOwnPlan(root);
  const tiles = plan.tiles.filter(({ id }) => !missing.includes(id));
  const results: TileResult[] = [];
  for (const { id } of tiles) {
    deps.signal.throwIfAborted();
    results.push(await readJson<TileResult>(join(root, PLACES.result(id))));
  }
  const outputs: string[] = [];
  const write = async (name: string, text: string | Iterable<string>) => {
    await writeWhole(join(root, PLACES.merged, name), typeof text === "string" ? text : [...text].join(""));
    outputs.push(name);
  };
  for (const surface of plan.workflow.rasters?.surfaces ?? []) {
    const made = tiles.filter((_, i) => results[i]?.surfaces.includes(surface));
    if (made.length > 0) await write(`${surface}.vrt`, virtualRaster(plan, made, surface, "../tiles"));
  }
  const lists = joinLists(results);
  const listed = plan.workflow.inventory
    ? await writeLists(plan, { lists, results }, write)
    : { stand: null, warnings: [] };
  if (lists.qsm) await write(WOOD_FILE, treeQsmCsv(plan.name, lists.qsm));
  const { owners } = lists;
  const lost = plan.tiles.filter(({ id }) => missing.includes(id));
  const merged: Merged = {
    tiles: tiles.map(({ id }) => id),
    missing,
    tree_count: owners.trees.length,
    measured_count: lists.rows.length,
    no_tree_count: lists.rows.filter(isNoTree).length,
    skipped_count: lists.skipped_count,
    truncated_count: owners.truncated_count,
    stand: listed.stand,
    outputs,
    warnings: [...listed.warnings, ...joinWarnings(plan, { results, lists, lost })],
    numbers: Object.fromEntries([...owners.numbers].map(([tile, pairs]) => [tile, [...pairs]])),
  };
  await writeJson(join(root, PLACES.numbers), merged);
}

async function writeLists(
  plan: Plan,
  { lists, results }: { readonly lists: JoinedLists; readonly results: readonly TileResult[] },
  write: (name: string, text: string | Iterable<string>) => Promise<void>,
) {
  const { inventory } = plan.workflow;
  const settings: StandSettings = {
    ...DEFAULT_STAND_SETTINGS,
    ...(inventory?.min_dbh_cm === undefined ? {} : { minDbhCm: inventory.min_dbh_cm }),
    ...(inventory?.plot_area_m2 === undefined ? {} : { plotAreaM2: inventory.plot_area_m2 }),
  };
  const scan_name = plan.name;
  const plot = plotOf(lists, results, inventory?.plot_area_m2 !== undefined);
  const joined = await joinedStand(lists.rows, plot.corners, inventory?.competition_radius_m ?? 6);
  const stand = standSummary({ trees: joined.trees, stand: joined.stand, params: inventory ?? null }, settings);
  await write(TREE_FILE, treeCsv({ scan_name, trees: joined.trees, settings }));
  await write(STEM_FILE, stemCurveCsv(scan_name, lists.stem_curve));
  await write(STAND_FILE, standCsv(scan_name, stand, settings));
  await write(CROWN_FILE, crownsGeojson(joined.trees, plan.crs_epsg));
  return { stand, warnings: [...plot.warnings, ...joined.warnings] };
}
