// Young plants in pots, scanned from around at a metre, through the service as a plant scientist does it: stems, leaves, areas.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { type Field, growField } from "./field-plants.ts";
import type { Part } from "./part.ts";

/** Species and days. */
const PLANTS = {
  tomato: 30,
  cherrytomato: 45,
  bean: 30,
  soybean: 40,
  cowpea: 40,
  capsicum: 40,
  maize: 25,
  sorghum: 25,
  almond: 120,
} as const;
type Plant = keyof typeof PLANTS;
/** Noise of the ranges, millimetres. */
const NOISES = ["0.5", "2"] as const;
const SURFACES = ["ball_pivoting", "poisson", "alpha_shape"] as const;
const LEAF = 1;
const POSITIONS = 6;
const STEP_DEG = 0.05;
const MOST_POINTS = 60_000;

interface Stems {
  /** Volume over that of internodes and petioles. */
  readonly volume: number;
  /** Of the base, millimetres. */
  readonly base_mm: number;
  /** 95 % interval of the volume over the truth; null = none. */
  readonly interval: readonly [number, number] | null;
}

export interface PotRow {
  readonly plant: Plant;
  readonly noise_mm: string;
  readonly height_m: number;
  readonly base_mm: number;
  readonly tubes_cm3: number;
  /** Without the points of leaves, and with all. */
  readonly stems: readonly Stems[];
  /** F1 of stems by segment_wood method ml. */
  readonly wood_f1: number;
  /** Of the points of leaves, by method: surface_area over the true area of one side, and without what `relief` tells. */
  readonly areas: readonly { readonly area: number; readonly told: number }[];
}

function scannersAround({ top_m }: Field, noise_mm: number) {
  const far = Math.max(1, top_m);
  return Array.from({ length: POSITIONS }, (_, k) => {
    const turn = (2 * Math.PI * k) / POSITIONS;
    const z = k % 2 === 1 ? far : 0.4 * far;
    return {
      ...{ id: `${k}`, origin: [far * Math.cos(turn), far * Math.sin(turn), z] as [number, number, number] },
      ...{ n_theta: Math.round(120 / STEP_DEG), n_phi: Math.round(360 / STEP_DEG) },
      ...{ theta_min_deg: 45, theta_max_deg: 165, phi_min_deg: 0, phi_max_deg: 360 - STEP_DEG },
      range_noise_m: noise_mm / 1000,
    };
  });
}

