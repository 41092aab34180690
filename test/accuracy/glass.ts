// Trees before glass (glass-scenes.ts) from tripods in the street, through the service: diameters of what glass shows, and of the trees.
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { GLASS, GLASS_SIDE_M, glassScene } from "./glass-scenes.ts";
import { figure, largest, mean, sizeErrors, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";

/** Tripods along the street and across, and rays of each along theta. */
const SCANS: Readonly<Record<string, readonly [along: number, across: number, rays: number]>> = {
  one: [1, 1, 1200],
  four: [2, 2, 600],
  sixteen: [4, 4, 600],
  sparse: [4, 4, 150],
};
const TRIPOD_M = 1.7;
/** Of the street, and of the yard of the scene without glass. */
const STREET_M = 16;
const YARD_M = 48;
const REACH_M = 0.6;

export interface GlassRow {
  readonly scene: string;
  readonly scans: string;
  readonly trees: number;
  readonly found: number;
  readonly diameters: number;
  readonly worst_diameter_mm: number;
  /** `height_m` less the true height: mean, and the largest by its size, metres. */
  readonly height_m: readonly [number, number];
  /** Listed trees of which `mirror_image` is said, those that are none, and what else has a diameter. */
  readonly images: number;
  readonly wrong: number;
  readonly others_measured: number;
}

async function rowOf(name: string, scans: string, client: Client): Promise<GlassRow> {
  const scene = glassScene(name);
  const [along, across, rays] = SCANS[scans] as [number, number, number];
  const spread = (count: number, side: number) =>
    Array.from({ length: count }, (_, k) => (count === 1 ? 0 : (k / (count - 1) - 0.5) * side));
  const scanners = spread(along, GLASS_SIDE_M).flatMap((u) =>
    spread(across, name === "wall" ? YARD_M : STREET_M).map((v) => {
      const [x, y] = [u + 0.3, v + 0.2];
      return {
        ...{
          id: `${x.toFixed(1)} ${y.toFixed(1)}`,
          origin: [x, y, scene.ground(x, y) + TRIPOD_M],
          range_noise_m: 0.003,
        },
        ...{ n_theta: rays, n_phi: 2 * rays, theta_min_deg: 5, theta_max_deg: 150, phi_min_deg: 0, phi_max_deg: 359.8 },
      };
    }),
  );
  const { meta } = await client.lidarScan({
    ...{ meshes: scene.meshes[0] as never, scanners: scanners as never },
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const whole = ids.length > 1 ? (await client.merge({ session_ids: ids })).merged.session_id : (ids[0] ?? "");
  if (ids.length > 1) for (const id of ids) await client.closeSession(id);
  await client.segmentGroundSession(whole, {});
  await client.sessionDem(whole, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
  await client.segmentTreesSession(whole, { method: "auto" });
  const list = await client.treeInventory(whole, { min_points: 10 });
  await client.closeSession(whole);
  const pairs = standingBeside(scene.trees, list.trees, REACH_M);
  const { height_m: off, diameter_mm: measured } = sizeErrors(pairs);
  const isTrue = new Set(pairs.map(({ row }) => row.tree_id));
  const said = list.trees.filter(({ flags }) => flags.includes("mirror_image"));
  return {
    ...{ scene: name, scans, trees: scene.trees.length, found: isTrue.size },
    ...{ diameters: measured.length, worst_diameter_mm: largest(measured) },
    height_m: [mean(off), largest(off)],
    images: said.length,
    wrong: said.filter(({ tree_id }) => isTrue.has(tree_id)).length,
    others_measured: list.trees.filter(({ tree_id, dbh_m }) => dbh_m && !isTrue.has(tree_id)).length,
  };
}

/** Part `glass` of `npm run accuracy`. */
export const glassPart: Part<GlassRow> = {
  methods: Object.keys(SCANS),
  groups: GLASS,
  measure: (methods, groups) =>
    withService("glass", async (client) => {
      const rows: GlassRow[] = [];
      for (const scene of groups) for (const scans of methods) rows.push(await rowOf(scene, scans, client));
      return rows;
    }),
  tables: (rows) =>
    [
      "| scene | tripods | trees | found | diameters, largest error mm | height error m: mean, largest | images told, of them true trees | others with a diameter |",
      `|${"---|".repeat(8)}`,
      ...rows.map(
        ({ height_m: [bias, worst], ...row }) =>
          `| ${row.scene} | ${row.scans} | ${row.trees} | ${row.found} | ${row.diameters}, ${figure(row.worst_diameter_mm, 1)} | ${figure(bias, 2)}, ${figure(worst, 2)} | ${row.images}, ${row.wrong} | ${row.others_measured} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const sum = (value: (row: GlassRow) => number) => rows.reduce((all, row) => all + value(row), 0);
    return `true trees called images: ${sum(({ wrong }) => wrong)}; images with a diameter: ${sum((row) => row.others_measured)}`;
  },
};
