// Synthetic scans of surfaces whose distances have closed forms, of a beam that an edge cuts, and the noise of both.
import type { z } from "zod";
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { openScene } from "../../backend/services/lidar/scan-scene.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { coordinatesOf, values } from "./native.ts";
import type { Part } from "./part.ts";

type Triple = [number, number, number];
interface Shape {
  readonly vertices: Triple[];
  readonly triangles: Triple[];
}

/** Largest error of a distance, metres; of energies and deviations, relative. */
const RANGE_BOUND_M = 1e-4;
const SHARE_BOUND = 0.01;
/** Facets of round shapes are farther than the shape by up to this over the cosine of incidence. */
const LEAST_COSINE = 0.6;

/** The error of a quantity: metres for distances, otherwise relative to the true value. */
export interface ScanRow {
  readonly method: "scan";
  readonly group: string;
  readonly quantity: string;
  readonly count: number;
  readonly error: number;
  readonly bound: number;
  readonly unit: "m" | "";
}

/** Rows by columns of vertices, each cell as two triangles. */
function lattice(rows: number, columns: number, place: (u: number, v: number) => Triple): Shape {
  const vertices: Triple[] = [];
  const triangles: Triple[] = [];
  for (let i = 0; i <= rows; i += 1) for (let j = 0; j <= columns; j += 1) vertices.push(place(i / rows, j / columns));
  for (let i = 0; i < rows; i += 1) {
    for (let j = 0; j < columns; j += 1) {
      const a = i * (columns + 1) + j;
      triangles.push([a, a + 1, a + columns + 1], [a + 1, a + columns + 2, a + columns + 1]);
    }
  }
  return { vertices, triangles };
}

const quad = (a: Triple, b: Triple, d: Triple): Shape =>
  lattice(1, 1, (u, v) => a.map((value, k) => value + u * ((b[k] ?? 0) - value) + v * ((d[k] ?? 0) - value)) as Triple);

type Request = z.input<typeof LidarScanRequest>;
const AROUND = { id: "a", origin: [0, 0, 0] as Triple, n_theta: 181, n_phi: 360 };
const SWEEP = { theta_min_deg: 0.5, theta_max_deg: 179.5, phi_min_deg: 0, phi_max_deg: 359 };

async function scanned(meshes: Shape[], scanner: object, fields: object, threads = 0) {
  const request = LidarScanRequest.parse({
    meshes,
    scanners: [{ ...AROUND, ...SWEEP, ...scanner }],
    ...fields,
  } satisfies Request);
  const job = new Job();
  const { scene } = await openScene(request.meshes, job);
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], 0, request, job);
  const scan = await job.quiet(threads).track(() => native.syntheticScan(scene, params));
  const xyz = coordinatesOf(scan.positions);
  return { xyz, distance: values(scan.distance), intensity: values(scan.intensity), pulses: scan.pulse_count };
}

const SHAPES: Readonly<Record<string, { meshes: Shape[]; range: (d: Triple) => number; round: boolean }>> = {
  plane: { meshes: [quad([-90, -90, -2], [90, -90, -2], [-90, 90, -2])], range: ([, , z]) => -2 / z, round: false },
  sphere: {
    meshes: [
      lattice(200, 400, (u, v) => {
        const [a, b] = [Math.PI * u, 2 * Math.PI * v];
        return [1 + 0.5 * Math.sin(a) * Math.cos(b), 3 + 0.5 * Math.sin(a) * Math.sin(b), 0.5 + 0.5 * Math.cos(a)];
      }),
    ],
    range: ([x, y, z]) => {
      const along = x + 3 * y + 0.5 * z;
      return along - Math.sqrt(along * along - 10.25 + 0.25);
    },
    round: true,
  },
  cylinder: {
    meshes: [
      lattice(1, 400, (u, v) => [
        4 + 0.5 * Math.cos(6.283185307179586 * v),
        0.5 * Math.sin(6.283185307179586 * v),
        6 * u - 3,
      ]),
    ],
    range: ([x, y]) => {
      const a = x * x + y * y;
      return (4 * x - Math.sqrt(16 * x * x - a * 15.75)) / a;
    },
    round: true,
  },
  box: {
    meshes: [-1, 1].flatMap((s) => [
      quad([3 * s, -4, -2], [3 * s, 4, -2], [3 * s, -4, 2]),
      quad([-3, 4 * s, -2], [3, 4 * s, -2], [-3, 4 * s, 2]),
      quad([-3, -4, 2 * s], [3, -4, 2 * s], [-3, 4, 2 * s]),
    ]),
    range: ([x, y, z]) => Math.min(3 / Math.abs(x), 4 / Math.abs(y), 2 / Math.abs(z)),
    round: false,
  },
};

async function ranges(group: string): Promise<ScanRow[]> {
  const shape = SHAPES[group] as (typeof SHAPES)[string];
  const fine = group === "sphere" || group === "cylinder" ? { n_theta: 721, n_phi: 1440 } : {};
  const { xyz, distance, intensity } = await scanned(shape.meshes, fine, { rays_per_pulse: 1 });
  let [error, count] = [0, 0];
  for (const [i, found] of distance.entries()) {
    if (shape.round && Number(intensity[i]) < LEAST_COSINE) continue;
    const size = Math.hypot(xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0, xyz[3 * i + 2] ?? 0);
    const direction = [0, 1, 2].map((k) => (xyz[3 * i + k] ?? 0) / size) as Triple;
    error = Math.max(error, Math.abs(Number(found) - shape.range(direction)));
    count += 1;
  }
  return [{ method: "scan", group, quantity: "distance", count, error, bound: RANGE_BOUND_M, unit: "m" }];
}

