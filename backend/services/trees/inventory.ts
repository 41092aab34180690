import {
  INVENTORY_CONSTANTS,
  MIN_STEM_CURVE_STEP_M,
  type TreeInventoryRequest,
  type TreeInventoryTail,
} from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { CIRCLE_SEARCHES } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { GroundLayers } from "../../../shared/contract/ground-layers.ts";
import { AppError } from "../../../shared/errors.ts";
import type { LazyList } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { groundLayersBytes } from "../../native/classify/ground.ts";
import type { NativeJob } from "../../native/core/handles.ts";
import { cutTreesBytes } from "../../native/cut-trees.ts";
import * as native from "../../native/inventory.ts";
import { BELOW_CANOPY_BYTES } from "../../native/terrain.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { TREE_SLUG, treeVersion } from "../../sessions/tree-version.ts";
import { unclassifiedWarnings } from "../classify/ground-gaps.ts";
import { groundLayersOf, groundLayerWarnings } from "../classify/ground-layers.ts";
import { NOISE_SLUGS, noiseWarnings } from "../classify/noise-rows.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { type ScanColumn, scanColumn, scanNumbers } from "../octree/scan-column.ts";
import { unitIsStated } from "../run/unstated-units.ts";
import { HEIGHT_SLUG } from "../terrain/dem.ts";
import { coarseWarnings } from "./coarse-coordinates.ts";
import { type CutTrees, cutTreesOf } from "./cut-trees.ts";
import { inventoryRows } from "./inventory-rows.ts";
import { inventoryWarnings } from "./inventory-warnings.ts";
import { scanLayersOf } from "./scan-layers.ts";
import { severalStemsWarnings, stemsInTreesBytes } from "./stems-in-trees.ts";
import { surfaceWarnings } from "./surface-trees.ts";
import { noiseInTrees, treeHits, treeNoiseEffect } from "./tree-noise.ts";
import { treeSizes } from "./tree-sizes.ts";
import { viewFitOf } from "./view-fit.ts";

const GROUND_SLUG = "ground_class";
const UNCLASSIFIED_EFFECT = "Trees among them may be missing or have a wrong height, and so may the plot.";
const CHANGED = "the cloud changed while the inventory ran; run it again";
/** How often a running inventory looks whether its cloud is still the session's. */
const CHANGE_POLL_MS = 50;
/** The columns that an inventory reads. */
const READ_COLUMNS = [
  "positions",
  "deleted",
  "timestamps",
  ...[TREE_SLUG, HEIGHT_SLUG, GROUND_SLUG, "is_miss", ...NOISE_SLUGS].map(extraKey),
];

/** Bytes per row of a tree: a fifth of them are at breast height, of 32 bytes each (scan_offsets of the addon). */
const COMPARED_BYTES = 7;

/** The answer; its rows are made while it is written. */
type InventoryAnswer = Omit<TreeInventoryTail, "trees" | "stem_curve" | "skipped"> & {
  readonly trees: LazyList | [];
  readonly stem_curve: LazyList | [];
  readonly skipped: LazyList | [];
};

