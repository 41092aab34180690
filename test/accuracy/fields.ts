// Crops in rows, scanned by four tripods and by a drone, through the service as a plant scientist does it: ground, height, leaf area.

import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { type Field, type FieldPlan, growField } from "./field-plants.ts";
import type { Part } from "./part.ts";

const plan = (species: string, age_days: number, along: number, between: number, nx: number, ny: number) =>
  ({ species, age_days, spacing: [along, between], count: [nx, ny] }) satisfies FieldPlan;
const PLANS: readonly FieldPlan[] = [
  plan("maize", 60, 0.3, 0.76, 20, 8),
  plan("wheat", 60, 0.05, 0.2, 80, 20),
  plan("sugarbeet", 90, 0.2, 0.5, 30, 12),
  plan("soybean", 60, 0.3, 0.76, 20, 8),
  plan("rice", 70, 0.15, 0.25, 40, 24),
  plan("sorghum", 70, 0.2, 0.76, 30, 8),
  plan("cowpea", 60, 0.4, 0.76, 16, 8),
  plan("strawberry", 90, 0.3, 0.5, 20, 12),
];
const SEEN = ["tripods", "drone"] as const;
type Seen = (typeof SEEN)[number];
const EDGES_M = [0.2, 0.3, 0.5] as const;
const CELL_M = 0.1;
const NOISE_M = 0.005;
/** The grid begins above the ground. */
const FLOOR_M = 0.02;

export interface FieldRow {
  readonly species: string;
  readonly seen: Seen;
  readonly leaf_area_m2: number;
  readonly stems_m2: number;
  readonly ground_area_m2: number;
  /** Mean and root mean square of the terrain, which is 0, metres. */
  readonly terrain_m: readonly [number, number];
  /** Highest cell of the canopy height model less the highest plant, metres. */
  readonly height_m: number;
  /** Leaf area found over the true one by edge of the voxels, what occluded voxels hold besides, and what is told. */
  readonly found: readonly {
    readonly edge_m: number;
    readonly total: number;
    readonly occluded: number;
    readonly told: readonly string[];
  }[];
}

const TRIPOD_M = 2.2;
const STEP_DEG = 0.1;
const DRONE_M = 12;
const SPEED = 3;
const LINES = 3;

/** Scanners at the corners of a field, or lines of a drone above it. */
function scannersOf({ size: [x, y] }: Field, seen: Seen) {
  if (seen === "tripods")
    return [
      [-1, -1],
      [1, -1],
      [-1, 1],
      [1, 1],
    ].map(([a = 0, b = 0], k) => ({
      ...{ id: `${k}`, origin: [a * (x / 2 + 1), b * (y / 2 + 1), TRIPOD_M] as [number, number, number] },
      ...{ n_theta: Math.round(120 / STEP_DEG), n_phi: Math.round(360 / STEP_DEG) },
      ...{ theta_min_deg: 30, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 360 - STEP_DEG },
      range_noise_m: NOISE_M,
    }));
  const long = x + 10;
  return Array.from({ length: LINES }, (_, k) => {
    const across = (k - (LINES - 1) / 2) * Math.max(3, y / LINES);
    // From body to world, along +x: the scanner turns about its z.
    const attitude = { qx: 0, qy: Math.SQRT1_2, qz: 0, qw: Math.SQRT1_2 };
    const at = (end: number) => ({
      t: (end * long) / SPEED,
      x: (end - 0.5) * long,
      y: across,
      z: DRONE_M,
      ...attitude,
    });
    return {
      ...{ id: `${k}`, origin: [0, 0, 0] as [number, number, number], scan_pattern: "spinning_multibeam" as const },
      ...{ beam_elevation_angles_deg: [0], n_theta: 1, n_phi: 3600, theta_min_deg: 0, theta_max_deg: 180 },
      ...{ phi_min_deg: 0, phi_max_deg: 360, trajectory: { poses: [at(0), at(1)] }, pulse_rate_hz: 300_000 },
      ...{ return_mode: "multi" as const, max_returns: 5, beam_divergence_mrad: 0.5, exit_diameter_m: 0.005 },
      range_noise_m: NOISE_M,
    };
  });
}

const finite = (buffers: ReadonlyMap<string, ArrayLike<number>>) =>
  Array.from(buffers.get("grid_z") ?? []).filter(Number.isFinite);
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Beginnings of the warnings that this is about. */
const SUBJECTS: readonly (readonly [name: string, said: RegExp])[] = [
  ["clumps", /^Leaves stand in clumps/],
  ["large leaves", /are large against/],
  ["occluded", /^Occluded voxels are not part/],
  ["stems", /^Wood that the beams met counts as leaves/],
  ["G", /G is taken as 0\.5|fold against all/],
  ["returns alike", /^The returns of a pulse count alike/],
];

