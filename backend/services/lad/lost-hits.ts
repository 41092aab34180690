import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/capture-recapture.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Triple } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { everyRow, type ReadScan } from "./scans/scans.ts";
import { staticOrigin } from "./triangulation.ts";
import { rowsOf } from "./views.ts";

/**
 * Of the beams amid hits of one surface, how many may be misses where surfaces are a part of the scan. Simulated stands: .008 to .015 as
 * scanned, .06 with every twentieth hit lost, .11 with every tenth, .11 to .39 with one per 1 cm, .34 to .52 with one per 2 cm.
 */
const MOST_LOST = 0.04;
/** Part of the beams that lie amid hits of a surface from where on there are surfaces. Stands: from .28 on; plants alone: .008 to .08. */
const LEAST_SURFACE = 0.15;
/** Plants alone: .01 to .31 as scanned, .5 to .73 with every second hit lost; stands with one hit per 5 cm: .51 to .7. */
const MOST_LOST_OF_LEAVES = 0.45;
/** Fewer beams tell nothing. */
const FEWEST = 200;

/** A sentence on a scan whose misses lie amid hits; null if it is whole, as far as can be seen. */
async function lostHitWarning(name: string, scan: native.ViewedScan, job: Job): Promise<string | null> {
  const { looked_at, between, lost } = await job.track(() => native.lostHits(scan));
  if (between < FEWEST) return null;
  const most = between >= LEAST_SURFACE * looked_at ? MOST_LOST : MOST_LOST_OF_LEAVES;
  const share = lost / between;
  if (!(share > most)) return null;
  return `${name}: of the beams amid hits of one surface ${(100 * share).toFixed(0)} % are misses, where a whole scan has about 1 %. Hits were taken out (thinning, a filter) or lost (dark, wet or shiny surfaces); each counts as a pulse that nothing stopped, so leaf area reads low. Use all points of the scan.`;
}

/** Sentences on scans whose misses lie amid their hits; those of scanners that moved are not looked at. */
export async function lostHitWarnings(scans: readonly ReadScan[], job: Job): Promise<string[]> {
  const told: string[] = [];
  for (const scan of scans) {
    const origin = await staticOrigin(scan, job);
    if (!origin) continue;
    const rows = scan.misses ? [rowsOf(scan.beams), rowsOf(scan.misses)] : [rowsOf(scan.beams)];
    const warning = await lostHitWarning(scan.notes.name, { origin, rows }, job);
    if (warning) told.push(warning);
  }
  return told;
}

interface Returns {
  readonly positions: NativeColumn;
  /** Non-zero = no return. */
  readonly skip: NativeColumn | null;
}

/** The same of a scan and the misses that were recovered for it, in one frame. */
export async function missesAmidHits(
  { positions, skip }: Returns,
  origin: Triple,
  misses: ColumnRef | undefined,
  job: Job,
): Promise<string | null> {
  if (!misses) return null;
  const row = { shift: [0, 0, 0] as const, deleted: null, is_leaf: null };
  const is_miss = await everyRow(misses.native.length, job);
  const rows = [
    { ...row, positions, is_miss: skip },
    { ...row, positions: misses.native, is_miss },
  ];
  return lostHitWarning("The scan", { origin, rows }, job);
}