/** Measures every tree of a session, then the stand (contract inventory 1). A failure is reported in the tail. */
export async function treeInventory(
  session: CloudSession,
  request: TreeInventoryRequest,
  deps: Deps,
  job: Job,
): Promise<InventoryAnswer> {
  try {
    const params = paramsOf(request);
    return await session.read(job, async (base) => {
      const trees = base.columns.get(extraKey(TREE_SLUG));
      if (!trees)
        throw new AppError("invalid_argument", `The cloud has no column ${TREE_SLUG}: run Segment Trees first.`);
      const tree_version = await treeVersion(base);
      job.stage("Indexing trees", 0.02, 0.02);
      const quiet = job.quiet(); // the stages show the inventory itself
      const hits = await treeHits(base, request.skip_noise, quiet);
      const { skip, noise_count } = hits;
      const numbered = await noiseInTrees(base, trees.native, hits, quiet);
      const { rows, largest } = await treeSizes(trees.native, { skip, has_noise: numbered > 0 }, deps, job);
      const scans = scanNumbers(base, request.scan_column);
      const compared = scans ? COMPARED_BYTES * rows : 0;
      const measuring = native.treeInventoryBytes(rows, largest, job.threads) + compared;
      const all = trees.native.length;
      const bytes = Math.max(
        measuring,
        stemsInTreesBytes(all, hits.hit_count),
        cutTreesBytes(all),
        BELOW_CANOPY_BYTES,
        groundLayersBytes(all),
      );
      return deps.admission.run(job, "Tree inventory", bytes, async () => {
        const layers = await groundLayersOf(
          { positions: positionsColumn(base), skip, scans: scans ?? scanColumn(base) },
          quiet,
        );
        const found = await measured(session, base, { skip, scans }, params, job);
        const gaps = await unclassifiedWarnings(optionalExtra(base, GROUND_SLUG), skip, UNCLASSIFIED_EFFECT, job);
        const cut = await cutTreesOf(positionsColumn(base), skip, trees.native, quiet);
        const answer = answerOf(found, cut, { request, params, layers, unit_is_stated: unitIsStated(base.meta) }, job);
        const coarse = await coarseWarnings(positionsColumn(base), skip, job);
        const surface = await surfaceWarnings(base, skip, quiet);
        const noise = noiseWarnings(noise_count, treeNoiseEffect(numbered));
        const several = await severalStemsWarnings(base, skip, request.tree_ids, quiet);
        const unlooked = request.tree_ids !== null && !found.view_fit && hasStamps(base, scans) ? [NOT_LOOKED_AT] : [];
        const warnings = [
          ...groundLayerWarnings(layers, "trees"),
          ...noise,
          ...gaps,
          ...coarse,
          ...surface,
          ...several,
          ...answer.warnings,
          ...unlooked,
        ];
        return { ...answer, noise_count, tree_version, warnings };
      });
    });
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return { ...NOTHING, warnings: [], params: null, error: message, code };
  }
}

const NOTHING = {
  success: false,
  trees: [],
  scan_offsets: [] as native.ScanOffset[],
  view_fit: null,
  ground_layers: null,
  scan_layers: null,
  stem_curve: [],
  stand: null,
  ground_sources: { height_above_ground: 0, ground_class: 0, tree_min_z: 0 },
  skipped: [],
} as const;

interface Asked {
  readonly request: TreeInventoryRequest;
  readonly params: Params;
  readonly layers: GroundLayers | null;
  readonly unit_is_stated: boolean;
}

type Params = Omit<NonNullable<TreeInventoryTail["params"]>, "skip_noise"> & native.InventoryParams;

/** All parameters. Errors: invalid_argument for an unknown fit_method and for lengths that are not above 0. */
function paramsOf(request: TreeInventoryRequest): Params {
  const fit_method = CIRCLE_SEARCHES.find((search) => search === request.fit_method);
  if (!fit_method)
    throw new AppError(
      "invalid_argument",
      `Unknown fit method "${request.fit_method}"; fit_method is ${CIRCLE_SEARCHES.join(" or ")}.`,
    );
  const { fit_method: _, skip_noise: __, scan_column: ___, align_scans, tree_ids, min_points, ...lengths } = request;
  const wrong = Object.entries(lengths).filter(([, value]) => !(Number.isFinite(value) && value > 0));
  if (wrong.length > 0) {
    const names = wrong.map(([name, value]) => `${name} (${value})`).join(", ");
    throw new AppError("invalid_argument", `Lengths must be above 0: ${names}.`);
  }
  if (request.stem_curve_step_m < MIN_STEM_CURVE_STEP_M)
    throw new AppError(
      "invalid_argument",
      `stem_curve_step_m ${request.stem_curve_step_m} is below the smallest step of ${MIN_STEM_CURVE_STEP_M} m.`,
    );
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const widen = slice_widen_m.filter((thickness) => thickness > request.slice_thickness_m);
  return { ...lengths, fit_method, align_scans, tree_ids, min_points, ...constants, slice_widen_m: widen };
}

/** Of trees that are seen by several views, if these do not fit. */
const MEASURED_AGAIN = [
  { name: "Comparing views", weight: 0.1 },
  { name: "Measuring without drift", weight: 0.3 },
  { name: "Measuring again without drift", weight: 0.3 },
] as const;

const NOT_LOOKED_AT =
  "Whether scans fit each other, or the scanner drifted, is not known of fewer than four stems: without tree_ids it is looked at, and diameters may be others.";

/** Whether a session tells what was measured together. */
export const hasStamps = (base: CloudState, scans: ScanColumn | null): boolean =>
  scans !== null || fixedColumn(base, "timestamps") !== null;

interface Rows {
  /** Rows that are left out. */
  readonly skip: native.TreeCloud["skip"];
  readonly scans: ScanColumn | null;
}

