// A plot whose scans were put together at wrong heights, through the service: heights of trees, what is told, and what align_scans mends.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, isNoTree } from "../../shared/client/index.ts";
import type { TreeInventoryTail } from "../../shared/contract/cloud-session/tree-inventory.ts";
import { withService } from "./backend.ts";
import { figure, largest, mean, sizeErrors, standingBeside } from "./listed-trees.ts";
import { scanned, scene } from "./misfits.ts";
import type { Part } from "./part.ts";
import type { Scenery } from "./rock-scenes.ts";

const REACH_M = 0.6;
const RISES_M: Readonly<Record<string, number>> = {
  ...{
    fit: 0,
    "3 cm": 0.03,
    "6 cm": 0.06,
    "15 cm": 0.15,
    "30 cm": 0.3,
    "60 cm": 0.6,
    "1.5 m": 1.5,
    "5 m": 5,
    "47 m": 47,
  },
};
/** One of four scans lies higher, or two; the cloud tells which points are of which scan, or does not. */
const METHODS = ["one", "two", "two, unnumbered"] as const;
type Method = (typeof METHODS)[number];

export interface LiftRow {
  readonly rise: string;
  readonly scans: Method;
  readonly trees: number;
  /** Height of the upper layer that the list tells, metres. */
  readonly told_m: number | null;
  readonly before: Errors;
  /** After align_scans, the ground and trees once more; null where nothing was moved. */
  readonly after: Errors | null;
  /** Two layers are told of the mended cloud, too. */
  readonly is_told_again: boolean;
}

interface Errors {
  readonly found: number;
  readonly listed: number;
  readonly height_m: readonly number[];
  readonly diameter_mm: readonly number[];
}

/** The scans as one cloud, some of them raised. */
async function putTogether(scans: readonly string[], rise: number, method: Method, client: Client): Promise<string> {
  const ids: string[] = [];
  for (const scan of scans) ids.push((await client.duplicate(scan)).duplicate.session_id);
  for (const k of method === "one" ? [0] : [0, 3])
    if (rise > 0) await client.transform(ids[k] ?? "", { matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, rise, 0, 0, 0, 1] });
  const { session_id } = (await client.merge({ session_ids: ids })).merged;
  for (const id of ids) await client.closeSession(id);
  return method === "two, unnumbered" ? await unnumbered(session_id, client) : session_id;
}

async function unnumbered(cloud: string, client: Client): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "lifts-"));
  try {
    const path = join(folder, "plot.las");
    await client.exportCloud({
      ...{ source: { session_id: cloud }, dest_path: path, format: "las", overwrite: true, columns: [] },
    } as never);
    await client.closeSession(cloud);
    return (await client.createSession({ source_path: path })).session_id;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listed(cloud: string, client: Client): Promise<TreeInventoryTail> {
  await client.segmentGroundSession(cloud, {});
  await client.sessionDem(cloud, { surface_type: "dtm", cell_size: 0.25, add_height_column: true });
  await client.segmentTreesSession(cloud, { method: "auto" });
  return client.treeInventory(cloud, { min_points: 10 });
}

function errorsOf({ trees }: Scenery, list: TreeInventoryTail): Errors {
  const rows = list.trees.filter((row) => !isNoTree(row));
  const pairs = standingBeside(trees, rows, REACH_M);
  return { found: new Set(pairs.map(({ row }) => row)).size, listed: rows.length, ...sizeErrors(pairs) };
}

async function rowOf(
  cloud: string,
  method: Method,
  scenery: Scenery,
  client: Client,
): Promise<Omit<LiftRow, "rise" | "scans">> {
  const list = await listed(cloud, client);
  const told_m = list.ground_layers?.z_m ?? null;
  const row = { trees: scenery.trees.length, told_m, before: errorsOf(scenery, list) };
  if (method === "two, unnumbered" || !(await client.alignScans(cloud)).aligned)
    return { ...row, after: null, is_told_again: false };
  const again = await listed(cloud, client);
  return { ...row, after: errorsOf(scenery, again), is_told_again: again.ground_layers !== null };
}

const errorText = (errors: Errors | null): string =>
  errors === null
    ? "- | - | - | -"
    : `${errors.found} of ${errors.listed} | ${figure(mean(errors.height_m), 3)} | ${figure(largest(errors.height_m), 2)} | ${figure(largest(errors.diameter_mm), 1)}`;

/** Part `lifts` of `npm run accuracy`. */
export const liftsPart: Part<LiftRow> = {
  methods: METHODS,
  groups: Object.keys(RISES_M),
  measure: (methods, groups) =>
    withService("lifts", async (client) => {
      const scenery = scene(7);
      const scans = await scanned(scenery, client);
      const rows: LiftRow[] = [];
      for (const rise of groups)
        for (const method of methods as Method[]) {
          const cloud = await putTogether(scans, RISES_M[rise] ?? 0, method, client);
          rows.push({ rise, scans: method, ...(await rowOf(cloud, method, scenery, client)) });
          await client.closeSession(cloud);
        }
      return rows;
    }),
  tables: (rows) =>
    [
      "| scans higher by | which of four | trees | told | found of listed | height error m: mean | worst | worst diameter mm | aligned: found of listed | height error m: mean | worst | worst diameter mm |",
      `|${"---|".repeat(12)}`,
      ...rows.map(
        ({ rise, scans, trees, told_m, before, after }) =>
          `| ${rise} | ${scans} | ${trees} | ${told_m === null ? "no" : figure(told_m, 3)} | ${errorText(before)} | ${errorText(after)} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const high = rows.filter(({ rise }) => (RISES_M[rise] ?? 0) >= 0.06);
    const silent = high.filter(({ told_m }) => told_m === null).length;
    const wrong = rows.filter(({ rise, told_m }) => rise === "fit" && told_m !== null).length;
    const fit = mean(rows.find(({ rise }) => rise === "fit")?.before.height_m ?? []);
    const aligned = rows.filter(({ after }) => after);
    const off = aligned.filter(({ after }) => after && Math.abs(mean(after.height_m) - fit) > 0.1).length;
    const again = rows.filter(({ is_told_again }) => is_told_again).length;
    return `from 6 cm on not told: ${silent} of ${high.length}; told where scans fit: ${wrong}; aligned: ${aligned.length}, with a mean height more than 0.1 m from that of scans that fit: ${Number.isNaN(fit) ? "group fit was not measured" : off}, told again: ${again}`;
  },
};
