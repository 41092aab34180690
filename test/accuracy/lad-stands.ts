// Leaf area of forest plots whose leaves are known, through the service as a user does it: ground, occluded voxels, clumps, scans from
// which hits were taken out.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import type { Client } from "../../shared/client/index.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { withService } from "./backend.ts";
import type { StandKind } from "./forest/layout.ts";
import { buildScene, rasterAt, type Scene, tripods } from "./forest/scene.ts";
import { SCANNED } from "./forest/surface.ts";
import { coordinatesOf, values } from "./native.ts";
import type { Part } from "./part.ts";
import type { Vector } from "./vector.ts";

const SIDE_M = 30;
const EVERY = 5;
/** Noise of the ranges of the scanner, metres. */
const NOISE_M = 0.004;
const GROUPS = ["apart", "interlocked", "understorey", "slope", "rows"] as const;
const SCANS: Readonly<Record<string, readonly number[]>> = { interlocked: [4, 9] };
const EDGES_M = [1, 0.5] as const;
/** Hits that are kept: all, or one per cube of this edge, metres. */
const THINNED = [0, 0.02] as const;

export interface LadStandRow {
  readonly stand: StandKind;
  readonly positions: number;
  readonly thinned_m: number;
  readonly edge_m: number;
  readonly leaf_area_m2: number;
  /** Shares of it: of a level grid that holds the ground, of columns raised onto the terrain, in its occluded voxels. */
  readonly level: number | null;
  readonly found: number;
  readonly occluded: number;
  /** Leaf area through voxels of half the edges over that of the same voxels. */
  readonly halves: number | null;
  readonly views: number | null;
  /** Of what is told. */
  readonly told: readonly string[];
}

interface Scan {
  readonly origin: Vector;
  /** Properties of the points: x, y, z (f64), is_miss, wood_class (u8), after each other per point. */
  readonly rows: Buffer;
}

const ROW_BYTES = 26;

/** Misses lie 1001 m away; hits on wood and leaves have their label. */
async function scanned(scene: Scene, origin: Vector, index: number, thinned_m: number, job: Job): Promise<Scan> {
  const wanted = { scanners: [rasterAt(origin, index, EVERY)], record_misses: true, seed: index + 1 };
  const request = LidarScanRequest.parse({ meshes: [], rays_per_pulse: 1, ...wanted });
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], index, request, job);
  const found = await job.quiet().track(() => native.syntheticScan(scene.scene, params));
  if (!found.organ || !found.is_miss) throw new Error("the scan has no organs or no misses");
  const [xyz, organ, miss] = [coordinatesOf(found.positions), values(found.organ), values(found.is_miss)];
  const taken = new Set<string>();
  const rows = Buffer.alloc(ROW_BYTES * organ.length);
  for (let i = 0; i < organ.length; i += 1) {
    const place = xyz.subarray(3 * i, 3 * i + 3);
    let isMiss = Number(miss[i]) !== 0;
    if (!isMiss && thinned_m > 0) {
      const cube = place.map((value) => Math.floor(value / thinned_m)).join(",");
      // A hit that is taken out looks like a pulse without a return.
      isMiss = taken.has(cube);
      taken.add(cube);
    }
    const far = isMiss && Number(miss[i]) === 0 ? 1001 / Math.hypot(...place.map((v, k) => v - (origin[k] ?? 0))) : 1;
    for (let k = 0; k < 3; k += 1) {
      const from = origin[k] ?? 0;
      rows.writeDoubleLE(from + far * ((place[k] ?? 0) - from), ROW_BYTES * i + 8 * k);
    }
    rows.writeUInt8(isMiss ? 1 : 0, ROW_BYTES * i + 24);
    const label = organ[i] === SCANNED.wood ? 1 : organ[i] === SCANNED.leaf ? 2 : 0;
    rows.writeUInt8(isMiss ? 0 : label, ROW_BYTES * i + 25);
  }
  for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  return { origin, rows };
}

const HEAD = ["double x", "double y", "double z", "uchar is_miss", "uchar wood_class"]
  .map((property) => `property ${property}\n`)
  .join("");

function plyOf({ rows }: Scan): Buffer {
  const head = `ply\nformat binary_little_endian 1.0\nelement vertex ${rows.length / ROW_BYTES}\n${HEAD}end_header\n`;
  return Buffer.concat([Buffer.from(head), rows]);
}

/** True heights of the ground. */
function terrainOf(scene: Scene) {
  const [cell, count] = [0.25, SIDE_M / 0.25];
  const grid_z = Array.from({ length: count * count }, (_, c) =>
    scene.ground((0.5 + (c % count)) * cell, (0.5 + Math.floor(c / count)) * cell),
  );
  return { grid_z, nx: count, ny: count, cell, origin: [0, 0] as [number, number] };
}

/** Metres above the ground. */
const HIGHEST_M = 27;

