import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/capture-recapture.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Triple } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { everyRow, type ReadScan } from "./scans/scans.ts";
import { staticOrigin } from "./triangulation.ts";
import { rowsOf } from "./views.ts";

/**
 * Of the beams amid hits of one surface, how many may be misses. Simulated stands: .014 to .03 as scanned, .065 to .08 with every
 * twentieth hit lost, .1 to .45 with one per 1 cm.
 */
const MOST_LOST = 0.04;
/** Part of the beams that lie amid hits of a surface from where on there are surfaces. Stands: from .2 on; plants alone: .005 to .09. */
const LEAST_SURFACE = 0.15;
/** Plants alone: .1 to .7 as scanned. The plots that keep 3 % of their hits, of whose beams .03 to .08 lie amid hits: .96 and .97. */
const MOST_LOST_OF_PLANTS = 0.85;
/** Fewer beams tell nothing. */
const FEWEST = 1000;

/** A sentence on a scan whose misses lie amid hits; null if it is whole, as far as can be seen. */
async function lostHitWarning(name: string, scan: native.ViewedScan, job: Job): Promise<string | null> {
  const { looked_at, between, lost } = await job.track(() => native.lostHits(scan));
  if (between < FEWEST) return null;
  const most = between >= LEAST_SURFACE * looked_at ? MOST_LOST : MOST_LOST_OF_PLANTS;
  const share = lost / between;
  if (!(share > most)) return null;
  return `${name}: of the beams amid hits of one surface ${(100 * share).toFixed(0)} % are misses, where a whole scan has 1 to 3 %. Hits were taken out (thinning, a filter) or lost (dark, wet or shiny surfaces); each counts as a pulse that nothing stopped, so leaf area reads low. Use all points of the scan.`;
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
