// Trees among rocks, walls and terraces (rock-scenes.ts), on slopes (clad-trees.ts) and beside a power line (wire-scenes.ts), from tripods and from the air, through the
// service: heights, diameters, what else is listed, and whether scans that fit are said to lie apart.
import { type Client, isNoTree } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { growClad } from "./clad-trees.ts";
import { figure, largest, mean, sizeErrors, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";
import { ROCK_SIDE_M, ROCKS, rockScene } from "./rock-scenes.ts";
import { wireScene } from "./wire-scenes.ts";

const SLOPES = ["bare", "slope60", "slope100"] as const;
const WIRES = "wires";
const AIR = "air";
const TRIPODS = "tripods";
const TRIPOD_M = 1.7;
/** A tree of the list is of a stem within this distance of it: without a stem it stands under its top. */
const REACH_M: Readonly<Record<string, number>> = { [AIR]: 2, [TRIPODS]: 0.6 };

export interface RockRow {
  readonly scene: string;
  readonly scans: string;
  readonly trees: number;
  readonly found: number;
  /** `height_m` less the true height: mean, standard deviation and the largest by its size, metres. */
  readonly height_m: readonly [number, number, number];
  /** Diameters, and the largest difference from the true one, millimetres. */
  readonly diameters: number;
  readonly worst_diameter_mm: number;
  /** What is listed and is no tree; what of it has a flag that says so, and what has a diameter. */
  readonly others: number;
  readonly others_told: number;
  readonly others_measured: number;
  /** Warnings that scans lie apart, which they do not. */
  readonly false_heights: number;
}

function sceneOf(name: string, scans: string) {
  if (name === WIRES) return wireScene(scans);
  if (ROCKS.includes(name)) return { ...rockScene(name), side_m: ROCK_SIDE_M };
  const { trees, side_m, slope, meshes } = growClad(name, 5);
  return { trees, side_m, meshes, ground: (x: number) => slope * x };
}

/** Two flight lines with some 25 points per square metre, or four by four tripods. */
function scanners(scans: string, side_m: number, ground: (x: number, y: number) => number) {
  if (scans === AIR)
    return [-60, 60].map((x) => ({
      ...{ id: `line ${x}`, origin: [x, 0, 400], range_noise_m: 0.02, n_theta: 700, n_phi: 700 },
      ...{ theta_min_deg: 165, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 359.2 },
    }));
  const at = [-0.5, -1 / 6, 1 / 6, 0.5].map((part) => part * side_m);
  return at.flatMap((x) =>
    at.map((y) => ({
      ...{ id: `${x.toFixed(1)} ${y.toFixed(1)}`, origin: [x, y, ground(x, y) + TRIPOD_M], range_noise_m: 0.003 },
      ...{ n_theta: 600, n_phi: 1200, theta_min_deg: 5, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 359.8 },
    })),
  );
}

async function rowOf(name: string, scans: string, client: Client): Promise<RockRow> {
  const scene = sceneOf(name, scans);
  const { meta } = await client.lidarScan({
    ...{ meshes: scene.meshes[0] as never, scanners: scanners(scans, scene.side_m, scene.ground) as never },
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  await client.segmentGroundSession(session_id, {});
  const cell_size = scans === AIR ? 0.5 : 0.25;
  const terrain = await client.sessionDem(session_id, { surface_type: "dtm", cell_size, add_height_column: true });
  await client.segmentTreesSession(session_id, { method: scans === AIR ? "chm" : "auto" });
  const list = await client.treeInventory(session_id, { min_points: 10 });
  await client.closeSession(session_id);
  const pairs = standingBeside(scene.trees, list.trees, REACH_M[scans] ?? 0);
  const { height_m: off, diameter_mm: measured } = sizeErrors(pairs);
  const others = list.trees.filter((row) => !pairs.some((pair) => pair.row === row));
  const warnings = (terrain as { meta: { warnings?: readonly string[] } }).meta.warnings ?? [];
  return {
    ...{ scene: name, scans, trees: scene.trees.length, found: new Set(pairs.map(({ row }) => row)).size },
    height_m: [mean(off), Math.sqrt(mean(off.map((value) => (value - mean(off)) ** 2))), largest(off)],
    ...{ diameters: measured.length, worst_diameter_mm: largest(measured) },
    ...{ others: others.length, others_told: others.filter(isNoTree).length },
    ...{ others_measured: others.filter(({ dbh_m }) => dbh_m).length },
    false_heights: warnings.filter((text) => text.includes("different heights in different")).length,
  };
}

/** Metres: of the mean of a scene, from the air. */
const MOST_BIAS_M = 0.2;

/** Part `rocks` of `npm run accuracy`. */
export const rocksPart: Part<RockRow> = {
  methods: [TRIPODS, AIR],
  groups: [...ROCKS, ...SLOPES, WIRES],
  measure: (methods, groups) =>
    withService("rocks", async (client) => {
      const rows: RockRow[] = [];
      for (const scene of groups) for (const scans of methods) rows.push(await rowOf(scene, scans, client));
      return rows;
    }),
  tables: (rows) =>
    [
      "| scene | scans | trees | found | height error m: mean, sd, largest | diameters, largest error mm | others, told, with a diameter | false heights of scans |",
      `|${"---|".repeat(8)}`,
      ...rows.map(
        ({ scene, scans, trees, found, height_m: [bias, sd, worst], diameters, worst_diameter_mm, ...row }) =>
          `| ${scene} | ${scans} | ${trees} | ${found} | ${figure(bias, 2)}, ${figure(sd, 2)}, ${figure(worst, 2)} | ${diameters}, ${figure(worst_diameter_mm, 1)} | ${row.others}, ${row.others_told}, ${row.others_measured} | ${row.false_heights} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const biased = rows.filter(({ height_m: [bias] }) => !(Math.abs(bias) <= MOST_BIAS_M));
    const measured = rows.reduce((sum, { others_measured }) => sum + others_measured, 0);
    const said = rows.reduce((sum, { false_heights }) => sum + false_heights, 0);
    return [
      `mean errors of heights within ${MOST_BIAS_M} m: ${biased.length === 0 ? "reached" : `missed by ${biased.map(({ scene, scans }) => `${scene} (${scans})`).join(", ")}`}`,
      `diameters of what is no tree: ${measured}; scans that fit and are said to lie apart: ${said}`,
    ].join("\n");
  },
};
