import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/capture-recapture.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { type BeamScan, lostHitsMoving } from "../../native/lad.ts";
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
function told(name: string, { looked_at, between, lost }: native.LostHits): string | null {
  if (between < FEWEST) return null;
  const most = between >= LEAST_SURFACE * looked_at ? MOST_LOST : MOST_LOST_OF_PLANTS;
  const share = lost / between;
  if (!(share > most)) return null;
  return `${name}: of the beams amid hits of one surface ${(100 * share).toFixed(0)} % are misses, where a whole scan has 1 to 3 %. Hits were taken out (thinning, a filter) or lost (dark, wet or shiny surfaces); each counts as a pulse that nothing stopped, so leaf area reads low. Use all points of the scan.`;
}

const standing = async (name: string, scan: native.ViewedScan, job: Job) =>
  told(name, await job.track(() => native.lostHits(scan)));
const moving = async (name: string, parts: readonly BeamScan[], job: Job) =>
  told(name, await job.track(() => lostHitsMoving(parts)));

/** Sentences on scans whose misses lie amid their hits. */
export async function lostHitWarnings(scans: readonly ReadScan[], job: Job): Promise<string[]> {
  const warnings: string[] = [];
  for (const scan of scans) {
    const origin = await staticOrigin(scan, job);
    const parts = scan.misses ? [scan.beams, scan.misses] : [scan.beams];
    const { name } = scan.notes;
    const warning = origin
      ? await standing(name, { origin, rows: parts.map(rowsOf) }, job)
      : await moving(name, parts, job);
    if (warning) warnings.push(warning);
  }
  return warnings;
}

interface Returns {
  readonly positions: NativeColumn;
  /** Non-zero = no return. */
  readonly skip: NativeColumn | null;
  /** Of a scanner that moved, for each row; null = it stood still. */
  readonly origins: NativeColumn | null;
}

interface Misses {
  readonly positions: ColumnRef;
  /** Of a scanner that moved. */
  readonly origins: ColumnRef | undefined;
}

/** The same of a scan and the misses that were recovered for it, in one frame; `origin` of a scanner that stood still. */
export async function missesAmidHits(
  { positions, skip, origins }: Returns,
  origin: Triple,
  misses: Misses | null,
  job: Job,
): Promise<string | null> {
  if (!misses) return null;
  const is_miss = await everyRow(misses.positions.native.length, job);
  const hits = { positions, shift: [0, 0, 0] as const, is_miss: skip, deleted: null };
  const made_up = { ...hits, positions: misses.positions.native, is_miss };
  if (!origins) {
    const rows = [hits, made_up].map((row) => ({ ...row, is_leaf: null }));
    return standing("The scan", { origin, rows }, job);
  }
  if (!misses.origins) throw new AppError("internal", "misses of a moving scanner without beam origins");
  const row = { timestamps: null, target_index: null };
  const parts = [
    { ...hits, ...row, origins },
    { ...made_up, ...row, origins: misses.origins.native },
  ];
  return moving("The scan", parts, job);
}
