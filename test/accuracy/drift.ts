// Diameters of stems that several scans, or visits of a scanner that drifts, see at different places; true ids and ground.
import * as native from "../../backend/native/inventory.ts";
import { inventoryRows } from "../../backend/services/trees/inventory-rows.ts";
import { INVENTORY_CONSTANTS, INVENTORY_DEFAULTS } from "../../shared/contract/cloud-session/tree-inventory.ts";
import type { TreeRow } from "../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { REFERENCE_PLOTS, referencePlot } from "./inventory-data.ts";
import { column, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { gaussian, uniform } from "./random.ts";
import { walkedForest } from "./walked-forest.ts";

const METHODS = ["aligned", "as it lies"] as const;
type Method = (typeof METHODS)[number];
const GROUPS = ["scans", "walk"] as const;
type Group = (typeof GROUPS)[number];

interface Scene {
  readonly group: Group;
  readonly cloud: string;
  readonly xyz: Float64Array;
  readonly tree: Uint32Array;
  /** True heights above the ground, metres. */
  readonly height: Float32Array;
  readonly scan: Uint8Array | null;
  readonly time: Float64Array | null;
  readonly diameters: ReadonlyMap<number, number>;
}

export interface DriftRow {
  readonly group: Group;
  readonly cloud: string;
  readonly method: Method;
  readonly trees: number;
  /** Errors of the diameters, metres. */
  readonly errors: readonly number[];
  /** The same over their standard errors. */
  readonly ratios: readonly number[];
  readonly basal_ratio: number;
  readonly spread_m: number;
  readonly rest_m: number;
  readonly aligned: boolean;
}

/** How far a scan lies from where it should: moved, and turned about the origin. */
interface Pose {
  readonly x_m: number;
  readonly y_m: number;
  readonly turn: number;
}

const STILL: Pose = { x_m: 0, y_m: 0, turn: 0 };

/** Poses of four scans: two moved to the side, or all moved and turned. */
function posesOf(state: string): readonly Pose[] {
  if (state === "as scanned") return [STILL, STILL, STILL, STILL];
  if (state === "turned") {
    const next = uniform(3);
    return Array.from({ length: 4 }, () => ({
      x_m: 0.05 * gaussian(next),
      y_m: 0.05 * gaussian(next),
      turn: 0.003 * gaussian(next),
    }));
  }
  const by = Number(state.replace(" cm", "")) / 100;
  return [STILL, { x_m: by, y_m: 0, turn: 0 }, { x_m: 0, y_m: -by, turn: 0 }, STILL];
}

const STATES = ["as scanned", "2 cm", "5 cm", "10 cm", "turned"] as const;

function scannedScenes(): Scene[] {
  return REFERENCE_PLOTS.flatMap((name) => {
    const data = referencePlot(name);
    if (!data?.terrain || !data.scan) return [];
    const { xyz, tree, scan, terrain } = data;
    const height = Float32Array.from(tree, (_, i) => {
      const [x, y, z] = xyz.subarray(3 * i);
      return (z ?? 0) - terrain(x ?? 0, y ?? 0);
    });
    const first = scan.reduce((least, one) => Math.min(least, one), 255);
    return STATES.map((state) => {
      const poses = posesOf(state);
      const moved = Float64Array.from(xyz);
      for (let i = 0; i < tree.length; i += 1) {
        const { x_m, y_m, turn } = poses[(scan[i] ?? first) - first] ?? STILL;
        const [x, y] = [xyz[3 * i] ?? 0, xyz[3 * i + 1] ?? 0];
        moved[3 * i] = x - turn * y + x_m;
        moved[3 * i + 1] = y + turn * x + y_m;
      }
      const diameters = new Map(data.trees.map(({ id, dbh_m }) => [id, dbh_m]));
      return {
        group: "scans" as const,
        cloud: `${name}, ${state}`,
        xyz: moved,
        tree,
        height,
        scan,
        time: null,
        diameters,
      };
    });
  });
}

const DENSE = { side_m: 24, lane_m: 8, positions: 2000, beams_at_once: 2500 };
const WALKS = [
  [0.006, 0],
  [0.006, 0.02],
  [0.006, 0.05],
  [0.015, 0],
  [0.015, 0.05],
] as const;

function* walkedScenes(): Generator<Scene> {
  for (const [range_noise_m, most] of WALKS) {
    const drift = (t: number) =>
      [most * Math.sin(t / 45), most * Math.cos(t / 60), (most / 2) * Math.sin(t / 80)] as const;
    const { xyz, tree, time, stems, height } = walkedForest(1, 1, { ...DENSE, range_noise_m, drift });
    const above = Float32Array.from(tree, (_, i) => {
      const [x, y, z] = xyz.subarray(3 * i);
      const [dx, dy] = drift(time[i] ?? 0);
      return (z ?? 0) - height((x ?? 0) - dx, (y ?? 0) - dy);
    });
    yield {
      group: "walk",
      cloud: `noise ${1000 * range_noise_m} mm, drift ${100 * most} cm`,
      xyz,
      tree,
      height: above,
      scan: null,
      time,
      diameters: new Map(stems.map(({ id, radius }) => [id, 2 * radius])),
    };
  }
}

async function measured(scene: Scene, method: Method): Promise<DriftRow> {
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const align_scans = method === "aligned";
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null, align_scans };
  const cloud: native.TreeCloud = {
    positions: positions(scene.xyz),
    skip: null,
    tree_instance: column("u32", scene.tree),
    height_above_ground: column("f32", scene.height),
    ground_class: null,
    scan_index: scene.scan && column("u8", scene.scan),
    time_s: scene.time && column("f64", scene.time),
    shift: [0, 0, 0],
  };
  const found = await native.treeInventory(cloud, params).promise;
  const { trees } = inventoryRows(found, params);
  const [errors, ratios]: [number[], number[]] = [[], []];
  let [basal, true_basal] = [0, 0];
  for (let i = 0; i < trees.length; i += 1) {
    const row = trees.at(i) as TreeRow;
    const truth = scene.diameters.get(row.tree_id);
    if (truth === undefined || row.dbh_m == null) continue;
    errors.push(row.dbh_m - truth);
    ratios.push((row.dbh_m - truth) / (row.dbh?.sigma_m ?? Number.NaN));
    basal += row.dbh_m ** 2;
    true_basal += truth ** 2;
  }
  return {
    group: scene.group,
    cloud: scene.cloud,
    method,
    trees: scene.diameters.size,
    errors,
    ratios,
    basal_ratio: basal / true_basal,
    spread_m: found.view_fit?.spread_m ?? Number.NaN,
    rest_m: found.view_fit?.rest_m ?? Number.NaN,
    aligned: found.view_fit?.aligned ?? false,
  };
}

