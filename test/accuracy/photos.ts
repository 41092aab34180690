// Trees of generated stands in clouds made of photos, through the service as a user does it: what is wrong, and whether it is told.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import { scannedFromAir, scannedFromDrone } from "./air-scan.ts";
import { pairs } from "./air-stands.ts";
import { withService } from "./backend.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { buildScene } from "./forest/scene.ts";
import type { Part } from "./part.ts";
import { photoSurface } from "./photo-surface.ts";
import { plyOf } from "./ply.ts";

const SIDE_M = 60;
const SEED = Number(process.env.STAND_SEED ?? 1);
/** Photos with places without a match drawn, or left out; for comparison a laser scan, 10 pulses per square metre. */
const CLOUDS = ["filled", "gaps", "laser"] as const;
type CloudKind = (typeof CLOUDS)[number];

export interface PhotoRow {
  readonly stand: StandKind;
  readonly cloud: CloudKind;
  /** Share of the closed canopy below which something was seen; null = too little of it. */
  readonly seen: number | null;
  readonly told_terrain: boolean;
  readonly told_trees: boolean;
  /** Terrain at the trees found less the true one, metres: mean and largest. */
  readonly ground_m: readonly [number, number];
  /** Heights less the true ones, mean, metres; areas of crowns over the true ones; part of the trees that was found. */
  readonly height_m: number;
  readonly area_ratio: number;
  readonly recall: number;
}

const sum = (list: readonly number[]) => list.reduce((all, value) => all + value, 0);
const mean = (list: readonly number[]) => sum(list) / list.length;

const listOf = (xyz: Float64Array) =>
  withService("photos", async (client, folder) => {
    const source_path = join(folder, "plot.ply");
    writeFileSync(source_path, plyOf(xyz));
    const { session_id } = await client.createSession({ source_path });
    await client.segmentGroundSession(session_id, {});
    const { meta } = await client.sessionDem(session_id, {
      ...{ surface_type: "dtm", cell_size: 0.5, add_height_column: true },
    });
    await client.segmentTreesSession(session_id, { method: "chm" });
    const list = await client.treeInventory(session_id, { min_points: 3 });
    return { meta, list };
  });

const isTold = (warnings: readonly string[] | undefined) =>
  (warnings ?? []).some((one) => one.includes("the cloud is a surface"));

async function rowsOf(stand: StandKind, clouds: readonly CloudKind[]): Promise<PhotoRow[]> {
  const job = new Job();
  const scene = await buildScene(stand, SEED, SIDE_M, job);
  const dense = await scannedFromDrone(scene, SIDE_M, job);
  const rows: PhotoRow[] = [];
  for (const cloud of clouds) {
    const xyz =
      cloud === "laser"
        ? await scannedFromAir(scene, SIDE_M, 10, job)
        : await photoSurface(dense, cloud === "filled", job);
    const { meta, list } = await listOf(xyz);
    if (!meta.success) throw new Error(meta.error ?? "no terrain");
    const inside = list.trees.filter(({ stem_base }) => stem_base?.slice(0, 2).every((at) => at >= 0 && at <= SIDE_M));
    const found = inside.map(({ stem_base, height_m, crown_projected_area_m2, ground_z }) => ({
      ...{ x: stem_base?.[0] ?? 0, y: stem_base?.[1] ?? 0, height_m: height_m ?? 0, ground_z: ground_z ?? 0 },
      ...{ area_m2: crown_projected_area_m2 ?? 0, diameter_m: null, sigma_m: 0 },
    }));
    const matched = pairs(found, scene.truths);
    const above = matched.map(({ one, tree }) => (one as (typeof found)[number]).ground_z - tree.base[2]);
    const high = scene.truths.filter(({ is_understorey }) => !is_understorey);
    rows.push({
      ...{ stand, cloud, seen: meta.seen_below_canopy },
      told_terrain: isTold(meta.warnings),
      told_trees: isTold(list.warnings),
      ground_m: [mean(above), Math.max(...above)],
      height_m: mean(matched.map(({ one, tree }) => one.height_m - tree.height_m)),
      area_ratio: sum(matched.map(({ one }) => one.area_m2)) / sum(matched.map(({ tree }) => tree.crown_area_m2)),
      recall: matched.filter(({ tree }) => !tree.is_understorey).length / high.length,
    });
  }
  scene.scene.release();
  return rows;
}

async function measure(_: readonly string[], groups: readonly string[]): Promise<PhotoRow[]> {
  const rows: PhotoRow[] = [];
  for (const stand of STANDS) {
    const clouds = CLOUDS.filter((cloud) => groups.includes(`${stand}_${cloud}`));
    if (clouds.length > 0) rows.push(...(await rowsOf(stand, clouds)));
  }
  return rows;
}

const two = (value: number | null) => value?.toFixed(2) ?? "-";
const yes = (told: boolean) => (told ? "yes" : "");

/** Part `photos` of `npm run accuracy`. */
export const photosPart: Part<PhotoRow> = {
  methods: ["as built"],
  groups: STANDS.flatMap((stand) => CLOUDS.map((cloud) => `${stand}_${cloud}`)),
  measure,
  tables: (rows) =>
    [
      "| stand | cloud | seen below canopy | told: terrain, trees | terrain error at trees m: mean, largest | height error m | crown areas over true | recall |",
      "|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.stand} | ${row.cloud} | ${row.seen?.toFixed(3) ?? "-"} | ${yes(row.told_terrain)}, ${yes(row.told_trees)} | ${row.ground_m.map(two).join(", ")} | ${two(row.height_m)} | ${two(row.area_ratio)} | ${two(row.recall)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const photos = rows.filter(({ cloud }) => cloud !== "laser");
    const told = photos.filter(({ told_terrain, told_trees }) => told_terrain && told_trees).length;
    const wrong = rows.filter((row) => row.cloud === "laser" && (row.told_terrain || row.told_trees)).length;
    return [
      `clouds made of photos told, all: ${told} of ${photos.length}, ${told === photos.length ? "reached" : "missed"}`,
      `laser scans told to be such: ${wrong}, ${wrong === 0 ? "reached" : "missed"}`,
    ].join("\n");
  },
};
