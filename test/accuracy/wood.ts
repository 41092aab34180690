// Wood and leaves against labels: of two real trees, of simulated trees and plots, without leaves, and of clouds seen less
// well. A picture of the worst tree of each group is written to build/accuracy.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodePng, renderView } from "../../backend/cli/drawing/render.ts";
import { sceneBox, VIEWS, viewFrame } from "../../backend/cli/drawing/view-frame.ts";
import { root } from "../bench/folders.ts";
import type { Part } from "./part.ts";
import { type CHANGES, WOOD_GROUPS, type WoodCloud, type WoodGroup, woodClouds } from "./wood-clouds.ts";
import { LABELLERS, type Labeller } from "./wood-labellers.ts";

interface Scores {
  readonly accuracy: number;
  /** Of wood; NaN without any. */
  readonly f1: number;
  /** Agreement beyond chance (Cohen 1960); NaN with one class. */
  readonly kappa: number;
  /** Share of the wood thinner than 1 cm that is wood; NaN where it is not known. */
  readonly twigs: number;
}

interface Row extends Scores {
  readonly group: string;
  readonly cloud: string;
  readonly points: number;
  readonly method: string;
  readonly seconds: number;
}

function scores(labels: Uint8Array, { truth, twig }: WoodCloud): Scores {
  let [n, both, found, wood, same, twigs, seen] = [0, 0, 0, 0, 0, 0, 0];
  truth.forEach((one, i) => {
    if (one === 0) return;
    n += 1;
    twigs += twig?.[i] === 1 ? 1 : 0;
    seen += twig?.[i] === 1 && labels[i] === 1 ? 1 : 0;
    both += one === 1 && labels[i] === 1 ? 1 : 0;
    found += labels[i] === 1 ? 1 : 0;
    wood += one === 1 ? 1 : 0;
    same += one === labels[i] ? 1 : 0;
  });
  const chance = (found * wood + (n - found) * (n - wood)) / (n * n);
  const accuracy = same / n;
  const f1 = (2 * both) / (found + wood);
  return { accuracy, f1, kappa: (accuracy - chance) / (1 - chance), twigs: seen / twigs };
}

const BROWN = [0x7a, 0x4a, 0x21] as const;
const GREEN = [0x4f, 0xa0, 0x3c] as const;
const GREY = [0xa0, 0xa0, 0xa0] as const;
const WRONG = [0xd6, 0x27, 0x28] as const;

/** The tree from the front: wood brown, leaf green, wrong labels red, what is not known grey. */
async function picture(name: string, { xyz, truth }: WoodCloud, labels: Uint8Array): Promise<void> {
  const rgb = new Uint8Array(xyz.length);
  truth.forEach((one, i) => {
    rgb.set(one === 0 ? GREY : one !== labels[i] ? WRONG : one === 1 ? BROWN : GREEN, 3 * i);
  });
  const count = truth.length;
  const sample = { point_count: count, total_count: count, position: xyz, rgb, intensity: undefined };
  const [box, view] = [sceneBox(sample), VIEWS.find((one) => one.name === "front")];
  if (!box || !view) return;
  const raster = await renderView(sample, viewFrame(view, box, 1000), {
    mode: "rgb",
    ramp: undefined,
    range: [0, 255],
  });
  const folder = join(root, "build", "accuracy");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `wood_${name}.png`), await encodePng(raster));
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const group of groups) {
    const worst = new Map<string, { readonly accuracy: number; readonly draw: () => Promise<void> }>();
    for await (const cloud of woodClouds(group as WoodGroup)) {
      for (const method of methods) {
        const start = performance.now();
        const labels = await (LABELLERS[method] as Labeller)(cloud);
        const seconds = (performance.now() - start) / 1000;
        const found = scores(labels, cloud);
        rows.push({ group, cloud: cloud.name, points: cloud.truth.length, method, seconds, ...found });
        if (found.accuracy < (worst.get(method)?.accuracy ?? 2)) {
          const draw = () => picture(`${group}_${method}`, cloud, labels);
          worst.set(method, { accuracy: found.accuracy, draw });
        }
      }
    }
    for (const { draw } of worst.values()) await draw();
  }
  return rows;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const text = (value: number) => (Number.isFinite(value) ? value.toFixed(3) : "");

