// Orchards and vineyards of the service's own trees, and plantations of palms, scanned from tripods, by a walk through the alleys and by a drone, through
// the service as a grower does it: trees, their places and heights, diameters of their trunks.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { scoreTrees } from "./forest/score.ts";
import {
  growOrchard,
  type Orchard,
  type OrchardPlan,
  type OrchardTree,
  TRUNK_PART,
  treeOfCodes,
} from "./orchard-trees.ts";
import { growPalms, PALMS } from "./palm-trees.ts";
import type { Part } from "./part.ts";

const plan = (
  species: string,
  age_days: number,
  along: number,
  between: number,
  nx: number,
  ny: number,
): OrchardPlan => ({
  ...{ species, age_days, spacing: [along, between], count: [nx, ny] },
});
export const PLANS: readonly OrchardPlan[] = [
  plan("almond", 1610, 4.5, 6, 4, 3),
  plan("apple", 1300, 2, 4, 6, 4),
  plan("apple_fruitingwall", 600, 1, 3.2, 9, 4),
  plan("olive", 1640, 3, 5, 5, 3),
  plan("pistachio", 1300, 5, 6, 4, 3),
  plan("walnut", 1300, 7, 8, 3, 2),
  plan("grapevine_VSP", 200, 2.4, 2.4, 5, 4),
  plan("oil_palm_young", 0, 9, 7.8, 4, 3),
  plan("oil_palm", 0, 9, 7.8, 4, 4),
  plan("coconut", 0, 8, 8, 4, 4),
  plan("date_palm", 0, 8, 8, 4, 4),
];
const SEEN = ["tripods", "walk", "drone"] as const;
type Seen = (typeof SEEN)[number];
/** A found tree whose place is farther from a trunk is not of it, metres. */
const REACH_M = 1;

export interface OrchardRow {
  readonly species: string;
  readonly seen: Seen;
  readonly method: string;
  readonly height_m: number;
  readonly trees: number;
  readonly found: number;
  readonly f1: number;
  readonly iou: number;
  /** Of the trees with a place within REACH_M: mean distance of the place from the trunk, and mean error of the height, metres. */
  readonly place_m: number;
  readonly height_error_m: number;
  /** Trees with a diameter of the trunk, and root mean square of its error, metres. */
  readonly trunks: number;
  readonly trunk_rms_m: number;
}

const spinning = { origin: [0, 0, 0] as [number, number, number], scan_pattern: "spinning_multibeam" as const };
const whole = { theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360 };
const HALF = Math.SQRT1_2;

export function scannersOf({ spacing, count }: OrchardPlan, seen: Seen) {
  const [x, y] = [spacing[0] * count[0], spacing[1] * count[1]];
  const alleys = Array.from({ length: count[1] + 1 }, (_, row) => (row - count[1] / 2) * spacing[1]);
  if (seen === "tripods")
    return alleys.flatMap((at, row) =>
      [-0.5, 0, 0.5].map((along) => ({
        ...{ id: `${row} ${along}`, origin: [along * x + spacing[0] / 4, at, 1.7] as [number, number, number] },
        ...{ n_theta: 625, n_phi: 1800, theta_min_deg: 10, theta_max_deg: 135, phi_min_deg: 0, phi_max_deg: 359.8 },
        range_noise_m: 0.003,
      })),
    );
  if (seen === "walk")
    return alleys.map((at, row) => {
      const end = ((row % 2 === 0 ? 1 : -1) * (x + 8)) / 2;
      const pose = (k: number) => ({ t: (k * (x + 8)) / 1.2, x: k === 0 ? -end : end, y: at, z: 1.6 });
      // From body to world: the scanner turns about the way.
      const poses = [0, 1].map((k) => ({ ...pose(k), qx: 0, qy: HALF, qz: 0, qw: HALF }));
      return {
        ...{ ...spinning, ...whole, id: `${row}`, trajectory: { poses }, n_theta: 16, n_phi: 900 },
        beam_elevation_angles_deg: Array.from({ length: 16 }, (_, k) => 2 * k - 15),
        ...{ pulse_rate_hz: 80_000, range_noise_m: 0.012 },
      };
    });
  return [false, true].flatMap((along_y) =>
    [-12, 0, 12].map((across) => {
      const long = (along_y ? y : x) + 20;
      const turn = along_y ? { qx: -0.5, qy: 0.5, qz: 0.5, qw: 0.5 } : { qx: 0, qy: HALF, qz: 0, qw: HALF };
      const poses = [-0.5, 0.5].map((k) => {
        const place = along_y ? { x: across, y: k * long } : { x: k * long, y: across };
        return { t: ((k + 0.5) * long) / 5, ...place, z: 40, ...turn };
      });
      return {
        ...{ ...spinning, ...whole, id: `${across} ${along_y}`, trajectory: { poses }, n_theta: 1, n_phi: 5000 },
        ...{ beam_elevation_angles_deg: [0], pulse_rate_hz: 400_000, return_mode: "multi" as const, max_returns: 5 },
        ...{ beam_divergence_mrad: 0.5, exit_diameter_m: 0.005, range_noise_m: 0.01 },
      };
    }),
  );
}

