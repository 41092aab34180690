// Trees of generated stands seen from the air, through the service as a user does it: terrain, crowns, heights, areas.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import { scannedFromAir, scannedFromDrone } from "./air-scan.ts";
import { withService } from "./backend.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { buildScene } from "./forest/scene.ts";
import type { TreeTruth } from "./forest/tree.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";

const SIDE_M = 60;
/** Pulses per square metre from an aircraft, whose trees are found by their crowns; from a drone, by stems and paths. */
const DRONE = "drone";
const DENSITIES = ["1", "3", "10", "40", DRONE] as const;
const SEED = Number(process.env.STAND_SEED ?? 1);
/** A tree is found where one of the list stands within the radius of its crown (at least 1 m) with a height that is not far off. */
const LEAST_RADIUS_M = 1;
const HEIGHT_PART = 0.3;

export interface Found {
  readonly x: number;
  readonly y: number;
  readonly height_m: number;
  readonly area_m2: number;
  readonly diameter_m: number | null;
  readonly sigma_m: number;
}

export interface AirRow {
  readonly stand: StandKind;
  /** Pulses per square metre. */
  readonly density: string;
  /** Without those of the understorey. */
  readonly trees: number;
  readonly listed: number;
  readonly recall: number;
  readonly precision: number;
  /** Of the trees found: mean and standard deviation of height less the true one, metres. */
  readonly height_m: readonly [number, number];
  /** Areas of the crowns found over those of the leaves. */
  readonly area_ratio: number;
  readonly diameters: number;
  /** Of trees found with a diameter: mean of it less the true one, centimetres; share within two standard errors. */
  readonly diameter_cm: number;
  readonly within: number;
  /** By how much heights and areas are told to be too small: metres, and a part of the area. */
  readonly told_drop_m: number;
  readonly told_gain: number;
  readonly told: readonly string[];
}

