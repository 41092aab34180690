import type { Job } from "../../jobs/job.ts";
import type { CloudMeta, CloudState } from "../../sessions/cloud-session.ts";
import { type ExtraDim, extraKey } from "../../sessions/column-names.ts";
import { hasNormals } from "../../sessions/edits.ts";
import { constantOf } from "./merge-constants.ts";
import { numbersOf, sharedBy } from "./merge-numbers.ts";
import type { FillOf } from "./merge-returns.ts";
import type { MergedScans } from "./merge-scans.ts";

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
  const shared = sharedBy(await Promise.all(states.map((state) => numbersOf(state, TREE_SLUG, job)))).filter(
    (id) => id > 0,
  ).length;
  if (shared === 0) return [];
  const which = shared === 1 ? "1 tree number is" : `${shared} tree numbers are`;
  return [
    `${which} in more than one cloud: points with the same tree_instance are one tree in the merged cloud. Unless they are parts of the same trees, segment the trees again.`,
  ];
}

/** Warns of recovered misses, which the merged cloud does not have. */
export function missWarnings(states: readonly CloudState[]): string[] {
  const lost = states.reduce((sum, { misses }) => sum + (misses.get("positions")?.length ?? 0), 0);
  if (lost === 0) return [];
  return [
    `${lost} recovered misses are not in the merged cloud. Leaf area needs them: give it the clouds themselves, as several scans.`,
  ];
}

const CLOCKS = {
  adjusted_standard: "adjusted standard GPS time",
  gps_week: "seconds of the GPS week",
  unknown: "a clock that is not known",
} as const;

/** The clock of the times that all clouds with times have; null if they differ or it is not known. */
export const agreedClock = (states: readonly CloudState[]): CloudMeta["gps_time_encoding"] => {
  const clocks = clocksOf(states);
  return clocks.length === 1 && clocks[0] !== "unknown" ? (clocks[0] ?? null) : null;
};

/** Warns of clouds whose times count differently. */
export function clockWarnings(states: readonly CloudState[]): string[] {
  const clocks = clocksOf(states);
  if (clocks.length < 2) return [];
  return [
    `The clouds count time differently (${clocks.map((clock) => CLOCKS[clock]).join(", ")}): their times are joined as they are and do not compare, and the clock of the merged cloud is not known.`,
  ];
}

function clocksOf(states: readonly CloudState[]) {
  const timed = states.filter(hasTimes);
  const clocks = (timed.length > 0 ? timed : states).map(({ meta }) => meta.gps_time_encoding ?? ("unknown" as const));
  return [...new Set(clocks)];
}

/** Whether a cloud has times; 0 at every point is what files without a clock have. */
export const hasTimes = (state: CloudState): boolean =>
  state.columns.has("timestamps") || (constantOf(state, "timestamps") ?? 0) !== 0;

/** Names what the merged cloud has for points that had no value, and what it leaves out. */
export function filledWarnings(
  states: readonly CloudState[],
  merged: readonly ExtraDim[],
  fillOf: FillOf,
  instead: MergedScans["instead"],
): string[] {
  const has = (state: CloudState, key: string) =>
    state.columns.has(key) || instead.get(state)?.has(key) === true || constantOf(state, key) !== null;
  const lacks = (key: string) => states.some((state) => !has(state, key));
  const filled = (key: string) => states.some(({ columns }) => columns.has(key)) && lacks(key);
  const someTimes = states.some(hasTimes) && !states.every(hasTimes);
  const zero = [...(someTimes ? ["timestamps"] : []), ...["intensity", "beam_origins"].filter(filled)];
  const extras = merged.filter(({ slug }) => filled(extraKey(slug)));
  const labels = (fill: number) => extras.filter(({ slug }) => fillOf(slug) === fill).map(({ label }) => label);
  const names = [...zero, ...labels(0)];
  const warnings: string[] = [];
  if (names.length > 0)
    warnings.push(`Points of clouds without these columns have the value 0 there: ${names.join(", ")}.`);
  if (labels(1).length > 0) warnings.push("Points of clouds without return numbers are return 1 of 1.");
  if (filled("colors")) warnings.push("Points of clouds without colours are white.");
  if (states.some(hasNormals) && !states.every(hasNormals))
    warnings.push("The normals are left out, because not every cloud has them.");
  return warnings;
}