/** Of one group; twigs where they are known. */
function table(group: string, rows: readonly Row[]): string {
  const methods = [...new Set(rows.map(({ method }) => method))];
  const columns = [
    { name: "accuracy", of: (row: Row) => row.accuracy },
    { name: "F1", of: (row: Row) => row.f1 },
    { name: "kappa", of: (row: Row) => row.kappa },
    { name: "twigs", of: (row: Row) => row.twigs },
  ].filter(({ name }) => name !== "twigs" || rows.some(({ twigs }) => Number.isFinite(twigs)));
  const cells = (kept: (row: Row) => boolean) =>
    methods.flatMap((method) => {
      const own = rows.filter((row) => row.method === method && kept(row));
      return columns.map(({ of }) => text(mean(own.map(of).filter(Number.isFinite))));
    });
  const line = (of: readonly string[]) => `| ${of.join(" | ")} |`;
  const titles = methods.flatMap((method) => columns.map(({ name }, k) => (k === 0 ? `${method}: ${name}` : name)));
  const body = [...new Set(rows.map(({ cloud }) => cloud))].map((cloud) => {
    const points = String(rows.find((row) => row.cloud === cloud)?.points);
    return line([cloud, points, ...cells((row) => row.cloud === cloud)]);
  });
  const dashes = ["---", "---", ...titles.map(() => "---")].join("|");
  const all = line(["mean", "", ...cells(() => true)]);
  return [`### ${group}`, "", line(["cloud", "points", ...titles]), `|${dashes}|`, ...body, all].join("\n");
}

const tables = (rows: readonly Row[]): string =>
  [...new Set(rows.map(({ group }) => group))]
    .map((group) =>
      table(
        group,
        rows.filter((row) => row.group === group),
      ),
    )
    .join("\n\n");

/** The least that a method is to reach on a group, over its clouds. */
interface Target {
  readonly group: WoodGroup;
  readonly method: string;
  readonly cloud?: string;
  readonly accuracy: number;
  readonly f1?: number;
}
const TARGETS: readonly Target[] = [
  { group: "real", method: "sota", accuracy: 0.9 },
  { group: "real", method: "ml", cloud: "lewos_tropical", accuracy: 0.95, f1: 0.88 },
  { group: "real", method: "ml", cloud: "weiser_oak", accuracy: 0.92, f1: 0.9 },
  { group: "trees", method: "ml", accuracy: 0.95, f1: 0.9 },
  { group: "own", method: "ml", accuracy: 0.96, f1: 0.9 },
  { group: "species", method: "ml", accuracy: 0.96, f1: 0.9 },
  { group: "plots", method: "ml", accuracy: 0.93 },
  { group: "stands", method: "ml", accuracy: 0.93 },
  { group: "leaf-off", method: "sota", accuracy: 0.98 },
  { group: "leaf-off", method: "ml", accuracy: 0.98 },
];
/** What a cloud seen less well may lose, and one seen from another place. */
const [MOST_LOSS, MOST_CHANGE] = [0.02, 0.002];
const SAME_PLACES: ReadonlySet<string> = new Set<(typeof CHANGES)[number]>([
  "mirrored",
  "rotated about z",
  "offset 5e6 m",
]);

function targets(rows: readonly Row[]): string {
  const verdict = (reached: boolean) => (reached ? "reached" : "missed");
  const reach = TARGETS.flatMap(({ group, method, cloud, accuracy, f1 }) => {
    const of = rows.filter(
      (row) => row.group === group && row.method === method && (cloud === undefined || row.cloud === cloud),
    );
    if (of.length === 0) return [];
    const line = (what: string, value: number, least: number) =>
      `${method}, ${cloud ?? group}, ${what}: ${value.toFixed(3)}, target ${least}: ${verdict(value >= least)}`;
    const accuracies = line("accuracy", mean(of.map((row) => row.accuracy)), accuracy);
    return f1 === undefined ? [accuracies] : [accuracies, line("F1", mean(of.map((row) => row.f1)), f1)];
  });
  const changes = Object.keys(LABELLERS).flatMap((method) => {
    const own = rows.filter((row) => row.group === "robustness" && row.method === method);
    return own.flatMap(({ cloud, accuracy }) => {
      const [tree, change] = cloud.split(": ");
      const whole = own.find((row) => row.cloud === tree);
      if (change === undefined || !whole) return [];
      const most = SAME_PLACES.has(change) ? MOST_CHANGE : MOST_LOSS;
      const loss = whole.accuracy - accuracy;
      return `${method}, ${cloud}: falls by ${loss.toFixed(4)}, at most ${most}: ${verdict(loss <= most)}`;
    });
  });
  return [...reach, ...changes].join("\n");
}

export const woodPart: Part<Row> = { methods: Object.keys(LABELLERS), groups: WOOD_GROUPS, measure, tables, targets };