function gridOf(edge: number, floor: number, height: number) {
  const [across, layers] = [Math.round(SIDE_M / edge), Math.ceil(height / edge)];
  return {
    center: [SIDE_M / 2, SIDE_M / 2, floor + (layers * edge) / 2] as [number, number, number],
    size: [SIDE_M, SIDE_M, layers * edge] as [number, number, number],
    nx: across,
    ny: across,
    nz: layers,
  };
}

/** Beginnings of the warnings that this is about. */
const SUBJECTS: readonly (readonly [name: string, said: RegExp])[] = [
  ["ground", /as at the ground/],
  ["occluded", /^Occluded voxels are not part/],
  ["clumps", /^Leaves stand in clumps/],
  ["beams far apart", /^Beams are/],
  ["unseen", /is seen by no scanner/],
  ["hits lost", /amid hits of one surface/],
];
const subjects = (warnings: readonly string[]) =>
  SUBJECTS.filter(([, said]) => warnings.some((one) => said.test(one))).map(([name]) => name);

async function standRows(stand: StandKind, positions: number, folder: string, client: Client): Promise<LadStandRow[]> {
  const job = new Job();
  const scene = await buildScene(stand, 1, SIDE_M, job);
  const origins = tripods(positions, SIDE_M, scene.plans, scene.ground);
  const leaves = scene.leaves();
  let leaf_area_m2 = 0;
  const isInside = (value = -1) => value >= 0 && value < SIDE_M;
  for (let i = 0; i < leaves.length; i += 4)
    if (isInside(leaves[i]) && isInside(leaves[i + 1])) leaf_area_m2 += leaves[i + 3] ?? 0;
  const dem = terrainOf(scene);
  const lowest = Math.min(...dem.grid_z);
  const rows: LadStandRow[] = [];
  for (const thinned_m of THINNED) {
    const scans: { session_id: string; origin: [number, number, number] }[] = [];
    for (const [k, origin] of origins.entries()) {
      const source_path = join(folder, "scan.ply");
      writeFileSync(source_path, plyOf(await scanned(scene, origin, k, thinned_m, job)));
      scans.push({ session_id: (await client.createSession({ source_path })).session_id, origin: [...origin] });
    }
    const g = { gtheta_override: true, gtheta: 0.5, wood_split: {} };
    for (const edge_m of thinned_m === 0 ? EDGES_M : [1]) {
      const level =
        edge_m === 1 && thinned_m === 0
          ? await client.ladCompute({ scans, ...g, grid: gridOf(edge_m, lowest, HIGHEST_M + 15) })
          : null;
      const views = thinned_m === 0 && edge_m === 1 ? { range_noise_m: NOISE_M } : null;
      const raised = { grid: gridOf(edge_m, 0, HIGHEST_M), terrain_follow: true, dem };
      const found = await client.ladCompute({ scans, ...g, ...raised, capture_recapture: views });
      const { clumping_check: check, capture_recapture: seen } = found;
      const told = [...new Set([...subjects(level?.warnings ?? []), ...subjects(found.warnings)])];
      rows.push({
        stand,
        positions,
        thinned_m,
        edge_m,
        leaf_area_m2,
        level: level && level.total_leaf_area / leaf_area_m2,
        found: found.total_leaf_area / leaf_area_m2,
        occluded: found.occluded_leaf_area / leaf_area_m2,
        halves: check && check.leaf_area_half_edges / check.leaf_area,
        views: seen?.leaf_area ? seen.leaf_area / leaf_area_m2 : null,
        told,
      });
    }
    for (const { session_id } of scans) await client.closeSession(session_id);
  }
  scene.scene.release();
  return rows;
}

const share = (value: number | null) => (value === null ? "" : value.toFixed(3));

/** Part `lad-stands` of `npm run accuracy`. */
export const ladStandsPart: Part<LadStandRow> = {
  methods: ["voxels"],
  groups: GROUPS,
  measure: (_, groups) =>
    withService("lad-stands", async (client, folder) => {
      const rows: LadStandRow[] = [];
      for (const stand of groups as readonly StandKind[])
        for (const positions of SCANS[stand] ?? [4]) rows.push(...(await standRows(stand, positions, folder, client)));
      return rows;
    }),
  tables: (rows) =>
    [
      "| stand | scans | hits | edge | leaf area, m2 | level grid | raised onto the terrain | occluded besides | halves of voxels | by views | told |",
      "|---|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.stand} | ${row.positions} | ${row.thinned_m > 0 ? `one per ${100 * row.thinned_m} cm` : "all"} | ${row.edge_m} m | ${row.leaf_area_m2.toFixed(0)} | ${share(row.level)} | ${share(row.found)} | ${share(row.occluded)} | ${share(row.halves)} | ${share(row.views)} | ${row.told.join(", ")} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const wrong = rows.filter(
      ({ level, found }) => Math.abs((level ?? found) - 1) > 0.05 || Math.abs(found - 1) > 0.05,
    );
    const silent = wrong.filter(({ told }) => told.length === 0).length;
    return `leaf areas that are off by more than 5 % without a word: ${silent} of ${wrong.length}, ${silent === 0 ? "reached" : "missed"}`;
  },
};
