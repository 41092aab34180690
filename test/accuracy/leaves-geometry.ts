import { leafMesh, placeLeaves } from "../../backend/native/leaves.ts";
import { qsmTables, releaseQsm } from "../../backend/native/qsm.ts";
import { ShootModel } from "../support/qsm/shoots.ts";
import type { LeafRow } from "./leaves.ts";
import { values } from "./native.ts";
import { uniform } from "./random.ts";

type Triple = [number, number, number];
const TARGET = 1e-6;
const SHOOTS = 200;

/** Largest errors of the mesh of leaves on straight shoots in all directions, 5,000 km from the origin. */
export async function geometryRows(): Promise<readonly LeafRow[]> {
  const random = uniform(3);
  const errors = { count: 0, spacing: 0, pitch: 0, area: 0 };
  for (let s = 0; s < SHOOTS; s += 1) {
    const z = 2 * random() - 1;
    const bearing = 2 * Math.PI * random();
    const across = Math.sqrt(1 - z * z);
    const axis: Triple = [across * Math.cos(bearing), across * Math.sin(bearing), z];
    const cylinders = 1 + Math.floor(5 * random());
    const params = {
      leaf_spacing_m: 0.01 + 0.1 * random(),
      leaf_pitch_rad: Math.PI * random(),
      leaf_size_m: 0.02 + 0.2 * random(),
      phyllotaxis_deg: 360 * random(),
      leaves_per_node: 1,
      max_leaves: 1e6,
    };
    const aspect = 0.1 + random();
    const base: Triple = [5e6 * random(), 5e6 * random(), 1000 * random()];
    const size = { count: cylinders, length: 0.1 + random(), radius: 0.003 };
    const mesh = await leafTriangles(base, axis, size, params, aspect);
    const nodes = Math.floor((size.count * size.length) / params.leaf_spacing_m + 1e-9) + 1;
    errors.count = Math.max(errors.count, Math.abs(mesh.length / 18 - nodes));
    for (let leaf = 0; leaf < mesh.length / 18; leaf += 1) {
      const v = (i: number): Triple => [0, 1, 2].map((k) => mesh[18 * leaf + 3 * i + k] ?? 0) as Triple;
      const [a, b, c, d] = [v(0), v(1), v(2), v(5)];
      const along = minus(middle(c, d), middle(a, b));
      const node = minus(middle(a, b), base);
      errors.spacing = Math.max(errors.spacing, Math.abs(dot(node, axis) - leaf * params.leaf_spacing_m));
      const pitch = Math.atan2(norm(cross(along, axis)), dot(along, axis));
      errors.pitch = Math.max(errors.pitch, Math.abs(pitch - params.leaf_pitch_rad));
      const area = norm(cross(minus(b, a), along));
      errors.area = Math.max(errors.area, Math.abs(area - aspect * params.leaf_size_m ** 2));
    }
  }
  return Object.entries(errors).map(([what, error]) => ({
    group: "geometry" as const,
    what: `${what}, largest error over ${SHOOTS} shoots${{ count: "", spacing: ", m", pitch: ", rad", area: ", m2" }[what]}`,
    figure: error.toExponential(1),
    target: what === "count" ? "0" : `${TARGET}`,
    reached: what === "count" ? error === 0 : error <= TARGET,
  }));
}

async function leafTriangles(
  base: Triple,
  axis: Triple,
  size: { readonly count: number; readonly length: number; readonly radius: number },
  params: Parameters<typeof placeLeaves>[1],
  aspect: number,
): Promise<Float64Array> {
  const model = new ShootModel();
  model.add(base, axis, size);
  const tables = await qsmTables(model.cylinders, model.shoots);
  const { leaves } = await placeLeaves(tables, params).promise;
  releaseQsm(tables);
  const mesh = await leafMesh(leaves, params.leaf_size_m, { aspect }).promise;
  const out = values(mesh.vertices) as Float64Array;
  leaves.release();
  for (const column of [mesh.vertices, mesh.normals, mesh.uvs, mesh.materials]) column?.release();
  return out;
}

const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const middle = (a: Triple, b: Triple): Triple => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];
const dot = (a: Triple, b: Triple) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const norm = (a: Triple) => Math.sqrt(dot(a, a));
const cross = (a: Triple, b: Triple): Triple => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
