// Trees of generated streets, which a car scanned, through the service: what of posts, walls and vehicles is taken for trees.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import type { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { withService } from "./backend.ts";
import type { TreeTruth } from "./forest/tree.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";
import { buildStreet, streetThingOf, THINGS, type Thing } from "./street.ts";
import { scanStreet } from "./street-scan.ts";

const SEEDS = ["1", "2", "3", "4"] as const;
/** A listed tree is one of the street where it stands this close to one and is about as high, metres. */
const NEAR_M = 0.5;
const HEIGHT_M = 1.5;
const CELL_M = 0.25;

type Listed = TreeInventoryTail["trees"][number];

/** What was listed of one kind of thing. */
export interface StreetRow {
  readonly street: string;
  readonly thing: Thing | "tree" | "other";
  readonly there: number | null;
  readonly listed: number;
  readonly flat: number;
  readonly no_crown: number;
  readonly at_wall: number;
  /** None of these, with a diameter: it counts in the stand. */
  readonly counted: number;
  /** Of trees with a diameter: root mean square of it less the true one, centimetres; share within two standard errors. */
  readonly error_cm: number;
  readonly within: number;
  readonly basal_area: number;
}

export const listOf = (xyz: Float64Array): Promise<readonly Listed[]> =>
  withService("street", async (client, folder) => {
    const source_path = join(folder, "street.ply");
    writeFileSync(source_path, plyOf(xyz));
    const { session_id } = await client.createSession({ source_path });
    await client.segmentGroundSession(session_id, {});
    await client.sessionDem(session_id, { surface_type: "dtm", cell_size: 0.5, add_height_column: true });
    await client.segmentTreesSession(session_id, { method: "auto" });
    return (await client.treeInventory(session_id, {})).trees;
  });

const cellOf = (x: number, y: number) => `${Math.floor(x / CELL_M)},${Math.floor(y / CELL_M)}`;

/** The thing with the most points in each cell seen from above. */
function thingsAt(xyz: Float64Array, id: Uint32Array): (x: number, y: number) => Thing | "other" {
  const cells = new Map<string, Map<Thing, number>>();
  for (const [i, one] of id.entries()) {
    const thing = streetThingOf(one);
    if (!thing) continue;
    const key = cellOf(xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0);
    const cell = cells.get(key) ?? new Map<Thing, number>();
    cells.set(key, cell.set(thing, (cell.get(thing) ?? 0) + 1));
  }
  return (x, y) => {
    const cell = cells.get(cellOf(x, y));
    return [...(cell ?? [])].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? "other";
  };
}

const has = (tree: Listed, flag: Listed["flags"][number]) => tree.flags.includes(flag);
const counts = (tree: Listed) => typeof tree.dbh_m === "number" && !has(tree, "no_crown") && !has(tree, "at_wall");
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

function rowOf(street: string, thing: StreetRow["thing"], there: number | null, found: readonly Pair[]): StreetRow {
  const trees = found.map(({ tree }) => tree);
  const measured = found.flatMap(({ tree, truth }) =>
    truth?.dbh_m && tree.dbh ? [{ off: tree.dbh.diameter_m - truth.dbh_m, sigma: tree.dbh.sigma_m ?? 0 }] : [],
  );
  return {
    ...{ street, thing, there, listed: trees.length },
    flat: trees.filter((tree) => has(tree, "flat")).length,
    no_crown: trees.filter((tree) => has(tree, "no_crown")).length,
    at_wall: trees.filter((tree) => has(tree, "at_wall")).length,
    counted: trees.filter(counts).length,
    error_cm: 100 * Math.sqrt(sum(measured.map(({ off }) => off * off)) / measured.length),
    within: measured.filter(({ off, sigma }) => Math.abs(off) <= 2 * sigma).length / measured.length,
    basal_area: sum(trees.filter(counts).map(({ dbh_m }) => (Math.PI / 4) * (dbh_m ?? 0) ** 2)),
  };
}
interface Pair {
  readonly tree: Listed;
  readonly truth: TreeTruth | null;
}

async function rowsOf(street: string): Promise<StreetRow[]> {
  const job = new Job();
  const scene = await buildStreet(Number(street), job);
  const { xyz, id } = await scanStreet(scene, job);
  scene.scene.release();
  const at = thingsAt(xyz, id);
  const kinds = new Map<StreetRow["thing"], Pair[]>();
  for (const tree of await listOf(xyz)) {
    const [x = 0, y = 0] = tree.stem_base ?? [];
    const truth = scene.truths.find(
      ({ base, height_m }) =>
        Math.hypot(base[0] - x, base[1] - y) < NEAR_M && Math.abs((tree.height_m ?? 0) - height_m) < HEIGHT_M,
    );
    const kind = truth ? "tree" : at(x, y);
    kinds.set(kind, [...(kinds.get(kind) ?? []), { tree, truth: truth ?? null }]);
  }
  return (["tree", ...THINGS, "other"] as const).map((kind) =>
    rowOf(street, kind, kind === "tree" ? scene.truths.length : null, kinds.get(kind) ?? []),
  );
}

async function measure(_: readonly string[], groups: readonly string[]): Promise<StreetRow[]> {
  const rows: StreetRow[] = [];
  for (const street of groups) rows.push(...(await rowsOf(street)));
  return rows;
}

const figure = (value: number, digits: number) => (Number.isFinite(value) ? value.toFixed(digits) : "-");
const LEAST_WITHIN = 0.9;
const MOST_BASAL = 0.05;

/** Part `streets` of `npm run accuracy`. */
export const streetsPart: Part<StreetRow> = {
  methods: ["as built"],
  groups: SEEDS,
  measure,
  tables: (rows) =>
    [
      "| street | of | there | listed | flat | no crown | at a wall | counted | basal area m2 | diameters: RMSE cm, within 2 sigma |",
      "|---|---|---|---|---|---|---|---|---|---|",
      ...rows
        .filter(({ listed }) => listed > 0)
        .map(
          (row) =>
            `| ${row.street} | ${row.thing} | ${row.there ?? "-"} | ${row.listed} | ${row.flat} | ${row.no_crown} | ${row.at_wall} | ${row.counted} | ${row.basal_area.toFixed(3)} | ${figure(row.error_cm, 1)}, ${figure(row.within, 2)} |`,
        ),
    ].join("\n"),
  targets: (rows) => {
    const trees = rows.filter(({ thing }) => thing === "tree");
    const others = rows.filter(({ thing }) => thing !== "tree");
    const wrong = sum(trees.map(({ flat, no_crown, at_wall }) => flat + no_crown + at_wall));
    const share = sum(others.map((row) => row.basal_area)) / sum(trees.map((row) => row.basal_area));
    const within = sum(trees.map((row) => row.within * row.counted)) / sum(trees.map((row) => row.counted));
    const told = (reached: boolean) => (reached ? "reached" : "missed");
    return [
      `no tree taken for a wall or a post: ${wrong}, ${told(wrong === 0)}`,
      `basal area of what is no tree at most ${100 * MOST_BASAL} % of the trees': ${(100 * share).toFixed(1)} %, ${told(share <= MOST_BASAL)}`,
      `diameters within two standard errors, ${LEAST_WITHIN}: ${within.toFixed(2)}, ${told(within >= LEAST_WITHIN)}`,
    ].join("\n");
  },
};
