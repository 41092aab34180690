// Method auto on another program's forests and on a plot of real trees, with their ground and true ids.
import { join } from "node:path";
import { pathTrees } from "../../backend/native/trees.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { scoreTrees, type TreeScore } from "./forest/score.ts";
import { npy } from "./forest-plots.ts";
import { heightsOf } from "./inventory.ts";
import { compositePlot, REFERENCE_PLOTS, referencePlot } from "./inventory-data.ts";
import { column, positions, values } from "./native.ts";
import type { Part } from "./part.ts";

const COMPOSITE = "composite_plot_a";
/** Organs of forest_reference that are no part of a tree. */
const GROUND = 1;
const UNDERSTOREY = 4;

interface PlotsRow extends TreeScore {
  readonly plot: string;
  readonly points: number;
  readonly user_s: number;
}

/** What method auto gets, and the truth. */
interface KnownPlot {
  readonly xyz: Float64Array;
  /** Above the ground, metres. */
  readonly height: ArrayLike<number>;
  readonly tree: ArrayLike<number>;
  /** Not 0 = ground, which the method does not get. */
  readonly ground: Uint8Array;
  /** Not 0 = left out of the score. */
  readonly unscored: Uint8Array;
}

const flags = (of: ArrayLike<number>, ...organs: readonly number[]) =>
  Uint8Array.from(of, (organ) => (organs.includes(organ) ? 1 : 0));

async function plotOf(name: string): Promise<KnownPlot | null> {
  if (name === COMPOSITE) {
    const data = await compositePlot();
    if (!data?.ground) return null;
    const ground = flags(data.ground, GROUND);
    const heights = (await heightsOf(data, positions(data.xyz))).column;
    if (!heights) throw new Error(`${name} has no ground`);
    return { xyz: data.xyz, height: values(heights), tree: data.tree, ground, unscored: ground };
  }
  const data = referencePlot(name as (typeof REFERENCE_PLOTS)[number]);
  if (!data?.terrain) return null;
  const { xyz, tree, terrain } = data;
  const organ = npy(join(DATA, "forest_reference", name, "organ.npy.gz"));
  const height = Float32Array.from(
    organ,
    (_, i) => (xyz[3 * i + 2] ?? 0) - terrain(xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0),
  );
  return { xyz, height, tree, ground: flags(organ, GROUND), unscored: flags(organ, GROUND, UNDERSTOREY) };
}

async function measured(plot: string): Promise<PlotsRow | null> {
  const known = await plotOf(plot);
  if (!known) return null;
  const columns = [
    positions(known.xyz),
    column("u8", known.ground),
    column("f32", Float32Array.from(known.height, Number)),
  ] as const;
  const before = process.cpuUsage();
  const found = await pathTrees(...columns, null, null).promise;
  const user_s = process.cpuUsage(before).user / 1e6;
  const score = scoreTrees(known.tree, values(found.tree_instance), known.unscored);
  for (const one of [...columns, found.tree_instance]) one.release();
  return { ...score, plot, points: known.tree.length, user_s };
}

/** Least F1; the composite plot: every tree. */
const TARGETS: Readonly<Record<string, { readonly f1: number; readonly mean_iou: number }>> = {
  open_11: { f1: 1, mean_iou: 0.93 },
  slope20_13: { f1: 1, mean_iou: 0.93 },
  dense_12: { f1: 0.92, mean_iou: 0.93 },
  [COMPOSITE]: { f1: 1, mean_iou: 0.9 },
};

export const treesPlotsPart: Part<PlotsRow> = {
  methods: ["auto"],
  groups: [...REFERENCE_PLOTS, COMPOSITE],
  async measure(_methods, groups) {
    const rows: PlotsRow[] = [];
    for (const plot of groups) {
      const row = await measured(plot);
      if (row) rows.push(row);
    }
    return rows;
  },
  tables: (rows) =>
    [
      "Method auto with the ground as it is; points of shrubs and herbs are left out of the score. The protocol is that of `trees`.",
      "",
      "| plot | points | trees | found | F1 | mean IoU | over-segmented | under-segmented | user s |",
      "|---|---|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.plot} | ${row.points} | ${row.tree_count} | ${row.found_count} | ${row.f1.toFixed(3)} | ${row.mean_iou.toFixed(3)} | ${row.over_segmented} | ${row.under_segmented} | ${row.user_s.toFixed(1)} |`,
      ),
      "",
    ].join("\n"),
  targets: (rows) =>
    rows
      .map(({ plot, f1, mean_iou }) => {
        const wanted = TARGETS[plot];
        if (!wanted) throw new Error(`no target for ${plot}`);
        const reached = f1 >= wanted.f1 && mean_iou >= wanted.mean_iou;
        return `${reached ? "reached" : "MISSED"}: ${plot} F1 ${wanted.f1} (${f1.toFixed(3)}), mean IoU ${wanted.mean_iou} (${mean_iou.toFixed(3)})`;
      })
      .join("\n"),
};