/** Pairs one to one, the best first. */
export function pairs(found: readonly Found[], trees: readonly TreeTruth[]) {
  const near = found.flatMap((one) =>
    trees.flatMap((tree) => {
      const radius = Math.max(LEAST_RADIUS_M, Math.sqrt(tree.crown_area_m2 / Math.PI));
      const aside = Math.hypot(one.x - tree.base[0], one.y - tree.base[1]) / radius;
      const off = Math.abs(one.height_m - tree.height_m) / tree.height_m;
      return aside < 1 && off < HEIGHT_PART ? [{ one, tree, cost: aside + off / HEIGHT_PART }] : [];
    }),
  );
  const [taken, used] = [new Set<Found>(), new Set<TreeTruth>()];
  return near
    .sort((a, b) => a.cost - b.cost)
    .filter(({ one, tree }) => {
      if (taken.has(one) || used.has(tree)) return false;
      taken.add(one);
      used.add(tree);
      return true;
    });
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;

const listOf = (xyz: Float64Array, method: "auto" | "chm") =>
  withService("air", async (client, folder) => {
    const source_path = join(folder, "plot.ply");
    writeFileSync(source_path, plyOf(xyz));
    const { session_id } = await client.createSession({ source_path });
    await client.segmentGroundSession(session_id, {});
    await client.sessionDem(session_id, { surface_type: "dtm", cell_size: 0.5, add_height_column: true });
    const { warnings } = await client.segmentTreesSession(session_id, { method });
    const list = await client.treeInventory(session_id, { min_points: 3 });
    return { trees: list.trees, told: [...warnings, ...list.warnings] };
  });

async function rowOf(stand: StandKind, density: string): Promise<AirRow> {
  const job = new Job();
  const scene = await buildScene(stand, SEED, SIDE_M, job);
  const is_drone = density === DRONE;
  const xyz = await (is_drone
    ? scannedFromDrone(scene, SIDE_M, job)
    : scannedFromAir(scene, SIDE_M, Number(density), job));
  const { trees: list, told } = await listOf(xyz, is_drone ? "auto" : "chm");
  scene.scene.release();
  const inside = list.filter(({ stem_base }) => stem_base?.slice(0, 2).every((at) => at >= 0 && at <= SIDE_M));
  const found = inside.map(({ stem_base, height_m, crown_projected_area_m2, dbh_m, dbh }) => ({
    ...{ x: stem_base?.[0] ?? 0, y: stem_base?.[1] ?? 0, height_m: height_m ?? 0 },
    ...{ area_m2: crown_projected_area_m2 ?? 0, diameter_m: dbh_m ?? null, sigma_m: dbh?.sigma_m ?? 0 },
  }));
  const matched = pairs(found, scene.truths);
  const high = scene.truths.filter(({ is_understorey }) => !is_understorey);
  const errors = matched.map(({ one, tree }) => one.height_m - tree.height_m);
  const bias = mean(errors);
  const measured = matched.flatMap(({ one: { diameter_m, sigma_m }, tree: { dbh_m } }) =>
    diameter_m !== null && dbh_m !== null ? [{ off: diameter_m - dbh_m, sigma_m }] : [],
  );
  const part = (of: (row: (typeof inside)[number]) => number | null | undefined) =>
    sum(inside.map((row) => of(row) ?? 0));
  return {
    stand,
    density,
    trees: high.length,
    listed: found.length,
    recall: matched.filter(({ tree }) => !tree.is_understorey).length / high.length,
    precision: matched.length / found.length,
    height_m: [bias, Math.sqrt(mean(errors.map((error) => (error - bias) ** 2)))],
    area_ratio: sum(matched.map(({ one }) => one.area_m2)) / sum(matched.map(({ tree }) => tree.crown_area_m2)),
    diameters: found.filter(({ diameter_m }) => diameter_m !== null).length,
    diameter_cm: 100 * mean(measured.map(({ off }) => off)),
    within: mean(measured.map(({ off, sigma_m }) => (Math.abs(off) <= 2 * sigma_m ? 1 : 0))),
    told_drop_m: part((row) => row.height_drop_m) / found.length,
    told_gain: part((row) => row.crown_area_gain_m2) / sum(found.map(({ area_m2 }) => area_m2)),
    told,
  };
}

async function measure(_: readonly string[], groups: readonly string[]): Promise<AirRow[]> {
  const rows: AirRow[] = [];
  for (const stand of STANDS) {
    for (const density of DENSITIES) {
      if (groups.includes(`${stand}_${density}`)) rows.push(await rowOf(stand, density));
    }
  }
  return rows;
}

const LEAST_PRECISION = 0.9;
const two = (value: number) => value.toFixed(2);

/** Part `air` of `npm run accuracy`. */
export const airPart: Part<AirRow> = {
  methods: ["as built"],
  groups: STANDS.flatMap((stand) => DENSITIES.map((density) => `${stand}_${density}`)),
  measure,
  tables: (rows) =>
    [
      "| stand | pulses/m2 | trees | listed | recall | precision | height error m | told drop m | crown areas over true | told gain | diameters, error cm, within 2 sigma |",
      "|---|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.stand} | ${row.density} | ${row.trees} | ${row.listed} | ${two(row.recall)} | ${two(row.precision)} | ${two(row.height_m[0])} ± ${two(row.height_m[1])} | ${two(row.told_drop_m)} | ${two(row.area_ratio)} | ${two(row.told_gain)} | ${row.diameters}${row.diameters > 0 ? `, ${two(row.diameter_cm)}, ${two(row.within)}` : ""} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const dense = rows.filter(({ density }) => density === DRONE || Number(density) >= 3);
    const right = dense.filter(({ precision }) => precision >= LEAST_PRECISION).length;
    const diameters = sum(rows.filter(({ density }) => density !== DRONE).map((row) => row.diameters));
    return [
      `precision ${LEAST_PRECISION} from 3 pulses/m2 on: ${right} of ${dense.length}, ${right === dense.length ? "reached" : "missed"}`,
      `no diameter from an aircraft: ${diameters}, ${diameters === 0 ? "reached" : "missed"}`,
    ].join("\n");
  },
};
