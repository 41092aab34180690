// Rain, stray points and scanners of short range in a plot of sixteen trees, through the service: heights, what is listed and is no tree,
// and what is told.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, isNoTree } from "../../shared/client/index.ts";
import type { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { withService } from "./backend.ts";
import { figure, largest, mean, sizeErrors, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";
import { uniform } from "./random.ts";
import { groundMesh, ROCK_SIDE_M, Scenery, uneven } from "./rock-scenes.ts";

const TREES = 16;
const TRIPOD_M = 1.7;
const REACH_M = 0.6;
/** Drops return beams near the scanner: their density falls with the square of the distance, and with the part of the beam that is left. */
const [NEAREST_M, FARTHEST_M] = [1, 25];
const PULSES = 600 * 1200;
const PHONE_M = 5;
/** Places of a walk with a phone, along and across. */
const STEPS = 8;

/** Share of the pulses that meet a drop; of the points that lie anywhere; longest range, metres. */
interface Weather {
  readonly drops: number;
  readonly strays: number;
  readonly range_m: number;
}
const WEATHER: Readonly<Record<string, Weather>> = {
  dry: { drops: 0, strays: 0, range_m: Number.POSITIVE_INFINITY },
  drizzle: { drops: 0.002, strays: 0, range_m: Number.POSITIVE_INFINITY },
  rain: { drops: 0.02, strays: 0, range_m: Number.POSITIVE_INFINITY },
  strays: { drops: 0, strays: 0.002, range_m: Number.POSITIVE_INFINITY },
  phone: { drops: 0, strays: 0, range_m: PHONE_M },
};

export interface RainRow {
  readonly weather: string;
  readonly denoised: boolean;
  readonly trees: number;
  readonly found: number;
  /** `height_m` less the true height: mean, and the largest by its size, metres. */
  readonly height_m: readonly [number, number];
  readonly worst_diameter_mm: number;
  /** Listed and no tree, and how many of these are told. */
  readonly others: number;
  readonly others_told: number;
  /** Of trees more than 0.3 m too high, those with the flag stray_top; of the others. */
  readonly too_high: readonly [number, number];
  readonly right: readonly [number, number];
  /** Trees with the flag thick_top. */
  readonly thick: number;
  readonly cover_m2: number;
}

type P = readonly [number, number, number];

function scene(seed: number) {
  const next = uniform(seed);
  const scenery = new Scenery();
  while (scenery.trees.length < TREES) {
    const [x, y] = [(next() - 0.5) * 26, (next() - 0.5) * 26];
    if (!scenery.isFree(x, y, 3.5)) continue;
    scenery.plant([x, y, uneven(x, y)], { high: 12 + 6 * next(), radius: 0.1 + 0.1 * next(), wide: 1.8 }, next);
  }
  scenery.put(groundMesh(uneven));
  return scenery;
}

function origins(range_m: number): P[] {
  const count = Number.isFinite(range_m) ? STEPS : 4;
  const at = Array.from({ length: count }, (_, k) => (k / (count - 1) - 0.5) * ROCK_SIDE_M);
  return at.flatMap((x) => at.map((y): P => [x, y, uneven(x, y) + TRIPOD_M]));
}

/** What falls, as a cloud of points. */
function airborne({ drops, strays }: Weather, places: readonly P[], count: number): Float64Array {
  const next = uniform(5);
  const out: number[] = [];
  for (const [x, y, z] of places)
    for (let k = 0; k < drops * PULSES; k += 1) {
      const r = 1 / (1 / NEAREST_M - (1 / NEAREST_M - 1 / FARTHEST_M) * next());
      const [up, turn] = [1.6 * next() - 0.6, 2 * Math.PI * next()];
      const across = Math.sqrt(1 - up * up);
      const at = [x + r * across * Math.cos(turn), y + r * across * Math.sin(turn), z + r * up] as const;
      if (at[2] > 0.1) out.push(...at);
    }
  for (let k = 0; k < strays * count; k += 1)
    out.push((next() - 0.5) * ROCK_SIDE_M, (next() - 0.5) * ROCK_SIDE_M, 0.1 + 22 * next());
  return Float64Array.from(out);
}

async function scanned(weather: Weather, scenery: Scenery, client: Client, folder: string): Promise<string> {
  const places = origins(weather.range_m);
  const rays = Number.isFinite(weather.range_m) ? 300 : 600;
  const { meta } = await client.lidarScan({
    meshes: scenery.meshes[0] as never,
    scanners: places.map((origin, k) => ({
      ...{ id: `${k}`, origin, range_noise_m: 0.003, n_theta: rays, n_phi: 2 * rays },
      ...{ theta_min_deg: 5, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 359.8 },
    })) as never,
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const points = meta.scanners.reduce((sum, { session }) => sum + (session?.point_count ?? 0), 0);
  const air = airborne(weather, places, points);
  if (air.length > 0) {
    const source_path = join(folder, "air.ply");
    writeFileSync(source_path, plyOf(air));
    ids.push((await client.createSession({ source_path })).session_id);
  }
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  if (!Number.isFinite(weather.range_m)) return session_id;
  const within = { slug: "distance", min: 0, max: weather.range_m };
  const near = await client.extract(session_id, { scalar_filters: [within] as never });
  await client.closeSession(session_id);
  return near.extracted?.session_id ?? "";
}

function rowOf(weather: string, denoised: boolean, scenery: Scenery, list: TreeInventoryTail): RainRow {
  const pairs = standingBeside(scenery.trees, list.trees, REACH_M);
  const { height_m: off, diameter_mm } = sizeErrors(pairs);
  const others = list.trees.filter((row) => !pairs.some((pair) => pair.row === row));
  const isTold = (k: number) => pairs[k]?.row.flags.includes("stray_top") === true;
  const told = (rows: readonly number[]): [number, number] => [rows.filter(isTold).length, rows.length];
  const all = [...off.keys()];
  return {
    ...{ weather, denoised, trees: scenery.trees.length, found: new Set(pairs.map(({ row }) => row)).size },
    ...{ height_m: [mean(off), largest(off)], worst_diameter_mm: largest(diameter_mm) },
    ...{ others: others.length, others_told: others.filter(isNoTree).length },
    too_high: told(all.filter((k) => (off[k] ?? 0) > 0.3)),
    right: told(all.filter((k) => !((off[k] ?? 0) > 0.3))),
    thick: pairs.filter(({ row }) => row.flags.includes("thick_top")).length,
    cover_m2: list.stand?.crown_union_area_m2 ?? Number.NaN,
  };
}

async function rowsOf(weather: string, methods: readonly string[], client: Client, folder: string): Promise<RainRow[]> {
  const scenery = scene(7);
  const scan = await scanned(WEATHER[weather] as Weather, scenery, client, folder);
  const rows: RainRow[] = [];
  for (const method of methods) {
    if (method === "denoised") await client.denoiseSession(scan, { method: "auto" });
    await client.segmentGroundSession(scan, {});
    await client.sessionDem(scan, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
    await client.segmentTreesSession(scan, { method: "auto" });
    const list = await client.treeInventory(scan, { min_points: 10 });
    rows.push(rowOf(weather, method === "denoised", scenery, list));
  }
  await client.closeSession(scan);
  return rows;
}

/** Part `rain` of `npm run accuracy`. */
export const rainPart: Part<RainRow> = {
  methods: ["as_scanned", "denoised"],
  groups: Object.keys(WEATHER),
  measure: (methods, groups) =>
    withService("rain", async (client, folder) => {
      const rows: RainRow[] = [];
      for (const weather of groups) rows.push(...(await rowsOf(weather, methods, client, folder)));
      return rows;
    }),
  tables: (rows) =>
    [
      "| scans | noise | trees | found | height error m: mean, largest | worst diameter mm | no trees, told | more than 0.3 m too high, told | others, told | end thick | cover m2 |",
      `|${"---|".repeat(11)}`,
      ...rows.map(
        ({ weather, denoised, trees, found, height_m: [bias, worst], too_high, right, ...row }) =>
          `| ${weather} | ${denoised ? "labelled" : "not labelled"} | ${trees} | ${found} | ${figure(bias, 2)}, ${figure(worst, 2)} | ${figure(row.worst_diameter_mm, 1)} | ${row.others}, ${row.others_told} | ${too_high[1]}, ${too_high[0]} | ${right[1]}, ${right[0]} | ${row.thick} | ${figure(row.cover_m2, 1)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const [silent, high, told, others] = [
      rows.reduce((sum, { others: all, others_told }) => sum + all - others_told, 0),
      rows.reduce((sum, { too_high }) => sum + too_high[1], 0),
      rows.reduce((sum, { too_high }) => sum + too_high[0], 0),
      rows.reduce((sum, { right }) => sum + right[0], 0),
    ];
    return `what is no tree and not told: ${silent}; heights more than 0.3 m too large: ${high}, told ${told}; others with the flag: ${others}`;
  },
};
