// Clouds that noise is planted into: generated ones whose twigs are known, and real scans taken as free of noise.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA } from "../support/scans/data-folder.ts";
import { type RoomScan, scanRoom } from "../support/scans/room.ts";
import { helios } from "./denoise-helios.ts";
import type { NoiselessCloud } from "./denoise-noise.ts";
import { type Edge, forestPlot, KIND, type MixedPixel, type TrailKind } from "./denoise-plot.ts";
import { drone, type Scanner, tripod } from "./denoise-scanner.ts";
import { readLas, readPcd } from "./native.ts";
import { add, boxOf, length, type Vector } from "./vector.ts";

const FOOT = 0.3048;
const GROUPS = ["plot", "trails", "tracer", "tls", "room", "indoor", "als", "unseen"] as const;
const GENERATED: readonly string[] = ["plot", "trails", "room"];
export type DenoiseGroup = (typeof GROUPS)[number];
export const groups: readonly string[] = GROUPS;

/** Small airborne plots that no constant was chosen on. Others of the folder have no room for noise. */
const UNSEEN = ["OSBS_2", "OSBS_11", "OSBS_18", "OSBS_21", "OSBS_24"];

type Place = "origin" | "side" | "above";

interface Source {
  readonly name: string;
  readonly xyz: Float64Array;
  /** 1 = the point is on a twig. */
  readonly twig?: Uint8Array;
  readonly edges?: readonly Edge[];
  /** Ghost edges are made as from the origin, or, where the scan has lost it, from a place beside or above the cloud. */
  readonly from?: Place;
  /** Where the beams come from: three numbers, or three per point. */
  readonly origins?: Float64Array;
  readonly trails?: readonly MixedPixel[];
}

const ORIGIN = new Float64Array(3);

function plot(seed: number, trails?: TrailKind, scanners?: readonly Scanner[], seen?: string): Source {
  const { xyz, kind, origins, ...rest } = forestPlot(seed, { trails, scanners });
  const twig = kind.map((value) => (value === KIND.twig ? 1 : 0));
  return {
    name: [`plot ${seed}`, trails, seen].filter((part) => part !== undefined).join(", "),
    xyz,
    twig,
    origins: scanners ? origins : ORIGIN,
    ...rest,
  };
}

/** Rooms without a twig, of which every point is known; no ghost edges. */
const room = (name: string, scan: RoomScan): Source => ({ name, edges: [], ...scanRoom(scan) });

/** Two scanners that face each other. */
const opposite = () => [tripod(), tripod([30, 2, 0.9], Math.PI)];

/** x, y and z of the first columns of a text table. */
function text(path: string): Float64Array {
  const lines = readFileSync(join(DATA, path), "utf8").split("\n");
  const rows = lines.filter((line) => /^[-\d]/.test(line)).map((line) => line.trim().split(/\s+/).slice(0, 3));
  return Float64Array.from(rows.flat(), Number);
}

const las = async (path: string, unit = 1) => (await readLas(join(DATA, path), "classification", unit)).xyz;

/** The finite points of a file. */
async function pcd(path: string): Promise<Float64Array> {
  const xyz = await readPcd(join(DATA, path));
  const has = (i: number) => Number.isFinite(xyz[3 * i] ?? Number.NaN);
  return xyz.filter((_, at) => has(Math.floor(at / 3)));
}