/** A session of all points. */
async function scanned(meshes: readonly object[], plan: OrchardPlan, seen: Seen, client: Client): Promise<string> {
  const { meta } = await client.lidarScan({
    ...{ meshes: meshes as never, scanners: scannersOf(plan, seen) as never, extra_fields: ["organ"] },
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: seen === "drone" ? 12 : 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const merged = (await client.merge({ session_ids: ids })).merged.session_id;
  for (const id of ids) await client.closeSession(id);
  return merged;
}

/** Columns of the points of a session. */
export async function columnsOf(session_id: string, wanted: readonly string[], client: Client, folder: string) {
  const path = join(folder, "orchard.csv");
  await client.exportCloud({
    ...{ source: { session_id }, dest_path: path, format: "csv", overwrite: true, columns: [...wanted] },
  } as never);
  const [head = "", ...lines] = readFileSync(path, "utf8").trim().split("\n");
  const names = head.split(",");
  const at = wanted.map((name) => names.indexOf(name));
  const columns = at.map(() => new Uint32Array(lines.length));
  for (const [i, line] of lines.entries()) {
    const values = line.split(",");
    for (const [k, column] of columns.entries()) column[i] = Number(values[at[k] ?? 0]);
  }
  return columns;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The rows of a list that stand at the trunks of trees, each tree's the nearest. */
function standing<Row extends { readonly stem_base?: readonly number[] | undefined }>(
  rows: readonly Row[],
  trees: Orchard["trees"],
) {
  return trees.flatMap((tree) => {
    const away = ({ stem_base: [x = Number.POSITIVE_INFINITY, y = 0] = [] }: Row) => Math.hypot(x - tree.x, y - tree.y);
    const row = rows.reduce<Row | null>((best, one) => (best && away(best) <= away(one) ? best : one), null);
    return row && away(row) < REACH_M ? [{ tree, row, away_m: away(row) }] : [];
  });
}

interface Scanned {
  readonly species: string;
  readonly seen: Seen;
  readonly orchard: Orchard;
  readonly session: string;
  /** Of each point of the session; 0 = ground. */
  readonly truth: Uint32Array;
}

export async function scannedOrchard(plan: OrchardPlan, seen: Seen, client: Client, folder: string): Promise<Scanned> {
  const orchard = plan.species in PALMS ? growPalms(plan) : await growOrchard(plan, client);
  const digits: Uint32Array[] = [];
  let session = "";
  for (const meshes of [...orchard.meshes].reverse()) {
    if (session !== "") await client.closeSession(session);
    session = await scanned(meshes, plan, seen, client);
    digits.push(...(await columnsOf(session, ["organ"], client, folder)));
  }
  const [high = new Uint32Array(), low = new Uint32Array()] = digits;
  await client.segmentGroundSession(session, {});
  await client.sessionDem(session, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
  return {
    species: plan.species,
    seen,
    orchard,
    session,
    truth: low.map((code, i) => treeOfCodes(code, high[i] ?? 0)),
  };
}

async function rowOf(
  { orchard, session, truth, species, seen }: Scanned,
  method: "auto" | "chm",
  client: Client,
  folder: string,
): Promise<OrchardRow> {
  await client.segmentTreesSession(session, { method });
  const [labels = [], ground = []] = await columnsOf(session, ["tree_instance", "ground_class"], client, folder);
  const score = scoreTrees(
    truth,
    labels,
    Uint8Array.from(ground, (value) => (value === 1 ? 1 : 0)),
  );
  const height_m = mean(orchard.trees.map((tree: OrchardTree) => tree.height_m));
  const list = await client.treeInventory(session, { breast_height_m: TRUNK_PART * height_m });
  const pairs = standing(list.trees, orchard.trees);
  const off = pairs.flatMap(({ tree, row: { dbh_m } }) => (dbh_m ? [dbh_m - tree.trunk_m] : []));
  return {
    ...{ species, seen, method, height_m, trees: orchard.trees.length, found: list.trees.length },
    ...{ f1: score.f1, iou: score.mean_iou, place_m: mean(pairs.map(({ away_m }) => away_m)) },
    height_error_m: mean(pairs.map(({ tree, row }) => (row.height_m ?? Number.NaN) - tree.height_m)),
    ...{ trunks: off.length, trunk_rms_m: Math.sqrt(mean(off.map((value) => value * value))) },
  };
}

const two = (value: number) => value.toFixed(2);
const millimetres = (value: number) => (Number.isFinite(value) ? (1000 * value).toFixed(0) : "-");

/** Part `orchards` of `npm run accuracy`. */
export const orchardsPart: Part<OrchardRow> = {
  methods: ["auto", "chm"],
  groups: PLANS.flatMap(({ species }) => SEEN.map((seen) => `${species}_${seen}`)),
  measure: (methods, groups) =>
    withService("orchards", async (client, folder) => {
      const rows: OrchardRow[] = [];
      for (const plan of PLANS)
        for (const seen of SEEN) {
          if (!groups.includes(`${plan.species}_${seen}`)) continue;
          const cloud = await scannedOrchard(plan, seen, client, folder);
          for (const method of methods as readonly ("auto" | "chm")[])
            rows.push(await rowOf(cloud, method, client, folder));
          await client.closeSession(cloud.session);
        }
      return rows;
    }),
  tables: (rows) =>
    [
      "| trees | seen from | method | height, m | trees | found | F1 at IoU .5 | mean IoU | place off, m | height off, m | trunks with a diameter | RMS of it, mm |",
      `|${"---|".repeat(12)}`,
      ...rows.map(
        (row) =>
          `| ${row.species} | ${row.seen} | ${row.method} | ${two(row.height_m)} | ${row.trees} | ${row.found} | ${two(row.f1)} | ${two(row.iou)} | ${two(row.place_m)} | ${two(row.height_error_m)} | ${row.trunks} | ${millimetres(row.trunk_rms_m)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const ground = rows.filter(({ seen, method }) => seen !== "drone" && method === "auto");
    return `auto from the ground: F1 ${two(Math.min(...ground.map(({ f1 }) => f1)))} at least, ${two(mean(ground.map(({ f1 }) => f1)))} in the mean`;
  },
};
