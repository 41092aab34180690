import { addon } from "../../backend/native/core/addon.ts";
import { leafMesh, placeLeaves, turnLeaves } from "../../backend/native/leaves.ts";
import { qsmTables, releaseQsm } from "../../backend/native/qsm.ts";
import { ShootModel } from "../support/qsm/shoots.ts";
import type { LeafRow } from "./leaves.ts";
import { values } from "./native.ts";
import { uniform } from "./random.ts";

const SIDE = 10;
const ECCENTRICITIES = [0, 0.3, 0.6, 0.9] as const;
/** Nodes in a cell of 1 m. */
const PER_CELL = 100;

interface Target {
  readonly mu: number;
  readonly nu: number;
  readonly ecc: number;
  readonly phi0_deg: number;
}

/** Distribution function of the beta distribution by quadrature over the exponents' substituted variable. */
function betaCdf(nu: number, mu: number): (t: number) => number {
  const steps = 4000;
  const sums = new Float64Array(steps + 1);
  // t = (1 - cos a) / 2 takes the poles at both ends away for exponents above -1/2.
  for (let i = 0; i < steps; i += 1) {
    const a = (Math.PI * (i + 0.5)) / steps;
    const t = (1 - Math.cos(a)) / 2;
    sums[i + 1] = (sums[i] ?? 0) + t ** (nu - 0.5) * (1 - t) ** (mu - 0.5);
  }
  const total = sums[steps] ?? 1;
  return (t) => {
    const at = (Math.acos(1 - 2 * Math.min(1, Math.max(0, t))) / Math.PI) * steps;
    const i = Math.min(steps - 1, Math.floor(at));
    return ((sums[i] ?? 0) + (at - i) * ((sums[i + 1] ?? 0) - (sums[i] ?? 0))) / total;
  };
}

/** p-value of the Kolmogorov-Smirnov statistic (Stephens 1970, the modified statistic of a full distribution). */
function ksPValue(sample: readonly number[], cdf: (t: number) => number): number {
  const sorted = [...sample].sort((a, b) => a - b);
  const n = sorted.length;
  const d = sorted.reduce((most, t, i) => Math.max(most, cdf(t) - i / n, (i + 1) / n - cdf(t)), 0);
  const lambda = (Math.sqrt(n) + 0.12 + 0.11 / Math.sqrt(n)) * d;
  let p = 0;
  for (let k = 1; k <= 100; k += 1) p += 2 * (-1) ** (k - 1) * Math.exp(-2 * k * k * lambda * lambda);
  return Math.min(1, Math.max(0, p));
}

/** Normals of leaves turned in 1,000 cells, by cell. */
async function turnedNormals(targets: readonly Target[]): Promise<number[][][]> {
  const model = new ShootModel();
  for (let j = 0; j < SIDE; j += 1)
    for (let i = 0; i < SIDE; i += 1)
      model.add([i + 0.5, j + 0.5, 0], [0, 0, 1], { count: SIDE, length: 0.9999, radius: 0.002 });
  const tables = await qsmTables(model.cylinders, model.shoots);
  const { leaves, leaf_count } = await placeLeaves(tables, {
    leaf_spacing_m: 1 / PER_CELL,
    leaf_pitch_rad: 0.9,
    leaf_size_m: 0.01,
    phyllotaxis_deg: 137.5,
    leaves_per_node: 1,
    max_leaves: 1e6,
  }).promise;
  releaseQsm(tables);
  const rows = Float64Array.from(
    targets.flatMap(({ mu, nu, ecc, phi0_deg }, cell) => [cell, mu, nu, ecc, phi0_deg, 0]),
  );
  const table = new addon.Column("f64", new Uint8Array(rows.buffer));
  const middle = SIDE / 2;
  const box = {
    center: [middle, middle, middle] as const,
    size: [SIDE, SIDE, SIDE] as const,
    nx: SIDE,
    ny: SIDE,
    nz: SIDE,
    rotation_deg: 0,
    offsets: null,
    kept: null,
  };
  const turned = await turnLeaves(leaves, table, box, { seed: 1, max_cell_leaves: 0 }).promise;
  const mesh = await leafMesh(turned.leaves, 0.01, { aspect: 0.5 }).promise;
  const vertices = values(mesh.vertices) as Float64Array;
  const normals = values(mesh.normals) as Float32Array;
  const cells: number[][][] = targets.map(() => []);
  for (let leaf = 0; leaf < leaf_count; leaf += 1) {
    const at = (k: number) => ((vertices[18 * leaf + k] ?? 0) + (vertices[18 * leaf + 3 + k] ?? 0)) / 2;
    const [i, j, k] = [Math.floor(at(0)), Math.floor(at(1)), Math.floor(at(2))];
    cells[i + SIDE * (j + SIDE * k)]?.push([0, 1, 2].map((axis) => normals[18 * leaf + axis] ?? 0));
  }
  for (const one of [leaves, turned.leaves, table, mesh.vertices, mesh.normals, mesh.uvs, mesh.materials])
    one?.release();
  return cells;
}

/** Inclinations against their target in 1,000 cells, and the eccentricity that the azimuths of equal cells show. */
export async function angleRows(): Promise<readonly LeafRow[]> {
  const random = uniform(8);
  const targets = Array.from({ length: SIDE ** 3 }, (_, cell) => ({
    mu: 0.6 + 4 * random(),
    nu: 0.6 + 4 * random(),
    ecc: ECCENTRICITIES[cell % ECCENTRICITIES.length] ?? 0,
    phi0_deg: 180 * random(),
  }));
  const cells = await turnedNormals(targets);
  let passed = 0;
  const doubled = ECCENTRICITIES.map(() => ({ sum: 0, count: 0 }));
  for (const [cell, normals] of cells.entries()) {
    const { mu, nu, phi0_deg } = targets[cell] as Target;
    const inclinations = normals.map(([, , z = 0]) => Math.acos(Math.min(1, Math.abs(z))) / (Math.PI / 2));
    if (ksPValue(inclinations, betaCdf(nu, mu)) > 0.05) passed += 1;
    const group = doubled[cell % ECCENTRICITIES.length];
    for (const [x = 0, y = 0] of normals) {
      if (!group) continue;
      group.sum += Math.cos(2 * (Math.atan2(x, y) - (phi0_deg * Math.PI) / 180));
      group.count += 1;
    }
  }
  const share = passed / cells.length;
  const azimuths = ECCENTRICITIES.map((ecc, i): LeafRow => {
    const resultant = Math.max(0, (doubled[i]?.sum ?? 0) / (doubled[i]?.count ?? 1));
    const b = (1 - resultant) / (1 + resultant);
    const wanted = (1 - Math.sqrt(1 - ecc * ecc)) / (1 + Math.sqrt(1 - ecc * ecc));
    const figure = `${Math.sqrt(1 - b * b).toFixed(3)}, R2 ${resultant.toFixed(4)}, of ${doubled[i]?.count} leaves`;
    const target = `${ecc}, R2 ${wanted.toFixed(4)} +- 0.015`;
    return {
      group: "angles",
      what: "eccentricity of azimuths",
      figure,
      target,
      reached: Math.abs(resultant - wanted) < 0.015,
    };
  });
  return [
    {
      group: "angles",
      what: `inclinations, cells of ${cells.length} whose KS p-value to the target exceeds .05`,
      figure: `${(100 * share).toFixed(1)} %`,
      target: "93 %",
      reached: share >= 0.93,
    },
    ...azimuths,
  ];
}
