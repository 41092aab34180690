import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/capture-recapture.ts";

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
export async function lostHitWarning(name: string, scan: native.ViewedScan, job: Job): Promise<string | null> {
  const { looked_at, between, lost } = await job.track(() => native.lostHits(scan));
  if (between < FEWEST) return null;
  const most = between >= LEAST_SURFACE * looked_at ? MOST_LOST : MOST_LOST_OF_LEAVES;
  const share = lost / between;
  if (!(share > most)) return null;
  return `${name}: of the beams amid hits of one surface ${(100 * share).toFixed(0)} % are misses, where a whole scan has about 1 %. Hits were taken out (thinning, a filter) or lost (dark, wet or shiny surfaces); each counts as a pulse that nothing stopped, so leaf area reads low. Use all points of the scan.`;
}
