// Occluded voxels of structured fields of leaf area density: kriging beside the mean of the layer.
import { fillOccluded, VOXEL } from "../../backend/native/lad-inversion.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { column, values } from "./native.ts";
import { gaussian, type Uniform, uniform } from "./random.ts";

export interface FillCase {
  readonly name: string;
  /** Metres; infinite = no structure. */
  readonly clump_m: number;
  /** Share of the voxels that are occluded: single ones, or all behind a place in the crown. */
  readonly hidden: "scattered" | "shadow";
  readonly seeds: number;
}

export interface FillRow {
  readonly name: string;
  readonly seeds: number;
  /** Median over the seeds of the median absolute error, m2/m3. */
  readonly layer_mean: number;
  readonly kriging: number;
}

const PLAIN = { clump_m: 1.5, hidden: "scattered", seeds: 50 } as const;
export const FILL_CASES: readonly FillCase[] = [
  { ...PLAIN, name: "fill: clumps of 1.5 m, scattered voxels hidden" },
  { ...PLAIN, name: "fill: clumps of 1.5 m, a shadow", hidden: "shadow" },
  { ...PLAIN, name: "fill: no structure", clump_m: Number.POSITIVE_INFINITY },
];

const [NX, NY, NZ, EDGE] = [12, 12, 10, 0.5];
const NOISE = 0.1;
const GRID: VoxelBox = {
  center: [0, 0, 0],
  size: [NX * EDGE, NY * EDGE, NZ * EDGE],
  nx: NX,
  ny: NY,
  nz: NZ,
  rotation_deg: 0,
  offsets: null,
  kept: null,
};

/** Clumps at random places, each with its own density. */
function fieldOf({ clump_m }: FillCase, next: Uniform): Float64Array {
  const clumps = Array.from({ length: 40 }, () => [NX * next(), NY * next(), NZ * next(), 2 * next()] as const);
  return Float64Array.from({ length: NX * NY * NZ }, (_, v) => {
    if (!Number.isFinite(clump_m)) return 1;
    const [i, j, k] = [v % NX, Math.floor(v / NX) % NY, Math.floor(v / (NX * NY))];
    return clumps.reduce((sum, [x, y, z, density]) => {
      const away = EDGE * Math.hypot(i + 0.5 - x, j + 0.5 - y, k + 0.5 - z);
      return sum + density * Math.exp(-2 * (away / clump_m) ** 2);
    }, 0);
  });
}

function hiddenOf({ hidden }: FillCase, next: Uniform): Uint8Array {
  const [x, y, z] = [NX * next(), NY * next(), NZ * next()];
  return Uint8Array.from({ length: NX * NY * NZ }, (_, v) => {
    if (hidden === "scattered") return next() < 0.2 ? 1 : 0;
    const [i, j, k] = [v % NX, Math.floor(v / NX) % NY, Math.floor(v / (NX * NY))];
    return Math.hypot(i + 0.5 - x, j + 0.5 - y, k + 0.5 - z) < 3.5 ? 1 : 0;
  });
}

const median = (list: readonly number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN;

async function errorsOf(one: FillCase, seed: number) {
  const next = uniform(seed * 211 + 3);
  const truth = fieldOf(one, next);
  const hidden = hiddenOf(one, next);
  const lad = truth.map((value, v) => (hidden[v] ? 0 : Math.max(0, value + NOISE * gaussian(next))));
  const seen = VOXEL.probed | VOXEL.solved;
  const voxels = {
    lad: column("f64", lad),
    variance: column("f64", new Float64Array(lad.length).fill(NOISE ** 2)),
    state: column(
      "u8",
      hidden.map((flag) => (flag ? VOXEL.probed | VOXEL.occluded : seen)),
    ),
  };
  const filled = await fillOccluded(voxels, GRID).promise;
  const found = values(filled.lad);
  const layers = Array.from({ length: NZ }, (_, k) => {
    const rows = Array.from({ length: NX * NY }, (_, c) => k * NX * NY + c).filter((v) => !hidden[v]);
    return rows.reduce((sum, v) => sum + (lad[v] ?? 0), 0) / rows.length;
  });
  const rows = Array.from(hidden.keys()).filter((v) => hidden[v]);
  const errors = (of: (v: number) => number) => median(rows.map((v) => Math.abs(of(v) - (truth[v] ?? 0))));
  return {
    kriging: errors((v) => Number(found[v])),
    layer_mean: errors((v) => layers[Math.floor(v / (NX * NY))] ?? Number.NaN),
  };
}

export async function fillRow(one: FillCase): Promise<FillRow> {
  const seeds: Awaited<ReturnType<typeof errorsOf>>[] = [];
  for (let seed = 1; seed <= one.seeds; seed += 1) seeds.push(await errorsOf(one, seed));
  return {
    name: one.name,
    seeds: one.seeds,
    layer_mean: median(seeds.map(({ layer_mean }) => layer_mean)),
    kriging: median(seeds.map(({ kriging }) => kriging)),
  };
}
