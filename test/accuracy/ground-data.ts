// The clouds with known ground.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { plotFiles } from "../bench/inputs.ts";
import { buildProgram } from "../bench/native.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { BARE_FIELDS, bareField } from "./bare-field.ts";
import { FOREST_PLOTS, forestPlot } from "./forest-plots.ts";
import { readLas, readLasHeader, readPcd } from "./native.ts";
import { type Relief, relief } from "./relief.ts";
import type { KnownTerrain } from "./terrain-error.ts";
import { walkedForest } from "./walked-forest.ts";

const INTERNATIONAL_FOOT = 0.3048;
const GROUPS = ["isprs", "als", "tls", "relief", "forest", "walked", "thicket", "bare"] as const;
/** Made here, not read from files. */
const GENERATED: readonly string[] = ["relief", "walked", "thicket", "bare"];
export type GroundGroup = (typeof GROUPS)[number];
export const groups: readonly string[] = GROUPS;

export interface GroundCloud {
  readonly name: string;
  readonly group: GroundGroup;
  /** Metres. */
  readonly xyz: Float64Array;
  /** 1 ground, 2 not, 0 unknown. */
  readonly truth: Uint8Array;
  /** Where the exact height is known. */
  readonly terrain?: KnownTerrain;
}

/** The ISPRS filter test (Sithole & Vosselman 2004); the ground file is the exact subset. */
async function isprs(number: string): Promise<GroundCloud> {
  const folder = join(DATA, "ground_isprs");
  const xyz = await readPcd(join(folder, `samp${number}-utm.pcd`));
  const ground = await readPcd(join(folder, `samp${number}-utm-ground.pcd`));
  const key = (points: Float64Array, i: number) => `${points[3 * i]} ${points[3 * i + 1]} ${points[3 * i + 2]}`;
  const known = new Set<string>();
  for (let i = 0; i < ground.length / 3; i += 1) known.add(key(ground, i));
  const truth = Uint8Array.from({ length: xyz.length / 3 }, (_, i) => (known.has(key(xyz, i)) ? 1 : 2));
  return { name: `samp${number}`, group: "isprs", xyz, truth };
}

interface LasSource {
  readonly name: string;
  readonly group: GroundGroup;
  readonly path: string;
  /** The column that tells the truth, and what its values say. */
  readonly column: string;
  readonly classes: (value: number) => number;
  /** Metres per unit of the file. */
  readonly unit?: number;
}

async function las({ name, group, path, column, classes, unit = 1 }: LasSource): Promise<GroundCloud> {
  const cloud = await readLas(join(DATA, path), column, unit);
  return { name, group, xyz: cloud.xyz, truth: Uint8Array.from(cloud.column, classes) };
}

/** Class 2 is ground; 7 and 18 are noise, counted as no ground. */
const asprs = (value: number) => (value === 2 ? 1 : 2);

async function autzen(): Promise<GroundCloud> {
  const path = "als/autzen_trim.laz";
  const unit = (await readLasHeader(join(DATA, path))).crs.unit_m ?? INTERNATIONAL_FOOT;
  return las({ name: "autzen", group: "als", path, column: "classification", classes: asprs, unit });
}

async function plot(): Promise<GroundCloud> {
  buildProgram();
  const cloud = await readLas((await plotFiles(1_000_000)).las, "classification");
  return { name: "plot 1M", group: "tls", xyz: cloud.xyz, truth: Uint8Array.from(cloud.column, asprs) };
}

async function pyfor(): Promise<GroundCloud> {
  const path = "als/pyfor_pine_200m.laz";
  return las({ name: "pyfor pine", group: "als", path, column: "classification", classes: asprs });
}

async function composite(): Promise<GroundCloud> {
  const path = "trees_composite/composite_plot_a.laz";
  return las({ name: "composite", group: "tls", path, column: "ground_class", classes: (value) => value });
}

const known = (group: GroundGroup, name: string, make: () => Relief) => async (): Promise<GroundCloud> => {
  const terrain = make();
  return { name, group, xyz: terrain.xyz, truth: terrain.truth, terrain };
};

const sources: Readonly<Record<GroundGroup, readonly (() => Promise<GroundCloud>)[]>> = {
  isprs: ["11", "21", "31", "53", "71"].map((number) => () => isprs(number)),
  als: [autzen, pyfor],
  tls: [plot, composite],
  relief: [
    known("relief", "relief gentle", () => relief(1, 0.5)),
    known("relief", "relief hilly", () => relief(2, 1)),
    known("relief", "relief rugged", () => relief(3, 1.5)),
  ],
  forest: FOREST_PLOTS.map((name) => known("forest", name, () => forestPlot(name))),
  walked: [known("walked", "walked forest", () => walkedForest(1, 2))],
  bare: BARE_FIELDS.map((field) => known("bare", field.name, () => bareField(field))),
  thicket: [known("thicket", "walked thicket", () => walkedForest(1, 3.5))],
};

/** Reads or makes the clouds of some groups; says which are not there. */
export async function clouds(wanted: readonly string[]): Promise<GroundCloud[]> {
  const found: GroundCloud[] = [];
  for (const group of GROUPS.filter((name) => wanted.includes(name))) {
    for (const load of sources[group]) {
      if (!GENERATED.includes(group) && !existsSync(DATA)) {
        console.error(`${group} left out: there is no ${DATA} (APP_TEST_DATA)`);
        break;
      }
      found.push(await load());
    }
  }
  return found;
}
