import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
import { deletedCount } from "../../sessions/edits.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { knownClasses } from "../run/known-classes.ts";

const TREE_SLUG = "tree_instance";
const SCAN_SLUG = "scan_index";
const RASTER_COLUMNS = ["row_index", "column_index"];

/** Warns of clouds in different coordinate systems: their coordinates are joined as they are. */
export function systemWarnings(states: readonly CloudState[]): string[] {
  const systems = new Map(states.map(({ meta }) => [JSON.stringify(systemOf(meta)), systemName(meta)]));
  if (systems.size < 2) return [];
  const names = [...new Set(systems.values())];
  return [
    `The clouds have different coordinate systems (${names.join(", ")}): their coordinates are joined as they are, and the merged cloud has no coordinate system.`,
  ];
}

const systemOf = ({ crs_epsg, crs_is_geographic, crs_wkt, crs_geotiff }: CloudMeta) =>
  crs_epsg === null ? [crs_is_geographic, crs_wkt, crs_geotiff ?? null] : crs_epsg;

function systemName({ crs_epsg, crs_is_geographic, crs_wkt, crs_geotiff }: CloudMeta): string {
  if (crs_epsg !== null) return `EPSG:${crs_epsg}`;
  if (crs_wkt !== null || crs_geotiff) return "one without an EPSG code";
  return crs_is_geographic ? "degrees" : "none";
}

/** Warns of tree numbers that several clouds have: in the merged cloud they are one tree. */
export async function treeWarnings(states: readonly CloudState[], job: Job): Promise<string[]> {
  const shared = sharedBy(await Promise.all(states.map((state) => numbersOf(state, TREE_SLUG, job)))).filter(
    (id) => id > 0,
  ).length;
  if (shared === 0) return [];
  const which = shared === 1 ? "1 tree number is" : `${shared} tree numbers are`;
  return [
    `${which} in more than one cloud: points with the same tree_instance are one tree in the merged cloud. Unless they are parts of the same trees, segment the trees again.`,
  ];
}

/** Warns of scan numbers that several clouds have, and of rasters that would share their cells. */
export async function scanWarnings(states: readonly CloudState[], job: Job): Promise<string[]> {
  const numbered = states.some((state) => optionalExtra(state, SCAN_SLUG));
  const shared = numbered ? sharedBy(await Promise.all(states.map((state) => scansOf(state, job)))).length : 0;
  const unnumbered = numbered && states.some((state) => !optionalExtra(state, SCAN_SLUG) && hasPoints(state));
  const which = shared === 1 ? "1 scan number is" : `${shared} scan numbers are`;
  const filled = unnumbered ? " (all points of a cloud without scan_index are scan 0)" : "";
  const scans = `${which} in more than one cloud${filled}: points with the same scan_index are one scan in the merged cloud. Unless they are parts of the same scans, export each cloud to a file of its own where scans matter (e57, ptx).`;
  const rasters = states.filter((state) => RASTER_COLUMNS.every((slug) => optionalExtra(state, slug)));
  const together = rasters.length > 1 && (await shareScans(rasters, job));
  return [
    ...(shared > 0 ? [scans] : []),
    ...(together
      ? [
          `${rasters.length} clouds have row_index and column_index: in the merged cloud, points of several rasters can have the same cell of a scan, and a ptx file keeps one point of a cell. Export each cloud to a ptx file of its own.`,
        ]
      : []),
  ];
}

/** Whether points of several clouds are one scan. */
async function shareScans(states: readonly CloudState[], job: Job): Promise<boolean> {
  return sharedBy(await Promise.all(states.map((state) => scansOf(state, job)))).length > 0;
}

const hasPoints = ({ undo, columns }: CloudState): boolean =>
  deletedCount(undo) < (columns.get("positions")?.length ?? 0);

/** The scan numbers of a cloud in the merged one: without scan_index, it is scan 0. */
async function scansOf(state: CloudState, job: Job): Promise<readonly number[]> {
  if (!optionalExtra(state, SCAN_SLUG)) return hasPoints(state) ? [0] : [];
  return numbersOf(state, SCAN_SLUG, job);
}

/** The numbers that more than one cloud has. */
function sharedBy(clouds: readonly (readonly number[])[]): number[] {
  const counts = new Map<number, number>();
  for (const numbers of clouds) for (const id of numbers) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([id]) => id);
}

/** The different numbers of the points that are not deleted; [] without the column or with too many of them. */
async function numbersOf(state: CloudState, slug: string, job: Job): Promise<readonly number[]> {
  const column = optionalExtra(state, slug);
  if (!column) return [];
  return [...((await knownClasses(column, fixedColumn(state, "deleted"), job))?.values ?? [])];
}
