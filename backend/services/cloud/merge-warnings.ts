import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
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
  const shared = (await sharedNumbers(states, TREE_SLUG, job)).filter((id) => id > 0).length;
  if (shared === 0) return [];
  const which = shared === 1 ? "1 tree number is" : `${shared} tree numbers are`;
  return [
    `${which} in more than one cloud: points with the same tree_instance are one tree in the merged cloud. Unless they are parts of the same trees, segment the trees again.`,
  ];
}

/** Warns of scan numbers that several clouds have, and of rasters that would share their cells. */
export async function scanWarnings(states: readonly CloudState[], job: Job): Promise<string[]> {
  const shared = (await sharedNumbers(states, SCAN_SLUG, job)).length;
  const which = shared === 1 ? "1 scan number is" : `${shared} scan numbers are`;
  const scans = `${which} in more than one cloud: points with the same scan_index are one scan in the merged cloud. Unless they are parts of the same scans, export each cloud to a file of its own where scans matter (e57, ptx).`;
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

/** Whether points of several clouds are one scan: by equal numbers, or because clouds without scan_index are scan 0. */
async function shareScans(states: readonly CloudState[], job: Job): Promise<boolean> {
  const own = states.map((state) => (optionalExtra(state, SCAN_SLUG) ? numbersOf(state, SCAN_SLUG, job) : [0]));
  const numbers = (await Promise.all(own)).flat();
  return new Set(numbers).size < numbers.length;
}

/** The numbers of a column that more than one cloud has. */
async function sharedNumbers(states: readonly CloudState[], slug: string, job: Job): Promise<number[]> {
  const clouds = new Map<number, number>();
  for (const state of states)
    for (const id of await numbersOf(state, slug, job)) clouds.set(id, (clouds.get(id) ?? 0) + 1);
  return [...clouds].filter(([, count]) => count > 1).map(([id]) => id);
}

/** The different numbers of the points that are not deleted; [] without the column or with too many of them. */
async function numbersOf(state: CloudState, slug: string, job: Job): Promise<readonly number[]> {
  const column = optionalExtra(state, slug);
  if (!column) return [];
  return [...((await knownClasses(column, fixedColumn(state, "deleted"), job))?.values ?? [])];
}