/** The columns of a session that an inventory measures. */
export const nativeCloud = (base: CloudState, { skip, scans }: Rows) => ({
  positions: positionsColumn(base),
  skip,
  tree_instance: optionalExtra(base, TREE_SLUG) as NonNullable<ReturnType<typeof optionalExtra>>,
  height_above_ground: optionalExtra(base, HEIGHT_SLUG),
  ground_class: optionalExtra(base, GROUND_SLUG),
  scan_index: scans?.values ?? null,
  time_s: fixedColumn(base, "timestamps"),
  shift: base.meta.world_shift ?? ([0, 0, 0] as const),
});

/** Runs the op, and ends it early if the cloud that it measures is no longer the session's. */
async function measured(
  session: CloudSession,
  base: CloudState,
  rows: Rows,
  params: Params,
  job: Job,
): Promise<native.TreeInventory> {
  const cloud = nativeCloud(base, rows);
  const seenTwice = params.align_scans && hasStamps(base, rows.scans);
  job.stage("Indexing trees", 0.02, 0.99, [
    { name: "Counting classes", weight: 0.01, message: () => "Indexing trees" },
    { name: "Ordering points by class", weight: 0.01, message: () => "Indexing trees" },
    { name: "Indexing trees", weight: 0.01 },
    {
      name: "Measuring tree",
      weight: 0.8,
      message: (done, total) => `Measuring tree ${Math.min(done + 1, total)} of ${total}`,
    },
    ...(seenTwice ? MEASURED_AGAIN : []),
    {
      name: "Joining layers",
      weight: 0.05,
      message: (done, total) => `Measuring tree ${Math.min(done + 1, total)} of ${total} again`,
    },
    { name: "Plot boundary", weight: 0.02, message: () => "Stand metrics" },
    { name: "Stand metrics", weight: 0.05 },
    { name: "Comparing scans", weight: 0.02 },
  ]);
  let running: NativeJob<native.TreeInventory> | undefined;
  let replaced = false;
  const look = () => {
    replaced ||= !sameCloud(session, base, rows.scans);
    if (replaced) running?.cancel();
  };
  const timer = setInterval(look, CHANGE_POLL_MS);
  try {
    const found = await job.track(() => {
      running = native.treeInventory(cloud, params);
      return running;
    });
    for (const table of [found.trees, found.hulls, found.curve, found.stand_trees, found.skipped])
      job.adopt(new ColumnRef(table));
    look();
    if (replaced) throw new AppError("conflict", CHANGED);
    return found;
  } catch (error) {
    job.checkpoint();
    throw replaced ? new AppError("conflict", CHANGED) : error;
  } finally {
    clearInterval(timer);
  }
}

/** Whether the columns that an inventory reads are still those of `base`. */
function sameCloud(session: CloudSession, base: CloudState, scans: ScanColumn | null): boolean {
  if (session.closed) return false;
  const { state } = session;
  if (state.version === base.version) return true;
  const read = scans ? [...READ_COLUMNS, extraKey(scans.slug)] : READ_COLUMNS;
  return read.every((key) => state.columns.get(key) === base.columns.get(key));
}

function answerOf(
  found: native.TreeInventory,
  cut: CutTrees,
  { request, params, layers, unit_is_stated }: Asked,
  job: Job,
): InventoryAnswer {
  job.stage("Finalizing", 1, 1);
  const rows = inventoryRows(found, params, cut);
  const { trees, stem_curve, skipped, ground_sources } = rows;
  const success = trees.length > 0;
  const { overlap_known: _, plot_seen_share: __, trees_on_ground_share: ___, ...stand } = found.stand ?? {};
  return {
    success,
    trees,
    stem_curve,
    stand: found.stand && { ...(stand as typeof found.stand), competition_radius_m: params.competition_radius_m },
    ground_sources,
    skipped,
    warnings: inventoryWarnings(found, rows, { ...request, unit_is_stated }, cut),
    scan_offsets: [...found.scan_offsets],
    view_fit: viewFitOf(found.view_fit),
    ground_layers: layers,
    scan_layers: scanLayersOf(found.scan_layers),
    params: { ...params, skip_noise: request.skip_noise },
    error: success
      ? null
      : `No tree could be measured; ${skipped.length > 0 ? "skipped tells why" : "tree_ids is empty"}.`,
    ...(success ? {} : { code: "invalid_argument" as const }),
  };
}
