// Method auto on generated stands: from 1, 4 and 9 positions, and with each of its constants at 0.8 and 1.25 times its value.
import { pathTrees } from "../../backend/native/trees.ts";
import { STANDS, type StandKind } from "./forest/layout.ts";
import { scoreTrees, type TreeScore } from "./forest/score.ts";
import { buildStand, EVERY, ORGAN, SIDE_M, type Stand } from "./forest/stand.ts";
import { column, positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const AS_BUILT = "as built";
const FACTORS = [0.8, 1.25] as const;
/** Numbers of path_constants.h; most_nodes bounds memory and is no constant of the method. */
const CONSTANTS = [
  "finest_node_m",
  "neighbors",
  "most_gap_m",
  "exponent",
  "turn_cost",
  "memory_m",
  "scatter_cost",
  "root_top_m",
  "root_margin_m",
  "limb_cost_m",
  "low_m",
  "base_gap_m",
  "widest_base_m",
  "carpet_height_m",
  "least_height_m",
  "base_start_cost_m",
  "least_points",
] as const;
const POSITIONS = [1, 4, 9] as const;
/** Where constants are varied. */
const SENSITIVITY_POSITIONS = 4;
/** Another number gives other stands: method auto was tuned on number 1. */
const SEED = Number(process.env.STAND_SEED ?? 1);
/** A change of F1 or mean IoU beyond this shows a constant that the method hangs on. */
const NOTABLE = 0.02;

interface AutoRow extends TreeScore {
  readonly method: string;
  readonly factor: number;
  readonly stand: StandKind;
  readonly positions: number;
  readonly point_count: number;
  readonly user_s: number;
}

const groupOf = (stand: StandKind, count: number) => `${stand}_${count}`;

/** The op with exact ground and heights. */
async function measured(stand: Stand, method: string, factor: number): Promise<AutoRow> {
  const { xyz, tree, organ, height } = stand.points;
  const skip = Uint8Array.from(organ, (one) => (one === ORGAN.ground ? 1 : 0));
  const factors = method === AS_BUILT ? {} : { [method]: factor };
  const columns = [positions(xyz), column("u8", skip), column("f32", height)] as const;
  const before = process.cpuUsage();
  const found = await pathTrees(...columns, null, null, {}, factors).promise;
  const user_s = process.cpuUsage(before).user / 1e6;
  const labels = values(found.tree_instance);
  for (const one of [...columns, found.tree_instance]) one.release();
  return {
    ...scoreTrees(tree, labels, skip),
    method,
    factor,
    stand: stand.kind,
    positions: stand.positions,
    point_count: tree.length,
    user_s,
  };
}

const share = (value: number) => (Number.isNaN(value) ? "-" : value.toFixed(3));

function asBuiltTable(rows: readonly AutoRow[]): string[] {
  return [
    "Method auto, exact ground and heights; the protocol is that of `trees`.",
    "",
    "| stand | positions | points | trees | found | F1 | mean IoU | over-segmented | under-segmented | user s |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...rows
      .filter(({ method }) => method === AS_BUILT)
      .map(
        (row) =>
          `| ${row.stand} | ${row.positions} | ${row.point_count} | ${row.tree_count} | ${row.found_count} | ${share(row.f1)} | ${share(row.mean_iou)} | ${row.over_segmented} | ${row.under_segmented} | ${row.user_s.toFixed(1)} |`,
      ),
    "",
  ];
}

/** Change of F1 and mean IoU against the method as built, by constant, factor and stand. */
function changesOf(rows: readonly AutoRow[]) {
  return rows
    .filter(({ method }) => method !== AS_BUILT)
    .flatMap((row) => {
      const built = rows.find(
        (one) => one.method === AS_BUILT && one.stand === row.stand && one.positions === row.positions,
      );
      return built ? [{ ...row, f1_change: row.f1 - built.f1, iou_change: row.mean_iou - built.mean_iou }] : [];
    });
}

const signed = (value: number) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;

function changeTable(rows: readonly AutoRow[]): string[] {
  const changes = changesOf(rows);
  if (changes.length === 0) return [];
  const stands = [...new Set(changes.map(({ stand }) => stand))];
  const cell = (method: string, factor: number, stand: StandKind) => {
    const found = changes.find((one) => one.method === method && one.factor === factor && one.stand === stand);
    return found ? `${signed(found.f1_change)}, ${signed(found.iou_change)}` : "-";
  };
  const methods = [...new Set(changes.map(({ method }) => method))];
  return [
    `Change of F1, mean IoU with a constant at a multiple of its value, ${SENSITIVITY_POSITIONS} positions.`,
    "",
    `| constant | times | ${stands.join(" | ")} |`,
    `|---|---|${stands.map(() => "---|").join("")}`,
    ...methods.flatMap((method) =>
      FACTORS.map(
        (factor) => `| ${method} | ${factor} | ${stands.map((stand) => cell(method, factor, stand)).join(" | ")} |`,
      ),
    ),
    "",
  ];
}

export const treesAutoPart: Part<AutoRow> = {
  methods: [AS_BUILT, ...CONSTANTS],
  groups: STANDS.flatMap((stand) => POSITIONS.map((count) => groupOf(stand, count))),
  async measure(methods, groups) {
    const rows: AutoRow[] = [];
    for (const kind of STANDS) {
      for (const count of POSITIONS) {
        if (!groups.includes(groupOf(kind, count))) continue;
        const stand = await buildStand({ kind, seed: SEED, positions: count, side: SIDE_M, every: EVERY });
        rows.push(await measured(stand, AS_BUILT, 1)); // changes are against it
        if (count !== SENSITIVITY_POSITIONS) continue;
        for (const method of methods.filter((one) => one !== AS_BUILT))
          for (const factor of FACTORS) rows.push(await measured(stand, method, factor));
      }
    }
    return rows;
  },
  tables: (rows) => [...asBuiltTable(rows), ...changeTable(rows)].join("\n"),
  targets: (rows) => {
    const notable = changesOf(rows).filter(({ f1_change, iou_change }) => Math.min(f1_change, iou_change) < -NOTABLE);
    if (notable.length === 0) return `no constant at 0.8 or 1.25 times its value costs more than ${NOTABLE}`;
    return notable
      .map(
        ({ method, factor, stand, f1_change, iou_change }) =>
          `${method} x ${factor} on ${stand}: F1 ${signed(f1_change)}, mean IoU ${signed(iou_change)}`,
      )
      .join("\n");
  },
};
