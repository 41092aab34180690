// Stems that no scan saw: known plots with some of their scan positions alone, through the service as a user does it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../shared/client/index.ts";
import { withService } from "./backend.ts";
import { buildStand, EVERY } from "./forest/stand.ts";
import { REFERENCE_PLOTS, referencePlot } from "./inventory-data.ts";
import type { Part } from "./part.ts";
import { plyOf } from "./ply.ts";

const GROUPS = ["reference", "stands"] as const;
const KINDS = ["apart", "interlocked", "understorey"] as const;
const STAND_SIDE_M = 40;
/** Positions: of four, these were used. */
const CHOSEN = [[1, 2, 3, 4], [1, 2, 3], [1, 2], [3, 4], [1], [2], [3], [4]] as const;

interface Scene {
  readonly cloud: string;
  readonly positions: string;
  readonly xyz: Float64Array;
  /** True diameters of the trees, metres. */
  readonly diameters: readonly number[];
}

export interface HiddenRow extends Omit<Scene, "xyz" | "diameters"> {
  readonly trees: number;
  /** Stems with a diameter, and their basal area over the true one. */
  readonly measured: number;
  readonly basal_ratio: number;
  readonly unseen_share: number | null;
  /** Each as told by a warning. */
  readonly told_unseen: boolean;
  readonly told_missing: string;
}

function* referenceScenes(): Generator<Scene> {
  for (const name of REFERENCE_PLOTS) {
    const data = referencePlot(name);
    if (!data?.scan) continue;
    const { scan, xyz } = data;
    for (const chosen of CHOSEN) {
      const rows = [...scan.keys()].filter((i) => (chosen as readonly number[]).includes(scan[i] ?? 0));
      const places = new Float64Array(3 * rows.length);
      for (const [k, i] of rows.entries()) places.set(xyz.subarray(3 * i, 3 * i + 3), 3 * k);
      const diameters = data.trees.map(({ dbh_m }) => dbh_m);
      yield { cloud: name, positions: chosen.join(" "), xyz: places, diameters };
    }
  }
}

async function* standScenes(): AsyncGenerator<Scene> {
  for (const kind of KINDS) {
    for (const positions of [4, 1]) {
      const stand = await buildStand({ kind, seed: 1, positions, side: STAND_SIDE_M, every: EVERY });
      const diameters = stand.trees.flatMap(({ dbh_m }) => dbh_m ?? []);
      yield { cloud: `stand, ${kind}`, positions: `${positions} of ${positions}`, xyz: stand.points.xyz, diameters };
    }
  }
}

const squares = (diameters: readonly number[]) => diameters.reduce((sum, one) => sum + one ** 2, 0);

async function rowsOf(client: Client, folder: string, groups: readonly string[]): Promise<HiddenRow[]> {
  const measured = async ({ cloud, positions, xyz, diameters }: Scene): Promise<HiddenRow> => {
    const source_path = join(folder, "plot.ply");
    writeFileSync(source_path, plyOf(xyz));
    const { session_id } = await client.createSession({ source_path });
    await client.segmentGroundSession(session_id, {});
    await client.sessionDem(session_id, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
    await client.segmentTreesSession(session_id, { method: "auto" });
    const { trees, stand, warnings } = await client.treeInventory(session_id, {});
    await client.closeSession(session_id);
    const found = trees.flatMap(({ dbh_m }) => (typeof dbh_m === "number" ? [dbh_m] : []));
    const missing = warnings.find((one) => one.includes("at least half as high"));
    return {
      cloud,
      positions,
      trees: diameters.length,
      measured: found.length,
      basal_ratio: squares(found) / squares(diameters),
      unseen_share: stand?.unseen_share ?? null,
      told_unseen: warnings.some((one) => one.includes("unseen_share")),
      told_missing: missing?.match(/too small by about (\d+) %/)?.[1] ?? "",
    };
  };
  const rows: HiddenRow[] = [];
  if (groups.includes("reference")) for (const scene of referenceScenes()) rows.push(await measured(scene));
  if (groups.includes("stands")) for await (const scene of standScenes()) rows.push(await measured(scene));
  return rows;
}

const percent = (share: number | null) => (share === null ? "" : `${Math.round(100 * share)} %`);
const isTold = ({ told_unseen, told_missing }: HiddenRow) => told_unseen || told_missing !== "";
/** Basal area that is lost without a word. */
const LOST = 0.05;

/** Part `hidden` of `npm run accuracy`. */
export const hiddenPart: Part<HiddenRow> = {
  methods: ["auto"],
  groups: GROUPS,
  measure: (_, groups) => withService("hidden", (client, folder) => rowsOf(client, folder, groups)),
  tables: (rows) =>
    [
      "| plot | scans | stems with a diameter | basal area over the true one | plot unseen | told | without a diameter, told |",
      "|---|---|---|---|---|---|---|",
      ...rows.map(
        (row) =>
          `| ${row.cloud} | ${row.positions} | ${row.measured} of ${row.trees} | ${row.basal_ratio.toFixed(3)} | ${percent(row.unseen_share)} | ${row.told_unseen ? "yes" : ""} | ${row.told_missing === "" ? "" : `${row.told_missing} %`} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const lost = rows.filter(({ basal_ratio }) => basal_ratio < 1 - LOST);
    const told = lost.filter(isTold).length;
    return `plots that lack over 5 % of their basal area told, all: ${told} of ${lost.length}, ${told === lost.length ? "reached" : "missed"}`;
  },
};
