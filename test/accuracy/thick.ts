// Trees whose trunk is no round pole of up to three metres at breast height (thick-trees.ts), scanned from tripods, through the
// service: one tree each, their diameters, and those above buttresses.

import type { Client } from "../../shared/client/index.ts";
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { withService } from "./backend.ts";
import type { Part } from "./part.ts";
import { growThick, THICK, type ThickTree, tapeOf } from "./thick-trees.ts";

const ACROSS = 3;
const TRIPOD_M = 1.7;
const BREAST_M = 1.3;
/** A found tree whose place is farther from a trunk is not of it, metres. */
const REACH_M = 1;

export interface ThickRow {
  readonly kind: string;
  readonly trees: number;
  readonly found: number;
  readonly tape_m: number;
  readonly area_m: number;
  readonly measured: number;
  /** Of the diameter at breast height, relative to that of a tape: mean. */
  readonly off: number;
  readonly buttressed: number;
  /** Of the trees with a diameter above the foot, relative to the true one there: root mean square. */
  readonly above: number;
  readonly above_rms: number;
}

function scanners(side_m: number) {
  const at = Array.from({ length: ACROSS + 1 }, (_, k) => (k / ACROSS - 0.5) * side_m);
  return at.flatMap((x) =>
    at.map((y) => ({
      ...{ id: `${x.toFixed(1)} ${y.toFixed(1)}`, origin: [x, y, TRIPOD_M] as [number, number, number] },
      ...{ n_theta: 900, n_phi: 1800, theta_min_deg: 5, theta_max_deg: 135, phi_min_deg: 0, phi_max_deg: 359.8 },
      range_noise_m: 0.003,
    })),
  );
}

/** A session of all points. */
async function scanned(kind: string, client: Client) {
  const stand = growThick(kind, ACROSS);
  const { meta } = await client.lidarScan({
    ...{ meshes: stand.meshes[0] as never, scanners: scanners(stand.side_m) as never },
    ...{ record_misses: false, seed: 3, pulse_distance_threshold: 0.2, rays_per_pulse: 1 },
  });
  const ids = meta.scanners.flatMap(({ session }) => session?.session_id ?? []);
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  return { session_id, trees: stand.trees };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function nearest({ x, y }: ThickTree, rows: readonly TreeRow[]): TreeRow | null {
  const away = ({ stem_base: [a = Number.POSITIVE_INFINITY, b = 0] = [] as never }: TreeRow) =>
    Math.hypot(a - x, b - y);
  const row = rows.toSorted((a, b) => away(a) - away(b))[0];
  return row && away(row) < REACH_M ? row : null;
}

async function rowOf(kind: string, client: Client): Promise<ThickRow> {
  const { session_id, trees } = await scanned(kind, client);
  await client.segmentGroundSession(session_id, {});
  await client.sessionDem(session_id, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
  await client.segmentTreesSession(session_id, { method: "auto" });
  const list = await client.treeInventory(session_id, {});
  await client.closeSession(session_id);
  const pairs = trees.map((tree) => ({ tree, row: nearest(tree, list.trees) }));
  const tape = (tree: ThickTree, z: number) => tapeOf(tree.shape, z, tree.phase).tape_m;
  const off = pairs.flatMap(({ tree, row }) => (row?.dbh_m ? [row.dbh_m / tape(tree, BREAST_M) - 1] : []));
  const above = pairs.flatMap(({ tree, row }) => {
    const { axial_m = null, diameter_m = null } = row?.foot ?? {};
    return axial_m !== null && diameter_m !== null ? [diameter_m / tape(tree, axial_m) - 1] : [];
  });
  return {
    ...{ kind, trees: trees.length, found: list.trees.length, measured: off.length, off: mean(off) },
    tape_m: mean(trees.map((tree) => tape(tree, BREAST_M))),
    area_m: mean(trees.map((tree) => tapeOf(tree.shape, BREAST_M, tree.phase).area_m)),
    buttressed: pairs.filter(({ row }) => row?.flags.includes("buttressed")).length,
    ...{ above: above.length, above_rms: Math.sqrt(mean(above.map((value) => value * value))) },
  };
}

const percent = (value: number) => (Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : "-");

/** Part `thick` of `npm run accuracy`. */
export const thickPart: Part<ThickRow> = {
  methods: ["auto"],
  groups: Object.keys(THICK),
  measure: (_methods, groups) =>
    withService("thick", async (client) => {
      const rows: ThickRow[] = [];
      for (const kind of groups) rows.push(await rowOf(kind, client));
      return rows;
    }),
  tables: (rows) =>
    [
      "| trees | number | found | tape at 1.3 m, m | circle of that area, m | with a diameter | off from the tape | buttressed | with a diameter above | RMS off from the tape there |",
      `|${"---|".repeat(10)}`,
      ...rows.map(
        (row) =>
          `| ${row.kind} | ${row.trees} | ${row.found} | ${row.tape_m.toFixed(2)} | ${row.area_m.toFixed(2)} | ${row.measured} | ${percent(row.off)} | ${row.buttressed} | ${row.above} | ${percent(row.above_rms)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const round = rows.filter(({ kind }) => THICK[kind]?.kind === "round" || THICK[kind]?.kind === "bottle");
    const found = round.every(({ trees, found, measured }) => trees === found && trees === measured);
    return `giants and bottles: each one tree with a diameter ${found ? "reached" : "missed"}, off by ${percent(Math.max(...round.map(({ off }) => Math.abs(off))))} at most`;
  },
};
