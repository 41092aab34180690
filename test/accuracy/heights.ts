// Heights of trees with a diameter in generated stands scanned from tripods, through the service: how far from the highest return of
// the tree, and what top_shared tells of it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { buildStand, EVERY } from "./forest/stand.ts";
import { largest, standingBeside } from "./listed-trees.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";

const SIDE_M = 40;
const SEED = Number(process.env.STAND_SEED ?? 1);
const MOST_SHARED = 0.2;
const BAD_M = 0.3;
const REACH_M = 0.5;

/** Trees, those of them more than BAD_M off, root mean square and largest error, metres. */
type Errors = readonly [count: number, bad: number, rms_m: number, worst_m: number];

export interface HeightRow {
  readonly stand: StandKind;
  readonly positions: string;
  /** With the flag shared_top, and without it. */
  readonly shared: Errors;
  readonly others: Errors;
}

function errorsOf(offs: readonly number[]): Errors {
  const bad = offs.filter((off) => Math.abs(off) > BAD_M).length;
  const rms_m = Math.sqrt(offs.reduce((sum, off) => sum + off * off, 0) / offs.length);
  return [offs.length, bad, rms_m, largest(offs)];
}

async function rowOf(kind: StandKind, positions: string, client: Client, folder: string): Promise<HeightRow> {
  const stand = await buildStand({ kind, seed: SEED, positions: Number(positions), side: SIDE_M, every: EVERY });
  const source_path = join(folder, "plot.ply");
  writeFileSync(source_path, plyOf(stand.points.xyz));
  const { session_id } = await client.createSession({ source_path });
  await client.segmentGroundSession(session_id, {});
  await client.sessionDem(session_id, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
  await client.segmentTreesSession(session_id, { method: "auto" });
  const { trees } = await client.treeInventory(session_id, {});
  await client.closeSession(session_id);
  const tops = new Map<number, number>();
  for (const [i, tree] of stand.points.tree.entries())
    tops.set(tree, Math.max(tops.get(tree) ?? Number.NEGATIVE_INFINITY, stand.points.xyz[3 * i + 2] ?? 0));
  const places = stand.trees.map((tree) => ({ ...tree, x: tree.base[0], y: tree.base[1] }));
  const measured = trees.filter(({ dbh_m }) => dbh_m);
  const found = standingBeside(places, measured, REACH_M).map(({ tree, row }) => {
    const seen_m = (tops.get(tree.id) ?? Number.NaN) - tree.base[2];
    return { off: (row.height_m ?? Number.NaN) - seen_m, shared: row.top_shared ?? 0 };
  });
  return {
    ...{ stand: kind, positions },
    shared: errorsOf(found.filter(({ shared }) => shared > MOST_SHARED).map(({ off }) => off)),
    others: errorsOf(found.filter(({ shared }) => !(shared > MOST_SHARED)).map(({ off }) => off)),
  };
}

const figures = ([count, bad, rms_m, worst_m]: Errors) =>
  count === 0 ? "0" : `${count}, ${bad}, ${rms_m.toFixed(2)}, ${worst_m.toFixed(2)}`;

/** Part `heights` of `npm run accuracy`. */
export const heightsPart: Part<HeightRow> = {
  methods: ["4", "1"],
  groups: STANDS,
  measure: (methods, groups) =>
    withService("heights", async (client, folder) => {
      const rows: HeightRow[] = [];
      for (const stand of groups as readonly StandKind[])
        for (const positions of methods) rows.push(await rowOf(stand, positions, client, folder));
      return rows;
    }),
  tables: (rows) =>
    [
      "| stand | positions | shared_top: trees, more than 0.3 m off, RMS m, worst m | other trees |",
      `|${"---|".repeat(4)}`,
      ...rows.map(
        ({ stand, positions, shared, others }) =>
          `| ${stand} | ${positions} | ${figures(shared)} | ${figures(others)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const four = rows.filter(({ positions }) => positions === "4");
    const sum = (of: (row: HeightRow) => number) => four.reduce((all, row) => all + of(row), 0);
    const untold = sum(({ others }) => others[1]);
    return `four positions: heights more than ${BAD_M} m off, untold: ${untold} of ${sum(({ others }) => others[0])} (target: none); told: ${sum(({ shared }) => shared[1])} of ${sum(({ shared }) => shared[0])}`;
  },
};