function gridOf({ size, top_m }: Field, edge: number) {
  const counts = [Math.ceil(size[0] / edge - 1e-9), Math.ceil(size[1] / edge - 1e-9), Math.ceil((top_m + 0.05) / edge)];
  const [nx = 1, ny = 1, nz = 1] = counts;
  return {
    center: [0, 0, FLOOR_M + (nz * edge) / 2] as [number, number, number],
    size: [nx * edge, ny * edge, nz * edge] as [number, number, number],
    ...{ nx, ny, nz },
  };
}

/** True leaf area in the box of a grid. */
function leafArea({ leaves }: Field, { size: [x, y] }: ReturnType<typeof gridOf>): number {
  let area = 0;
  for (let i = 0; i < leaves.length; i += 4) {
    const [px = 0, py = 0, pz = 0] = leaves.subarray(i, i + 3);
    if (Math.abs(px) < x / 2 && Math.abs(py) < y / 2 && pz > FLOOR_M) area += leaves[i + 3] ?? 0;
  }
  return area;
}

async function rowOf(field: Field, species: string, seen: Seen, client: Client): Promise<FieldRow> {
  const scanners = scannersOf(field, seen);
  const one = seen === "tripods" ? { rays_per_pulse: 1 } : { rays_per_pulse: 12, pulse_distance_threshold: 0.1 };
  const { meta } = await client.lidarScan({
    meshes: field.meshes as never,
    scanners,
    record_misses: true,
    seed: 3,
    ...one,
  });
  const ids = meta.scanners.map(({ session }) => session?.session_id ?? "");
  const all = (await client.merge({ session_ids: ids })).merged.session_id;
  await client.segmentGroundSession(all, {});
  const [x, y] = field.size;
  const bbox = [-x / 2, -y / 2, x / 2, y / 2];
  const surface = async (surface_type: "dtm" | "chm") =>
    finite((await client.sessionDem(all, { surface_type, cell_size: CELL_M, bbox })).buffers as never);
  const [terrain, canopy] = [await surface("dtm"), await surface("chm")];
  const return_type = seen === "tripods" ? "single" : "multi";
  const scans = ids.map((session_id, k) => ({ session_id, origin: scanners[k]?.origin, return_type }));
  const found: FieldRow["found"][number][] = [];
  for (const edge_m of EDGES_M) {
    const grid = gridOf(field, edge_m);
    const answer = await client.ladCompute({ scans: scans as never, grid });
    const truth = leafArea(field, grid);
    const told = SUBJECTS.filter(([, said]) => answer.warnings.some((text) => said.test(text))).map(([name]) => name);
    found.push({
      edge_m,
      total: answer.total_leaf_area / truth,
      occluded: answer.occluded_leaf_area / truth,
      told,
    });
  }
  for (const session_id of [all, ...ids]) await client.closeSession(session_id);
  return {
    ...{ species, seen, leaf_area_m2: leafArea(field, gridOf(field, EDGES_M[0])), stems_m2: field.stems_m2 },
    ground_area_m2: x * y,
    terrain_m: [mean(terrain), Math.sqrt(mean(terrain.map((z) => z * z)))],
    height_m: Math.max(...canopy) - field.top_m,
    found,
  };
}

const part = (value: number) => value.toFixed(2);
const centimetres = (value: number) => (100 * value).toFixed(1);
const column = (of: (one: FieldRow["found"][number]) => string, { found }: FieldRow) => found.map(of).join(" | ");

/** Part `fields` of `npm run accuracy`. */
export const fieldsPart: Part<FieldRow> = {
  methods: SEEN,
  groups: PLANS.map(({ species }) => species),
  measure: (methods, groups) =>
    withService("fields", async (client) => {
      const rows: FieldRow[] = [];
      for (const one of PLANS.filter(({ species }) => groups.includes(species))) {
        const field = await growField(one, client);
        for (const seen of methods as readonly Seen[]) rows.push(await rowOf(field, one.species, seen, client));
      }
      return rows;
    }),
  tables: (rows) =>
    [
      `| crop | scanned by | leaf area index | stems over leaves | terrain, cm: mean, RMS | height, cm | ${EDGES_M.map((edge) => `voxels of ${edge} m`).join(" | ")} | occluded besides | told at 0.5 m |`,
      `|${"---|".repeat(8 + EDGES_M.length)}`,
      ...rows.map(
        (row) =>
          `| ${row.species} | ${row.seen} | ${(row.leaf_area_m2 / row.ground_area_m2).toFixed(1)} | ${part(row.stems_m2 / row.leaf_area_m2)} | ${row.terrain_m.map(centimetres).join(", ")} | ${centimetres(row.height_m)} | ${column(({ total }) => part(total), row)} | ${row.found.map(({ occluded }) => part(occluded)).join(", ")} | ${row.found.at(-1)?.told.join(", ")} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const all = rows.flatMap(({ found }) => found);
    const low = all.filter(({ total, occluded }) => total + occluded < 0.85);
    const silent = low.filter(({ told }) => !told.includes("clumps") && !told.includes("large leaves")).length;
    return `leaf areas that are more than 15 % low without a word on clumps: ${silent} of ${low.length}, ${silent === 0 ? "reached" : "missed"}`;
  },
};