const sources: Readonly<Record<DenoiseGroup, readonly (() => Source | Promise<Source>)[]>> = {
  plot: [() => plot(1), () => plot(2)],
  trails: [
    () => plot(1, "phase"),
    () => plot(2, "pulse"),
    () => plot(3, "phase", [tripod([0, 0, 0], 0, 0.001)], "1 mrad"),
    () => plot(4, "pulse", opposite(), "2 scans"),
    () => plot(5, "phase", [drone(3, 26, 0), drone(3, 26, 25)], "drone"),
  ],
  tracer: [() => helios("tree", 1), () => helios("tree", 2)],
  tls: [
    async () => ({ name: "itsme tree 1", xyz: await las("trees_tls/itsme_tree1.las"), from: "side" }),
    () => ({ name: "itsme tree 2", xyz: text("trees_tls/itsme_tree2.txt"), from: "side" }),
    async () => ({ name: "lodgepole pines", xyz: await las("trees_tls/treeiso_LPine1_demo.laz"), from: "side" }),
    () => ({ name: "oak", xyz: text("leaf_wood/weiser_oak.xyz"), from: "side" }),
    async () => ({ name: "composite", xyz: await las("trees_composite/composite_plot_a.laz"), from: "side" }),
  ],
  room: [
    () => room("room, even", { step_deg: 0.4, row_step_deg: 0.4, noise_m: 0.003 }),
    () => room("room, rows of 1 degree", { step_deg: 0.2, row_step_deg: 1, noise_m: 0.003 }),
  ],
  indoor: [
    async () => ({ name: "room 1", xyz: await pcd("pcd/room_scan1.pcd"), from: "origin", origins: ORIGIN }),
    async () => ({ name: "room 2", xyz: await pcd("pcd/room_scan2.pcd"), from: "origin", origins: ORIGIN }),
  ],
  als: [
    async () => ({ name: "pyfor pine", xyz: await las("als/pyfor_pine_200m.laz"), from: "above" }),
    async () => ({ name: "autzen", xyz: await las("als/autzen_trim.laz", FOOT), from: "above" }),
    async () => ({ name: "MLBS 1", xyz: await las("trees_als_idtrees/MLBS_1.las"), from: "above" }),
  ],
  unseen: UNSEEN.map((name) => async () => ({
    name: name.replace("_", " "),
    xyz: await las(`trees_als_idtrees/${name}.las`),
    from: "above",
  })),
};

/** Where ghosts trail away from: the origin, 15 m beside the cloud or 300 m above it; and how far it is from there. */
function viewpointOf(xyz: Float64Array, from: Place): { readonly viewpoint: Vector; readonly range: number } {
  const { low, high } = boxOf(xyz);
  const [x, y] = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
  if (from === "origin") return { viewpoint: [0, 0, 0], range: length(add(high, low, -1)) / 4 };
  if (from === "above") return { viewpoint: [x, y, high[2] + 300], range: 300 };
  return { viewpoint: [low[0] - 15, y, low[2] + 1.5], range: 15 + (high[0] - low[0]) / 2 };
}

export interface DenoiseCloud extends NoiselessCloud {
  /** True if every point is known. */
  readonly generated: boolean;
  readonly group: DenoiseGroup;
  readonly twig?: Uint8Array;
}

/** The clouds of some groups; says which are not there. `spacing` measures the median distance of neighbours. */
export async function clouds(
  wanted: readonly string[],
  spacing: (xyz: Float64Array) => Promise<number>,
): Promise<DenoiseCloud[]> {
  const found: DenoiseCloud[] = [];
  for (const group of GROUPS.filter((name) => wanted.includes(name)))
    for (const load of sources[group]) {
      if (!GENERATED.includes(group) && !existsSync(DATA)) {
        console.error(`${group} left out: there is no ${DATA} (APP_TEST_DATA)`);
        break;
      }
      const { from, ...cloud } = await load();
      const spacing_m = await spacing(cloud.xyz);
      const beyond = (spacings: number) => Math.max(0.1, spacings * spacing_m);
      const depth_m = from === "above" ? 10 : 3;
      const generated = GENERATED.includes(group) || group === "tracer";
      const lengths = { spacing_m, clearance_m: beyond(8), ghost_clearance_m: beyond(5), depth_m };
      if (from === undefined) {
        found.push({ group, generated, ...cloud, ...lengths });
      } else {
        const { viewpoint, range } = viewpointOf(cloud.xyz, from);
        found.push({ group, generated, ...cloud, ...lengths, viewpoint, step: (2 * spacing_m) / range });
      }
    }
  return found;
}
