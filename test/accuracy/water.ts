// Trees around still water (water-scenes.ts), from tripods, which see what it mirrors, and from the air, which get no echo of it:
// terrain, heights and diameters through the service.
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { figure, largest, mean, sizeErrors, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";
import { WATER, WATER_SIDE_M, type WaterScene, waterScene } from "./water-scenes.ts";

const AIR = "air";
const TRIPODS = "tripods";
const TRIPOD_M = 1.7;
/** Degrees from the zenith: water mirrors a quarter and more of a beam that meets it at less than 15 degrees (Fresnel). */
const MIRRORED = [90.1, 105] as const;
const REACH_M: Readonly<Record<string, number>> = { [AIR]: 2, [TRIPODS]: 0.6 };
const MOST_TERRAIN_M = 0.3;

export interface WaterRow {
  readonly scene: string;
  readonly scans: string;
  /** Points that are images, and those of them that `mirrors` counts. */
  readonly images: number;
  readonly told: number;
  /** Lowest value of the terrain, less the lowest place of the ground that is not under water, metres. */
  readonly lowest_m: number;
  readonly trees: number;
  readonly found: number;
  /** `height_m` less the true height: mean, and the largest by its size, metres. */
  readonly height_m: readonly [number, number];
  readonly diameters: number;
  readonly worst_diameter_mm: number;
  readonly others: number;
}

async function scanned(scene: WaterScene, scans: string, client: Client): Promise<string[]> {
  const ids: string[] = [];
  const scan = async (meshes: WaterScene["dry"], scanners: readonly object[]) => {
    const { meta } = await client.lidarScan({
      ...{ meshes: meshes[0] as never, scanners: scanners as never },
      ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
    });
    ids.push(...meta.scanners.flatMap(({ session }) => session?.session_id ?? []));
  };
  if (scans === AIR) {
    const line = (x: number) => ({
      ...{ id: `line ${x}`, origin: [x, 0, 400], range_noise_m: 0.02, n_theta: 800, n_phi: 800 },
      ...{ theta_min_deg: 165, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 359.2 },
    });
    await scan(scene.dry, [-60, 60].map(line));
    return ids;
  }
  const at = [-0.45, -0.15, 0.15, 0.45].map((part) => part * WATER_SIDE_M);
  const ashore = at
    .flatMap((x) => at.map((y) => [x, y] as const))
    .filter(([x, y]) => scene.ground(x, y) > scene.level_m);
  const band = (from: number, to: number) =>
    ashore.map(([x, y]) => ({
      ...{ id: `${x} ${y} ${from}`, origin: [x, y, scene.ground(x, y) + TRIPOD_M], range_noise_m: 0.003 },
      ...{ n_theta: Math.round(4.1 * (to - from)), n_phi: 1200, phi_min_deg: 0, phi_max_deg: 359.8 },
      ...{ theta_min_deg: from, theta_max_deg: to },
    }));
  await scan(scene.dry, [...band(5, 90), ...band(MIRRORED[1], 150)]);
  await scan(scene.mirrored, band(...MIRRORED));
  return ids;
}

async function rowOf(name: string, scans: string, client: Client): Promise<WaterRow> {
  const scene = waterScene(name);
  const ids = await scanned(scene, scans, client);
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  const { mirrors } = await client.segmentGroundSession(session_id, {});
  const cell_size = scans === AIR ? 0.5 : 0.25;
  const { meta } = await client.sessionDem(session_id, { surface_type: "dtm", cell_size, add_height_column: true });
  await client.segmentTreesSession(session_id, { method: scans === AIR ? "chm" : "auto" });
  const list = await client.treeInventory(session_id, { min_points: 10 });
  const { deleted_count } = await client.deleteRegion(session_id, {
    region: { kind: "box", min: [-99, -99, -99], max: [99, 99, scene.level_m - 0.2] },
  });
  await client.closeSession(session_id);
  const pairs = standingBeside(scene.trees, list.trees, REACH_M[scans] ?? 0);
  const { height_m: off, diameter_mm: measured } = sizeErrors(pairs);
  return {
    ...{ scene: name, scans, images: deleted_count },
    told: mirrors.reduce((sum, { image_count }) => sum + image_count, 0),
    lowest_m: (meta.layers?.elevation?.min ?? Number.NaN) - scene.level_m,
    ...{ trees: scene.trees.length, found: new Set(pairs.map(({ row }) => row)).size },
    height_m: [mean(off), largest(off)],
    ...{ diameters: measured.length, worst_diameter_mm: largest(measured) },
    others: list.trees.length - pairs.length,
  };
}

/** Part `water` of `npm run accuracy`. */
export const waterPart: Part<WaterRow> = {
  methods: [TRIPODS, AIR],
  groups: WATER,
  measure: (methods, groups) =>
    withService("water", async (client) => {
      const rows: WaterRow[] = [];
      for (const scene of groups) for (const scans of methods) rows.push(await rowOf(scene, scans, client));
      return rows;
    }),
  tables: (rows) =>
    [
      "| scene | scans | images, told | lowest terrain above the water m | trees | found | height error m: mean, largest | diameters, largest error mm | others |",
      `|${"---|".repeat(9)}`,
      ...rows.map(
        ({ height_m: [bias, worst], ...row }) =>
          `| ${row.scene} | ${row.scans} | ${row.images}, ${row.told} | ${figure(row.lowest_m, 2)} | ${row.trees} | ${row.found} | ${figure(bias, 2)}, ${figure(worst, 2)} | ${row.diameters}, ${figure(row.worst_diameter_mm, 1)} | ${row.others} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const deep = rows.filter(({ lowest_m }) => !(lowest_m >= -MOST_TERRAIN_M));
    return `no terrain more than ${MOST_TERRAIN_M} m below the water: ${deep.length === 0 ? "reached" : `missed by ${deep.map(({ scene, scans }) => `${scene} (${scans})`).join(", ")}`}`;
  },
};
