import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { knownClasses } from "../run/known-classes.ts";

const TREE_SLUG = "tree_instance";

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
  const clouds = new Map<number, number>();
  for (const state of states) {
    const trees = optionalExtra(state, TREE_SLUG);
    if (!trees) continue;
    const classes = await knownClasses(trees, fixedColumn(state, "deleted"), job);
    for (const id of classes?.values ?? []) clouds.set(id, (clouds.get(id) ?? 0) + 1);
  }
  const shared = [...clouds].filter(([id, count]) => id > 0 && count > 1).length;
  if (shared === 0) return [];
  const which = shared === 1 ? "1 tree number is" : `${shared} tree numbers are`;
  return [
    `${which} in more than one cloud: points with the same tree_instance are one tree in the merged cloud. Unless they are parts of the same trees, segment the trees again.`,
  ];
}
