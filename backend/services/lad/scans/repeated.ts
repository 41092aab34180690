import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import { cloudStats, hitMask } from "../../../native/cloud/cloud.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { repeatedShare, sampledSpacing, TOLD_REPEATED } from "../../run/repeated-points.ts";
import type { CheckedScan, ReadScan } from "./scans.ts";

const TWICE = "intervals are too narrow, and with several returns per pulse the leaf area is wrong";

/** Errors: invalid_argument for a session or a file that is sent twice. */
export function checkSentOnce(scans: readonly CheckedScan[]): void {
  const names = new Map<string, string>();
  for (const { name, source } of scans) {
    if (source.from === "inline") continue;
    const [key, what] =
      source.from === "session"
        ? [`session ${source.session.id}`, `session ${source.session.id}`]
        : [`file ${source.path}`, `file ${source.path}`];
    const earlier = names.get(key);
    if (earlier !== undefined) {
      throw new AppError(
        "invalid_argument",
        `${name} is the same ${what} as ${earlier}: each of its pulses would count twice. Send it once.`,
      );
    }
    names.set(key, name);
  }
}

/** Names scans whose pulses come twice, in one of them or in two. */
export async function repeatedPulses(scans: readonly ReadScan[], job: Job): Promise<string[]> {
  const part = job.quiet();
  const told: string[] = [];
  const extents: Extent[] = [];
  for (const scan of scans) {
    const { positions, is_miss, deleted } = scan.beams;
    const mask = await part.track(() => hitMask(is_miss, deleted, positions.length));
    const skip = mask.skip ? part.adopt(new ColumnRef(mask.skip)).native : null;
    const share = repeatedShare(await sampledSpacing(positions, skip, part));
    if (share >= TOLD_REPEATED)
      told.push(
        `${scan.notes.name}: about ${Math.round(100 * share)} % of the hits stand at the place of another one. Pulses that come twice count twice: ${TWICE}. Was a file imported or merged twice?`,
      );
    if (scans.length === 1) break;
    const extent = await extentOf(scan, skip, part);
    const earlier = extents.find((one) => isSame(one, extent));
    if (earlier)
      told.push(
        `${extent.name} has as many points as ${earlier.name}, within the same bounds. If it is the same scan, its pulses count twice: ${TWICE}.`,
      );
    extents.push(extent);
  }
  return told;
}

/** Where the hits of a scan lie, true world. */
interface Extent {
  readonly name: string;
  readonly rows: number;
  readonly count: number;
  readonly bounds: readonly number[];
}

async function extentOf({ beams, notes }: ReadScan, skip: ColumnRef["native"] | null, job: Job): Promise<Extent> {
  const { count, bounds } = await job.track(() => cloudStats(beams.positions, skip));
  const corners = bounds ? [bounds.min, bounds.max] : [];
  return {
    name: notes.name,
    rows: beams.positions.length,
    count,
    bounds: corners.flatMap((corner) => corner.map((value, axis) => value + (beams.shift[axis as 0 | 1 | 2] ?? 0))),
  };
}

const SAME_M = 1e-6;
const isSame = (a: Extent, b: Extent) =>
  a.rows === b.rows &&
  a.count === b.count &&
  a.bounds.length > 0 &&
  a.bounds.every((value, i) => Math.abs(value - (b.bounds[i] ?? Number.NaN)) <= SAME_M);