const mm = (metres: number) => (1000 * metres).toFixed(1);
const rootMeanSquare = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0) / values.length);
const share = (sorted: readonly number[], part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? Number.NaN;

function lineOf({ cloud, method, trees, errors, ratios, basal_ratio, spread_m, rest_m, aligned }: DriftRow): string {
  const sorted = errors.toSorted((a, b) => a - b);
  const worst = Math.max(...errors.map(Math.abs));
  const beyond = ratios.filter((ratio) => Math.abs(ratio) > 2).length;
  const parts = [0.05, 0.5, 0.95].map((part) => mm(share(sorted, part))).join(", ");
  return `| ${cloud} | ${method} | ${errors.length} of ${trees} | ${parts} | ${mm(rootMeanSquare(errors))} | ${mm(worst)} | ${beyond} | ${basal_ratio.toFixed(3)} | ${mm(spread_m)} | ${mm(rest_m)} | ${aligned ? "yes" : "no"} |`;
}

/** Part `drift` of `npm run accuracy`. */
export const driftPart: Part<DriftRow> = {
  methods: METHODS,
  groups: GROUPS,
  measure: async (methods, groups) => {
    const rows: DriftRow[] = [];
    const wanted = METHODS.filter((name) => methods.includes(name));
    const run = async (scene: Scene) => {
      for (const method of wanted) rows.push(await measured(scene, method));
    };
    if (groups.includes("scans")) for (const scene of scannedScenes()) await run(scene);
    if (groups.includes("walk")) for (const scene of walkedScenes()) await run(scene);
    return rows;
  },
  tables: (rows) =>
    [
      "| cloud | measured | with dbh | 5, 50, 95 % of the errors mm | RMS mm | worst mm | beyond 2 sigma | basal area of true | spread mm | rest mm | aligned |",
      "|---|---|---|---|---|---|---|---|---|---|---|",
      ...rows.map(lineOf),
    ].join("\n"),
  targets: (rows) => {
    const aligned = rows.filter(({ method }) => method === "aligned");
    const worst = Math.max(
      ...aligned.filter(({ group }) => group === "scans").map(({ errors }) => rootMeanSquare(errors)),
    );
    return `diameters of scans that do not fit within 2 mm (RMS): ${mm(worst)} mm, ${worst <= 0.002 ? "reached" : "missed"}`;
  },
};
