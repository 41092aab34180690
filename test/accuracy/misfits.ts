// A plot whose scans were put together at wrong places, through the service: trees that are listed twice, and what is told.
import { type Client, isNoTree } from "../../shared/client/index.ts";
import type { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { withService } from "./backend.ts";
import { figure, largest, sizeErrors, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";
import { uniform } from "./random.ts";
import { groundMesh, ROCK_SIDE_M, Scenery, uneven } from "./rock-scenes.ts";

const TREES = 30;
const REACH_M = 0.6;
/** Metres along x, as much times 0.7 along y, and degrees about the middle of the plot. */
const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  fit: [0, 0],
  "3 cm": [0.03, 0],
  "5 cm": [0.05, 0],
  "10 cm": [0.1, 0],
  "15 cm": [0.15, 0],
  "20 cm": [0.2, 0.2],
  "30 cm": [0.3, 0],
  "50 cm": [0.5, 1],
  "1 m": [1, 0],
  "2 m": [2, 2],
};
/** Which of the four scans are moved. */
const MOVED = { one: [0], two: [0, 1] } as const;
type Which = keyof typeof MOVED;

export interface MisfitRow {
  readonly move: string;
  readonly moved: Which;
  readonly trees: number;
  readonly found: number;
  readonly listed: number;
  /** Of the trees listed: with the flag `repeated`, with `same_stem`. */
  readonly repeated: number;
  readonly same: number;
  /** Basal area of the stand over the true one, with the true area. */
  readonly basal: number;
  readonly worst_diameter_mm: number;
  /** A warning says that scans do not fit, or that diameters are uncertain by what they scatter. */
  readonly is_told: boolean;
}

type P = readonly [number, number, number];

/** Trees on uneven ground. */
export function scene(seed: number): Scenery {
  const next = uniform(seed);
  const scenery = new Scenery();
  while (scenery.trees.length < TREES) {
    const [x, y] = [(next() - 0.5) * 26, (next() - 0.5) * 26];
    if (!scenery.isFree(x, y, 2)) continue;
    scenery.plant([x, y, uneven(x, y)], { high: 12 + 6 * next(), radius: 0.08 + 0.14 * next(), wide: 1.4 }, next);
  }
  scenery.put(groundMesh(uneven));
  return scenery;
}

const CORNERS: readonly P[] = [-1, 1].flatMap((i) =>
  [-1, 1].map((j): P => {
    const [x, y] = [(i * ROCK_SIDE_M) / 2.4, (j * ROCK_SIDE_M) / 2.4];
    return [x, y, uneven(x, y) + 1.7];
  }),
);

/** Sessions of four scans, from the corners. */
export async function scanned(scenery: Scenery, client: Client): Promise<string[]> {
  const { meta } = await client.lidarScan({
    meshes: scenery.meshes[0] as never,
    scanners: CORNERS.map((origin, k) => ({
      ...{ id: `${k}`, origin, range_noise_m: 0.003, n_theta: 1500, n_phi: 3000 },
      ...{ theta_min_deg: 5, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 359.8 },
    })) as never,
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  return meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
}

/** The scans as one cloud, some of them moved. */
async function putTogether(scans: readonly string[], move: string, which: Which, client: Client): Promise<string> {
  const [x = 0, degrees = 0] = MOVES[move] ?? [];
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const ids: string[] = [];
  for (const scan of scans) {
    const copy = await client.duplicate(scan, {});
    ids.push(copy.duplicate.session_id);
  }
  for (const k of MOVED[which])
    if (x > 0)
      await client.transform(ids[k] ?? "", { matrix: [c, -s, 0, x, s, c, 0, 0.7 * x, 0, 0, 1, 0, 0, 0, 0, 1] });
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  return session_id;
}

const square = (values: readonly number[]) => values.reduce((sum, value) => sum + value ** 2, 0);

function rowOf(move: string, moved: Which, { trees }: Scenery, list: TreeInventoryTail): MisfitRow {
  const pairs = standingBeside(
    trees,
    list.trees.filter((row) => !isNoTree(row)),
    REACH_M,
  );
  const count = (flag: "repeated" | "same_stem") => list.trees.filter(({ flags }) => flags.includes(flag)).length;
  const listed = list.trees.flatMap((row) => (isNoTree(row) ? [] : [row.dbh_m ?? 0]));
  return {
    ...{ move, moved, trees: trees.length, found: new Set(pairs.map(({ row }) => row)).size },
    ...{ listed: list.trees.length, repeated: count("repeated"), same: count("same_stem") },
    basal: square(listed) / square(trees.map(({ dbh_m }) => dbh_m)),
    worst_diameter_mm: largest(sizeErrors(pairs).diameter_mm),
    is_told: list.warnings.some((one) =>
      /a second time|within the stem of another|at different places|seen twice|scatter \d/.test(one),
    ),
  };
}

/** Part `misfits` of `npm run accuracy`. */
export const misfitsPart: Part<MisfitRow> = {
  methods: Object.keys(MOVED),
  groups: Object.keys(MOVES),
  measure: (methods, groups) =>
    withService("misfits", async (client) => {
      const scenery = scene(7);
      const scans = await scanned(scenery, client);
      const rows: MisfitRow[] = [];
      for (const move of groups)
        for (const which of methods as Which[]) {
          const cloud = await putTogether(scans, move, which, client);
          await client.segmentGroundSession(cloud, {});
          await client.sessionDem(cloud, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
          await client.segmentTreesSession(cloud, { method: "auto" });
          rows.push(rowOf(move, which, scenery, await client.treeInventory(cloud, { min_points: 10 })));
          await client.closeSession(cloud);
        }
      return rows;
    }),
  tables: (rows) =>
    [
      "| scans apart | of four, moved | trees | found | listed | twice, told | same stem | basal area over true | worst diameter mm | told |",
      `|${"---|".repeat(10)}`,
      ...rows.map(
        (row) =>
          `| ${row.move} | ${row.moved} | ${row.trees} | ${row.found} | ${row.listed} | ${row.repeated} | ${row.same} | ${figure(row.basal, 3)} | ${figure(row.worst_diameter_mm, 1)} | ${row.is_told ? "yes" : "no"} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const apart = rows.filter(({ move }) => move !== "fit");
    const far = apart.filter(({ basal }) => Math.abs(basal - 1) > 0.05);
    const silent = apart.filter(({ is_told }) => !is_told).length;
    const wrong = rows.filter(({ move, repeated, is_told }) => move === "fit" && (repeated > 0 || is_told)).length;
    return `basal areas more than 5 % off: ${far.length} of ${apart.length}; not told: ${silent}; told where scans fit: ${wrong}`;
  },
};