/** Rows of an export. */
function table(path: string): { readonly names: string[]; readonly rows: number[][] } {
  const [head = "", ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const names = head.replace(/^[#/ ]+/, "").split(/[,; ]+/);
  return { names, rows: lines.map((line) => line.split(/[,; ]+/).map(Number)) };
}

const isWood = (organ: number) => organ !== LEAF && organ > 0;

async function stemsOf(points: readonly number[][], truth: Field, client: Client): Promise<Stems> {
  const stride = Math.ceil(points.length / MOST_POINTS);
  const thinned = points.filter((_, i) => i % stride === 0) as [number, number, number][];
  const { metrics, cylinders } = await client.buildQsm({ points: thinned, radius_model: "tapered" });
  const [low, high] = metrics?.total_woody_volume_ci95_m3 ?? [];
  return {
    volume: (metrics?.total_woody_volume_m3 ?? 0) / truth.tubes_m3,
    base_mm: 2000 * (cylinders[0]?.radius ?? 0),
    interval: low === undefined || high === undefined ? null : ([low / truth.tubes_m3, high / truth.tubes_m3] as const),
  };
}

async function rowOf(plant: Plant, noise_mm: string, client: Client, folder: string): Promise<PotRow> {
  const field = await growField({ species: plant, age_days: PLANTS[plant], spacing: [1, 1], count: [1, 1] }, client);
  const { meta } = await client.lidarScan({
    meshes: field.meshes.slice(0, 1) as never,
    scanners: scannersAround(field, Number(noise_mm)),
    ...{ extra_fields: ["organ"], record_misses: false, rays_per_pulse: 1, seed: 3 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const all = (await client.merge({ session_ids: ids })).merged.session_id;
  const path = join(folder, "plant.csv");
  await client.segmentWoodSession(all, { method: "ml" });
  await client.exportCloud({
    ...{ source: { session_id: all }, dest_path: path, format: "csv", overwrite: true },
    columns: ["organ", "wood_class"],
  } as never);
  const { names, rows } = table(path);
  const [organ, wood] = [names.indexOf("organ"), names.indexOf("wood_class")];
  const counts = { right: 0, wrong: 0 };
  for (const row of rows) {
    const [is, said] = [isWood(row[organ] ?? 0), row[wood] === 1];
    if (is && said) counts.right += 1;
    else if (is || said) counts.wrong += 1;
  }
  const places = (keep: (organ: number) => boolean) =>
    rows.filter((row) => keep(row[organ] ?? 0)).map((row) => row.slice(0, 3));
  const stems = [
    await stemsOf(places(isWood), field, client),
    await stemsOf(
      places(() => true),
      field,
      client,
    ),
  ];
  const parts = await client.extractByColumn(all, { slug: "organ", exclude_values: [0, 2, 3, 4, 5, 6] });
  const leaves = parts.children.find(({ value }) => value === LEAF)?.session_id ?? "";
  let leaf_m2 = 0;
  for (let i = 3; i < field.leaves.length; i += 4) leaf_m2 += field.leaves[i] ?? 0;
  const areas: PotRow["areas"][number][] = [];
  for (const method of SURFACES) {
    const made = await client.triangulate({ source: { session_id: leaves }, method });
    const { surface_area, relief } = made.meta;
    const area = surface_area / leaf_m2;
    areas.push({ area, told: area / relief.area_ratio / (1 + relief.two_faced_share) });
  }
  for (const id of [leaves, all, ...ids]) await client.closeSession(id);
  return {
    ...{ plant, noise_mm, height_m: field.top_m, base_mm: 1000 * field.base_diameter_m },
    ...{
      tubes_cm3: 1e6 * field.tubes_m3,
      stems,
      wood_f1: (2 * counts.right) / (2 * counts.right + counts.wrong),
      areas,
    },
  };
}

const two = (value: number) => value.toFixed(2);
const one = (value: number) => value.toFixed(1);
const stemText = ({ volume, base_mm, interval }: Stems) =>
  `${two(volume)} (${interval ? interval.map(two).join(" to ") : "no interval"}), ${one(base_mm)}`;

/** Part `pots` of `npm run accuracy`. */
export const potsPart: Part<PotRow> = {
  methods: NOISES,
  groups: Object.keys(PLANTS),
  measure: (methods, groups) =>
    withService("pots", async (client, folder) => {
      const rows: PotRow[] = [];
      for (const plant of groups as readonly Plant[])
        for (const noise of methods) rows.push(await rowOf(plant, noise, client, folder));
      return rows;
    }),
  tables: (rows) =>
    [
      `| plant | noise, mm | height, m | base, mm | stems and petioles, cm3 | model without leaves: volume of true, base, mm | with leaves | wood by ml, F1 | area of leaves: ${SURFACES.join(" | ")} |`,
      `|${"---|".repeat(8 + SURFACES.length)}`,
      ...rows.map(
        (row) =>
          `| ${row.plant} | ${row.noise_mm} | ${two(row.height_m)} | ${one(row.base_mm)} | ${one(row.tubes_cm3)} | ${row.stems.map(stemText).join(" | ")} | ${two(row.wood_f1)} | ${row.areas.map(({ area, told }) => `${two(area)}, ${two(told)}`).join(" | ")} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const clean = rows.filter(({ noise_mm }) => noise_mm === "0.5");
    const off = clean.map(({ stems: [bare] }) => Math.abs((bare?.volume ?? 0) - 1));
    return `${off.filter((value) => value <= 0.25).length} of ${off.length} plants without leaves and with noise of 0.5 mm within 25 % of their volume`;
  },
};
