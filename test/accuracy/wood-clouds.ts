// Clouds of trees whose wood is known: 1 wood, 2 leaf per point.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../support/scans/data-folder.ts";
import { FOREST_PLOTS, plotTrees } from "./forest-plots.ts";
import { gaussian, uniform } from "./random.ts";
import { ownScans, scansLeftOut } from "./wood-own-scans.ts";
import { woodStands } from "./wood-stands.ts";

export interface WoodCloud {
  readonly name: string;
  readonly xyz: Float64Array;
  /** 0 = not known: not scored. */
  readonly truth: Uint8Array;
  /** 1 = wood of a diameter below 1 cm, where that is known. */
  readonly twig?: Uint8Array;
  /** Folder of the models that label it; default: the bundled ones. */
  readonly models?: string;
}

export const WOOD_GROUPS = ["real", "trees", "own", "species", "plots", "stands", "leaf-off", "robustness"] as const;
export type WoodGroup = (typeof WOOD_GROUPS)[number];

const REAL = ["lewos_tropical", "weiser_oak"] as const;
/** Trees of each simulated plot, spread over its list. */
const TREES_PER_PLOT = 4;

function realCloud(name: (typeof REAL)[number]): WoodCloud {
  const lines = readFileSync(join(DATA, "leaf_wood", `${name}.xyz`), "utf8").split("\n");
  const rows = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(" ").map(Number));
  return {
    name,
    xyz: Float64Array.from(rows.flatMap((row) => row.slice(0, 3))),
    truth: Uint8Array.from(rows, (row) => row[3] ?? 0),
  };
}

/** The rows of a cloud that `keeps` says so. */
export function part(name: string, cloud: WoodCloud, keeps: (row: number) => boolean): WoodCloud {
  const rows = Array.from(cloud.truth.keys()).filter(keeps);
  const xyz = new Float64Array(3 * rows.length);
  rows.forEach((row, i) => {
    xyz.set(cloud.xyz.subarray(3 * row, 3 * row + 3), 3 * i);
  });
  return { name, xyz, truth: Uint8Array.from(rows, (row) => cloud.truth[row] ?? 0) };
}

const moved = (
  name: string,
  { xyz, truth }: WoodCloud,
  to: (x: number, y: number, z: number) => number[],
): WoodCloud => {
  const out = new Float64Array(xyz.length);
  for (let i = 0; i < xyz.length; i += 3) out.set(to(xyz[i] ?? 0, xyz[i + 1] ?? 0, xyz[i + 2] ?? 0), i);
  return { name, xyz: out, truth };
};

function* simulatedTrees(leaves: boolean): Generator<WoodCloud> {
  for (const plot of FOREST_PLOTS) {
    const { xyz, tree, wood } = plotTrees(plot);
    const ids = [...new Set(tree)].sort((a, b) => a - b);
    for (let k = 0; k < TREES_PER_PLOT; k += 1) {
      const id = ids[Math.floor(((k + 0.5) * ids.length) / TREES_PER_PLOT)];
      const keeps = (row: number) => tree[row] === id && (leaves || wood[row] === 1);
      yield part(`${plot} ${id}`, { name: plot, xyz, truth: wood }, keeps);
    }
  }
}

/** The same cloud seen less well, or from another place. */
export const CHANGES = [
  "half of the points",
  "5 mm noise",
  "30 % of the points of one side missing",
  "outer 30 % of one side missing",
  "mirrored",
  "rotated about z",
  "offset 5e6 m",
] as const;

function* altered(cloud: WoodCloud): Generator<WoodCloud> {
  yield cloud;
  const names = CHANGES.map((change) => `${cloud.name}: ${change}`).values();
  const name = () => names.next().value ?? "";
  const random = uniform(5);
  const kept = cloud.truth.map(() => (random() < 0.5 ? 1 : 0));
  yield part(name(), cloud, (row) => kept[row] === 1);
  yield moved(name(), cloud, (x, y, z) => [x, y, z].map((value) => value + 0.005 * gaussian(random)));
  const sides = Float64Array.from(cloud.truth, (_, row) => cloud.xyz[3 * row] ?? 0).sort();
  const [low = 0, middle = 0, high = 0] = [0, 0.5, 1].map((at) => sides[Math.floor(at * (sides.length - 1))]);
  const side = (row: number) => cloud.xyz[3 * row] ?? 0;
  yield part(name(), cloud, (row) => side(row) <= middle || random() >= 0.3);
  yield part(name(), cloud, (row) => side(row) <= low + 0.7 * (high - low));
  yield moved(name(), cloud, (x, y, z) => [-x, y, z]);
  const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
  yield moved(name(), cloud, (x, y, z) => [c * x - s * y, s * x + c * y, z]);
  yield moved(name(), cloud, (x, y, z) => [x + 5e6, y - 5e6, z]);
}

/** About the first point, so that the change of place is all of an offset. */
function atOrigin(cloud: WoodCloud): WoodCloud {
  const [x0 = 0, y0 = 0, z0 = 0] = cloud.xyz;
  return moved(cloud.name, cloud, (x, y, z) => [x - x0, y - y0, z - z0]);
}

const has = (folder: string) => existsSync(join(DATA, folder));

/** The clouds of a group; none without their data. */
export async function* woodClouds(group: WoodGroup): AsyncGenerator<WoodCloud> {
  if (group === "own") yield* ownScans();
  if (group === "species") yield* scansLeftOut();
  if (group === "stands") yield* woodStands();
  if (group === "real" && has("leaf_wood")) for (const name of REAL) yield realCloud(name);
  if (group === "robustness" && has("leaf_wood")) for (const name of REAL) yield* altered(atOrigin(realCloud(name)));
  if (!has("forest_reference")) return;
  if (group === "trees") yield* simulatedTrees(true);
  if (group === "leaf-off") yield* simulatedTrees(false);
  if (group === "plots") {
    for (const plot of FOREST_PLOTS) {
      const { xyz, wood } = plotTrees(plot);
      yield { name: plot, xyz, truth: wood };
    }
  }
}