/** Pulses that all go along +y. */
const forward = (n_theta: number) => ({ n_theta, n_phi: 1, theta_min_deg: 90, theta_max_deg: 90, phi_min_deg: 0 });
const wallFrom = (x: number, y: number) => quad([-50, y, -50], [x, y, -50], [-50, y, 50]);

/** Complementary error function. Source: Numerical Recipes, erfcc, relative error below 1.2e-7. */
function erfc(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const terms = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ];
  const sum = terms.reduceRight((value, term) => term + t * value, 0);
  const value = t * Math.exp(-x * x + sum);
  return x >= 0 ? value : 2 - value;
}

async function energies(): Promise<ScanRow[]> {
  const rows: ScanRow[] = [];
  for (const [edge, rays] of [
    [-0.006, 1000],
    [0.0005, 1000],
    [0.008, 1000],
    [0.008, 100],
  ] as const) {
    const beam = { ...forward(2000), beam_divergence_mrad: 2, exit_diameter_m: 0.007 };
    const { intensity, pulses } = await scanned([wallFrom(edge, 10)], beam, { rays_per_pulse: rays });
    let mean = 0;
    for (const energy of intensity) mean += Number(energy) / pulses;
    const deviation = Math.hypot(0.01, 0.007 / 4);
    const wanted = 0.5 * erfc(-edge / (deviation * Math.SQRT2));
    const quantity = `energy beside an edge at ${1000 * edge} mm, ${rays} rays`;
    rows.push({
      method: "scan",
      group: "edge",
      quantity,
      count: pulses,
      error: Math.abs(mean / wanted - 1),
      bound: SHARE_BOUND,
      unit: "",
    });
  }
  return rows;
}

async function noise(): Promise<ScanRow[]> {
  const asked = { range_noise_m: 0.01, angle_noise_mrad: 2 };
  const { xyz, distance } = await scanned([wallFrom(50, 5)], { ...forward(200_000), ...asked }, { rays_per_pulse: 1 });
  const count = distance.length;
  const spread = (value: (i: number) => number) => {
    let [sum, squares] = [0, 0];
    for (let i = 0; i < count; i += 1) {
      sum += value(i) / count;
      squares += value(i) ** 2 / count;
    }
    return Math.sqrt(squares - sum * sum);
  };
  const at = (i: number, k: number) => xyz[3 * i + k] ?? 0;
  const row = (quantity: string, found: number, wanted: number): ScanRow => ({
    method: "scan",
    group: "noise",
    quantity,
    count,
    error: Math.abs(found / wanted - 1),
    bound: SHARE_BOUND,
    unit: "",
  });
  return [
    row(
      "deviation of distances",
      spread((i) => Number(distance[i]) - 5),
      0.01,
    ),
    row(
      "deviation of bearings",
      spread((i) => Math.atan2(at(i, 0), at(i, 1))),
      0.002,
    ),
    row(
      "deviation of zenith angles",
      spread((i) => Math.atan2(at(i, 2), at(i, 1))),
      0.002,
    ),
  ];
}

/** Rows that differ between numbers of threads and memory budgets. */
async function repeats(): Promise<ScanRow[]> {
  const beam = { beam_divergence_mrad: 3, return_mode: "multi", range_noise_m: 0.01, angle_noise_mrad: 1 };
  const one = async (threads: number, budget: number) => {
    const fields = { rays_per_pulse: 30, record_misses: true, synthetic_scan_memory_budget_mb: budget };
    return (await scanned((SHAPES.sphere as (typeof SHAPES)[string]).meshes, beam, fields, threads)).xyz;
  };
  const wanted = await one(1, 4096);
  let different = 0;
  for (const [threads, budget] of [
    [2, 4096],
    [1, 1],
    [2, 1],
  ] as const) {
    const found = await one(threads, budget);
    different += found.length === wanted.length && found.every((value, i) => value === wanted[i]) ? 0 : 1;
  }
  return [
    {
      method: "scan",
      group: "repeats",
      quantity: "scans that differ with threads or budget",
      count: 3,
      error: different,
      bound: 0,
      unit: "",
    },
  ];
}

const GROUPS = ["plane", "sphere", "cylinder", "box", "edge", "noise", "repeats"] as const;
const met = ({ error, bound }: ScanRow) => error <= bound;
const shown = ({ error, unit }: Pick<ScanRow, "error" | "unit">) =>
  unit === "m" ? `${(1000 * error).toFixed(4)} mm` : `${(100 * error).toFixed(3)} %`;

export const scanPart: Part<ScanRow> = {
  methods: ["scan"],
  groups: GROUPS,
  async measure(_methods, groups) {
    const rows: ScanRow[] = [];
    for (const group of groups) {
      if (Object.hasOwn(SHAPES, group)) rows.push(...(await ranges(group)));
      if (group === "edge") rows.push(...(await energies()));
      if (group === "noise") rows.push(...(await noise()));
      if (group === "repeats") rows.push(...(await repeats()));
    }
    return rows;
  },
  tables: (rows) =>
    [
      "| surface | quantity | values | largest error | bound |",
      "|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.group} | ${row.quantity} | ${row.count} | ${shown(row)} | ${shown({ ...row, error: row.bound })} |`,
      ),
    ].join("\n"),
  targets: (rows) => `${rows.filter(met).length} of ${rows.length} rows are within their bounds.`,
};
