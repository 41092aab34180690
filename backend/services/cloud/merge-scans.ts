import type { Job } from "../../jobs/job.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import type { ScanOrigin, Triple } from "../../sessions/column-names.ts";
import { deletedCount } from "../../sessions/edits.ts";
import { optionalExtra } from "../octree/columns.ts";
import { numbersOf, sharedBy } from "./merge-numbers.ts";

const SCAN_SLUG = "scan_index";
const RASTER_COLUMNS = ["row_index", "column_index"];

/** The scans of clouds that are merged. */
export interface MergedScans {
  /** Scanner positions in the frame of the first cloud; none without scan numbers, or if one is shared. */
  readonly origins: readonly ScanOrigin[];
  readonly warnings: readonly string[];
}

/**
 * Scanner positions of the merged cloud; warns of those that it does not have, of scan numbers that several clouds have, and of
 * rasters that would share their cells. `offsetOf`: from the frame of a cloud to that of the first.
 */
export async function mergedScans(
  states: readonly CloudState[],
  offsetOf: (state: CloudState) => Triple,
  job: Job,
): Promise<MergedScans> {
  const numbers = await Promise.all(states.map((state) => scansOf(state, job)));
  const numbered = states.some((state) => optionalExtra(state, SCAN_SLUG));
  const isOne = numbered && sharedBy(numbers).length === 0;
  const origins = isOne ? states.flatMap((state, i) => originsOf(state, numbers[i] ?? [], offsetOf(state))) : [];
  return { origins, warnings: [...originWarnings(states, numbers, origins), ...numberWarnings(states, numbers)] };
}

/** The known positions of the scans that a cloud has points of. */
function originsOf({ meta }: CloudState, numbers: readonly number[], [dx, dy, dz]: Triple): ScanOrigin[] {
  return (meta.scan_origins ?? [])
    .filter(({ scan_index }) => numbers.includes(scan_index))
    .map(({ scan_index, origin: [x, y, z] }) => ({ scan_index, origin: [x + dx, y + dy, z + dz] }));
}

/** Warns of clouds whose scanner position the merged cloud does not have. */
function originWarnings(
  states: readonly CloudState[],
  numbers: readonly (readonly number[])[],
  origins: readonly ScanOrigin[],
): string[] {
  const kept = new Set(origins.map(({ scan_index }) => scan_index));
  const lost = states.filter(({ meta, columns }, i) => {
    const stated = (meta.scan_origins ?? []).filter(({ scan_index }) => numbers[i]?.includes(scan_index));
    if (stated.length > 0) return stated.some(({ scan_index }) => !kept.has(scan_index));
    return meta.miss_octree_origin !== null && !columns.has("beam_origins");
  }).length;
  if (lost === 0) return [];
  const which = lost === 1 ? "The scanner position of 1 cloud is" : `The scanner positions of ${lost} clouds are`;
  return [
    `${which} not in the merged cloud. Where positions matter (leaf area, misses, files of scans), use the clouds themselves.`,
  ];
}

function numberWarnings(states: readonly CloudState[], numbers: readonly (readonly number[])[]): string[] {
  const numbered = states.some((state) => optionalExtra(state, SCAN_SLUG));
  const shared = numbered ? sharedBy(numbers).length : 0;
  const unnumbered = numbered && states.some((state) => !optionalExtra(state, SCAN_SLUG) && hasPoints(state));
  const which = shared === 1 ? "1 scan number is" : `${shared} scan numbers are`;
  const filled = unnumbered ? " (all points of a cloud without scan_index are scan 0)" : "";
  const scans = `${which} in more than one cloud${filled}: points with the same scan_index are one scan in the merged cloud. Unless they are parts of the same scans, export each cloud to a file of its own where scans matter (e57, ptx).`;
  const rasters = numbers.filter((_, i) =>
    RASTER_COLUMNS.every((slug) => optionalExtra(states[i] as CloudState, slug)),
  );
  const together = rasters.length > 1 && sharedBy(rasters).length > 0;
  return [
    ...(shared > 0 ? [scans] : []),
    ...(together
      ? [
          `${rasters.length} clouds have row_index and column_index: in the merged cloud, points of several rasters can have the same cell of a scan, and a ptx file keeps one point of a cell. Export each cloud to a ptx file of its own.`,
        ]
      : []),
  ];
}

const hasPoints = ({ undo, columns }: CloudState): boolean =>
  deletedCount(undo) < (columns.get("positions")?.length ?? 0);

/** The scan numbers of a cloud in the merged one: without scan_index, it is scan 0. */
async function scansOf(state: CloudState, job: Job): Promise<readonly number[]> {
  if (!optionalExtra(state, SCAN_SLUG)) return hasPoints(state) ? [0] : [];
  return numbersOf(state, SCAN_SLUG, job);
}
