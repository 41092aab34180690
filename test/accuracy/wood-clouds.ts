// Clouds of trees whose wood is known: 1 wood, 2 leaf per point.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../support/scans/data-folder.ts";
import { FOREST_PLOTS, plotTrees } from "./forest-plots.ts";
import { gaussian, uniform } from "./random.ts";
import { ownScans } from "./wood-own-scans.ts";

export interface WoodCloud {
  readonly name: string;
  readonly xyz: Float64Array;
  readonly truth: Uint8Array;
  /** 1 = wood of a diameter below 1 cm, where that is known. */
  readonly twig?: Uint8Array;
}

export const WOOD_GROUPS = ["real", "trees", "own", "plots", "leaf-off", "robustness"] as const;
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
function* altered(cloud: WoodCloud): Generator<WoodCloud> {
  yield cloud;
  const random = uniform(5);
  const kept = cloud.truth.map(() => (random() < 0.5 ? 1 : 0));
  yield part("half of the points", cloud, (row) => kept[row] === 1);
  yield moved("5 mm noise", cloud, (x, y, z) => [x, y, z].map((value) => value + 0.005 * gaussian(random)));
  const sides = Float64Array.from(cloud.truth, (_, row) => cloud.xyz[3 * row] ?? 0).sort();
  const [low = 0, middle = 0, high = 0] = [0, 0.5, 1].map((at) => sides[Math.floor(at * (sides.length - 1))]);
  yield part("30 % of one side missing", cloud, (row) => {
    const x = cloud.xyz[3 * row] ?? 0;
    return x <= middle || random() >= 0.3 || x < low || x > high;
  });
  yield moved("mirrored", cloud, (x, y, z) => [-x, y, z]);
  const [c, s] = [Math.cos(0.7), Math.sin(0.7)];
  yield moved("rotated about z", cloud, (x, y, z) => [c * x - s * y, s * x + c * y, z]);
  yield moved("offset 5e6 m", cloud, (x, y, z) => [x + 5e6, y - 5e6, z]);
}

const has = (folder: string) => existsSync(join(DATA, folder));

/** The clouds of a group; none without their data. */
export async function* woodClouds(group: WoodGroup): AsyncGenerator<WoodCloud> {
  if (group === "own") yield* ownScans();
  if (group === "real" && has("leaf_wood")) for (const name of REAL) yield realCloud(name);
  if (group === "robustness" && has("leaf_wood")) {
    const oak = realCloud("weiser_oak");
    const [x0 = 0, y0 = 0, z0 = 0] = oak.xyz;
    yield* altered(moved("weiser_oak", oak, (x, y, z) => [x - x0, y - y0, z - z0]));
  }
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
