// Tree lists of forests after a storm, and of coppice, through the service: what lies there, and stools of several stems.
import { Job } from "../../backend/jobs/job.ts";
import type { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { COPPICE_SIDE_M, coppice } from "./coppice.ts";
import { buildScene, type Scene, scan, tripods } from "./forest/scene.ts";
import type { Part } from "./part.ts";
import { buildStorm, STORM_SIDE_M, STORM_THINGS, type StormThing, stormThingOf } from "./storm.ts";
import { listOf } from "./streets.ts";

const SEEDS = [1, 2, 3] as const;
const POSITIONS = [4, 4, 1] as const;
const EVERY = 5;
const MARGIN_M = 4;
/** What stands or lies at a place is what most points this close to it are of, metres; of a diameter, in height too. */
const NEAR_M = 0.3;
const NEAR_Z_M = 0.6;

type Listed = TreeInventoryTail["trees"][number];
type Kind = "tree" | StormThing | "other";

export interface StormRow {
  readonly scene: string;
  readonly positions: number;
  readonly of: Kind;
  readonly there: number | null;
  readonly listed: number;
  readonly measured: number;
  /** Of the diameters: root mean square error, centimetres; share within two standard errors; basal area and the true one, m2. */
  readonly error_cm: number;
  readonly within: number;
  readonly basal_m2: number;
  readonly true_basal_m2: number;
}

interface Built {
  readonly scene: Scene;
  readonly side: number;
  /** True diameter at a place, by the id of what stands there. */
  readonly diameterOf: (id: number, x: number, y: number) => number | null;
  readonly there: ReadonlyMap<Kind, readonly number[]>;
}

/** Facets touch the section of a thin stem from within: the mean radius of a polygon of its girth. */
const asFacets = (dbh_m: number): number => {
  const sides = Math.min(44, Math.max(10, Math.round((Math.PI * dbh_m) / 0.025)));
  return dbh_m * (1 - (Math.PI / sides) ** 2 / 6);
};

async function build(name: string, seed: number, job: Job): Promise<Built> {
  if (name === "coppice") {
    const { plans } = coppice(seed);
    return built(await buildScene("apart", seed, COPPICE_SIDE_M, job, { plans }), COPPICE_SIDE_M, []);
  }
  const scene = await buildStorm(seed, job);
  return built(scene, STORM_SIDE_M, scene.snags);
}

function built(scene: Scene, side: number, snags: Awaited<ReturnType<typeof buildStorm>>["snags"]): Built {
  const diameters = scene.truths.flatMap(({ dbh_m }) => (dbh_m === null ? [] : [asFacets(dbh_m)]));
  return {
    ...{ scene, side },
    there: new Map<Kind, readonly number[]>([
      ["tree", diameters],
      ["snag", snags.map(({ dbh_m }) => dbh_m)],
    ]),
    diameterOf: (id, x, y) => {
      const dbh_m = scene.truths[id - 1]?.dbh_m;
      if (dbh_m) return asFacets(dbh_m);
      if (stormThingOf(id) !== "snag") return null;
      const away = snags.map((snag) => ({ away: Math.hypot(snag.x - x, snag.y - y), dbh_m: snag.dbh_m }));
      return away.toSorted((a, b) => a.away - b.away)[0]?.dbh_m ?? null;
    },
  };
}

async function scanned({ scene, side }: Built, positions: number, job: Job) {
  const [xyz, id]: [number[], number[]] = [[], []];
  for (const [k, place] of tripods(positions, side, scene.plans, scene.ground).entries()) {
    const one = await scan(scene, place, k, EVERY, job);
    for (const [i, tree] of one.tree.entries()) {
      const at = [0, 1, 2].map((axis) => one.xyz[3 * i + axis] ?? 0);
      if (at.slice(0, 2).some((value) => value < -MARGIN_M || value > side + MARGIN_M)) continue;
      xyz.push(...at);
      id.push(tree);
    }
  }
  return { xyz: Float64Array.from(xyz), id: Uint32Array.from(id) };
}

/** The id that most points near a place have; 0 = none but ground. */
function idsAt({ xyz, id }: Awaited<ReturnType<typeof scanned>>) {
  const cells = new Map<string, number[]>();
  const key = (x: number, y: number) => `${Math.floor(x / NEAR_M)},${Math.floor(y / NEAR_M)}`;
  for (const [i, one] of id.entries()) {
    if (one === 0) continue;
    const name = key(xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0);
    const cell = cells.get(name);
    if (cell) cell.push(i);
    else cells.set(name, [i]);
  }
  return (x: number, y: number, z: number | null, radius: number): number => {
    const near = Math.max(NEAR_M, radius + NEAR_M / 2);
    const reach = Math.ceil(near / NEAR_M);
    const steps = Array.from({ length: 2 * reach + 1 }, (_, k) => k - reach);
    const counts = new Map<number, number>();
    for (const dx of steps)
      for (const dy of steps)
        for (const i of cells.get(key(x + dx * NEAR_M, y + dy * NEAR_M)) ?? []) {
          if (Math.hypot((xyz[3 * i] ?? 0) - x, (xyz[3 * i + 1] ?? 0) - y) > near) continue;
          if (z !== null && Math.abs((xyz[3 * i + 2] ?? 0) - z) > NEAR_Z_M) continue;
          counts.set(id[i] ?? 0, (counts.get(id[i] ?? 0) ?? 0) + 1);
        }
    return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
  };
}

const sum = (list: readonly number[]) => list.reduce((all, value) => all + value, 0);
const basal = (diameters: readonly number[]) => sum(diameters.map((dbh_m) => (Math.PI / 4) * dbh_m ** 2));
const kindOf = (id: number): Kind => stormThingOf(id) ?? (id > 0 ? "tree" : "other");

async function rowsOf(name: string, index: number): Promise<StormRow[]> {
  const job = new Job();
  const made = await build(name, SEEDS[index] ?? 1, job);
  const positions = POSITIONS[index] ?? 4;
  const cloud = await scanned(made, positions, job);
  made.scene.scene.release();
  const idAt = idsAt(cloud);
  const kinds = new Map<Kind, (Listed & { truth_m: number | null })[]>();
  for (const tree of await listOf(cloud.xyz)) {
    const [x = 0, y = 0, z = 0] = tree.dbh?.center ?? tree.stem_base ?? [];
    const id = idAt(x, y, tree.dbh ? z : null, (tree.dbh_m ?? 0) / 2);
    const kind = kindOf(id);
    kinds.set(kind, [...(kinds.get(kind) ?? []), { ...tree, truth_m: made.diameterOf(id, x, y) }]);
  }
  return (["tree", ...STORM_THINGS, "other"] as const).flatMap((of) => {
    const list = kinds.get(of) ?? [];
    const there = made.there.get(of);
    if (list.length === 0 && !there?.length) return [];
    const found = list.flatMap(({ dbh, truth_m }) =>
      dbh ? [{ dbh_m: dbh.diameter_m, off: dbh.diameter_m - (truth_m ?? 0), sigma: dbh.sigma_m ?? 0 }] : [],
    );
    return {
      ...{ scene: `${name} ${SEEDS[index]}`, positions, of, there: there?.length ?? null, listed: list.length },
      measured: found.length,
      error_cm: 100 * Math.sqrt(sum(found.map(({ off }) => off * off)) / found.length),
      within: found.filter(({ off, sigma }) => Math.abs(off) <= 2 * sigma).length / found.length,
      basal_m2: basal(found.map(({ dbh_m }) => dbh_m)),
      true_basal_m2: basal(there ?? []),
    };
  });
}

const GROUPS = ["storm", "coppice"].flatMap((name) => SEEDS.map((seed) => `${name}_${seed}`));

async function measure(_: readonly string[], groups: readonly string[]): Promise<StormRow[]> {
  const rows: StormRow[] = [];
  for (const group of groups) {
    const [name = "", seed = ""] = group.split("_");
    rows.push(...(await rowsOf(name, Number(seed) - 1)));
  }
  return rows;
}

const LEAST_WITHIN = 0.9;
const figure = (value: number, digits: number) => (Number.isFinite(value) ? value.toFixed(digits) : "-");
const told = (reached: boolean) => (reached ? "reached" : "missed");

/** Part `storms` of `npm run accuracy`. */
export const stormsPart: Part<StormRow> = {
  methods: ["as built"],
  groups: GROUPS,
  measure,
  tables: (rows) =>
    [
      "| scene | positions | of | there | listed | with a diameter | RMSE cm, within 2 sigma | basal area m2, true |",
      "|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.scene} | ${row.positions} | ${row.of} | ${row.there ?? "-"} | ${row.listed} | ${row.measured} | ${figure(row.error_cm, 1)}, ${figure(row.within, 2)} | ${row.basal_m2.toFixed(3)}, ${row.true_basal_m2.toFixed(3)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const lying = sum(rows.filter(({ of }) => of !== "tree" && of !== "snag").map(({ measured }) => measured));
    const stems = rows.filter(({ of, measured }) => (of === "tree" || of === "snag") && measured > 0);
    const within = sum(stems.map((row) => row.within * row.measured)) / sum(stems.map(({ measured }) => measured));
    return [
      `diameters of what is no stem: ${lying}, ${told(lying === 0)}`,
      `diameters within two standard errors, ${LEAST_WITHIN}: ${within.toFixed(3)}, ${told(within >= LEAST_WITHIN)}`,
    ].join("\n");
  },
};
