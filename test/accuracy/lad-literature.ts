// What published work says of set-ups like the rows of `lad`.

/** Helios: its self-tests (plugins/lidar/tests/selfTest.cpp), with G of its own triangles. */
const HELIOS = {
  cube: "Helios: 2 % (a cube of one voxel), 0.05 m2/m3 RMS (eight)",
  angles: "Helios: 3 % (a cube of one voxel)",
  tree: "Helios, an almond: bias at most 0, no lower bound; 0.25 m2 RMS a voxel",
} as const;
/** Pimont et al. 2018, Remote Sensing of Environment 215. */
const PIMONT = {
  beams: "Pimont: no bias from 5 beams a voxel on",
  intervals: "Pimont: +-10 % with 1000 beams and small leaves, above +-50 % with large ones",
} as const;
const NONE = "none found";

/** Of beams drawn from Beer's law. */
export function lawLiterature(name: string): string {
  if (name.includes("few beams")) return PIMONT.beams;
  return /returns per pulse|from above|of each beam/.test(name) ? NONE : PIMONT.intervals;
}

/** Of scans of cubes of leaves. */
export function cubeLiterature(name: string): string {
  if (/rays|moving|from above|from below|phile/.test(name)) return NONE;
  return name.includes("Beta") ? HELIOS.angles : HELIOS.cube;
}

/** Of scans of trees. Moved leaves and wood that is split off have no counterpart. */
export function treeLiterature(name: string): string {
  return name.includes("at random") || name.includes("split") ? NONE : HELIOS.tree;
}
