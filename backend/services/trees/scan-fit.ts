import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/inventory.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { TREE_SLUG } from "../../sessions/tree-version.ts";
import { optionalExtra } from "../octree/columns.ts";
import { scanNumbers } from "../octree/scan-column.ts";
import { hasStamps, nativeCloud } from "./inventory.ts";
import { treeHits } from "./tree-noise.ts";
import { treeSizes } from "./tree-sizes.ts";

/** A look at whether the scans of a cloud fit each other, not yet taken. */
export interface ScanFitLook {
  /** Memory that it takes, bytes. */
  readonly bytes: number;
  /** Warns of scans that do not fit, or of a drift; nothing where stems do not tell. */
  warnings(job: Job): Promise<string[]>;
}

const NOT_NEEDED: ScanFitLook = { bytes: 0, warnings: async () => [] };

/** Prepares the look; nothing to be done in clouds without trees or without scans and times. */
export async function scanFitLook(base: CloudState, skip_noise: boolean, deps: Deps, job: Job): Promise<ScanFitLook> {
  const trees = optionalExtra(base, TREE_SLUG);
  const scans = scanNumbers(base);
  if (!trees || !hasStamps(base, scans)) return NOT_NEEDED;
  const hits = await treeHits(base, skip_noise, job);
  const { rows, largest } = await treeSizes(trees, { skip: hits.skip, has_noise: hits.noise_count > 0 }, deps, job);
  return {
    bytes: native.treeInventoryBytes(rows, largest, job.threads),
    warnings: (own) => driftWarnings(nativeCloud(base, { skip: hits.skip, scans }), own),
  };
}

async function driftWarnings(cloud: ReturnType<typeof nativeCloud>, job: Job): Promise<string[]> {
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null, align_scans: false };
  const { view_fit } = await job.track(() => native.alignScans(cloud, params, null));
  if (!view_fit?.drifts) return [];
  return [
    `Stems stand at different places in different scans, or at different times of one: ${(1000 * view_fit.spread_m).toFixed(0)} mm along x and along y (root mean square, ${view_fit.n_stems} stems). Trees and labels of wood are of such points: move the scans onto each other (POST align_scans), then divide the cloud into trees and label its wood again.`,
  ];
}
