// Wood and leaves against labels: of two real trees, of simulated trees and plots, without leaves, and of clouds seen less
// well. A picture of the worst tree of each group is written to build/accuracy.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodePng, renderView } from "../../backend/cli/drawing/render.ts";
import { sceneBox, VIEWS, viewFrame } from "../../backend/cli/drawing/view-frame.ts";
import { woodLeaf } from "../../backend/native/wood.ts";
import { DEFAULT_WOOD, SHAPE_METHODS, type ShapeMethod } from "../../shared/contract/segment-wood.ts";
import { DEFAULT_WOOD_MAX_POINTS } from "../../shared/limits.ts";
import { root } from "../bench/folders.ts";
import { labelsOf, positions } from "./native.ts";
import type { Part } from "./part.ts";
import { WOOD_GROUPS, type WoodCloud, type WoodGroup, woodClouds } from "./wood-clouds.ts";

interface Scores {
  readonly accuracy: number;
  /** Of wood; NaN without any. */
  readonly f1: number;
  /** Agreement beyond chance (Cohen 1960); NaN with one class. */
  readonly kappa: number;
}

interface Row extends Scores {
  readonly group: string;
  readonly cloud: string;
  readonly points: number;
  readonly method: string;
  readonly seconds: number;
}

/** Labels 1 and 2 of each point by a method. Another method is another entry. */
type Labeller = (cloud: WoodCloud) => Promise<Uint8Array>;

const geometric =
  (method: ShapeMethod): Labeller =>
  async ({ xyz }) => {
    const points = positions(xyz);
    const { voxel_size: voxel_size_m, ...rest } = DEFAULT_WOOD;
    const params = { ...rest, method, voxel_size_m, most_points: DEFAULT_WOOD_MAX_POINTS };
    const found = await woodLeaf(points, null, null, params).promise;
    const labels = labelsOf(found.wood_class);
    for (const one of [points, found.wood_class]) one.release();
    return labels;
  };
const LABELLERS: Readonly<Record<string, Labeller>> = Object.fromEntries(
  SHAPE_METHODS.map((method) => [method, geometric(method)]),
);

function scores(labels: Uint8Array, truth: Uint8Array): Scores {
  let [both, found, wood, same] = [0, 0, 0, 0];
  truth.forEach((one, i) => {
    both += one === 1 && labels[i] === 1 ? 1 : 0;
    found += labels[i] === 1 ? 1 : 0;
    wood += one === 1 ? 1 : 0;
    same += one === labels[i] ? 1 : 0;
  });
  const n = truth.length;
  const chance = (found * wood + (n - found) * (n - wood)) / (n * n);
  const accuracy = same / n;
  return { accuracy, f1: (2 * both) / (found + wood), kappa: (accuracy - chance) / (1 - chance) };
}

const BROWN = [0x7a, 0x4a, 0x21] as const;
const GREEN = [0x4f, 0xa0, 0x3c] as const;
const WRONG = [0xd6, 0x27, 0x28] as const;

/** The tree from the front: wood brown, leaf green, wrong labels red. */
async function picture(name: string, { xyz, truth }: WoodCloud, labels: Uint8Array): Promise<void> {
  const rgb = new Uint8Array(xyz.length);
  truth.forEach((one, i) => {
    rgb.set(one !== labels[i] ? WRONG : one === 1 ? BROWN : GREEN, 3 * i);
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
    for (const cloud of woodClouds(group as WoodGroup)) {
      for (const method of methods) {
        const start = performance.now();
        const labels = await (LABELLERS[method] as Labeller)(cloud);
        const seconds = (performance.now() - start) / 1000;
        const found = scores(labels, cloud.truth);
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

function tables(rows: readonly Row[]): string {
  const methods = [...new Set(rows.map(({ method }) => method))];
  const head = `| cloud | points |${methods.map((name) => ` ${name}: accuracy | F1 | kappa |`).join("")}`;
  const line = `|---|---|${methods.map(() => "---|---|---|").join("")}`;
  return [...new Set(rows.map(({ group }) => group))]
    .map((group) => {
      const own = rows.filter((row) => row.group === group);
      const cells = (pick: (method: string) => readonly Row[]) =>
        methods
          .map((method) => {
            const of = pick(method);
            return ` ${[of.map((r) => r.accuracy), of.map((r) => r.f1), of.map((r) => r.kappa)].map((all) => text(mean(all))).join(" | ")} |`;
          })
          .join("");
      const body = [...new Set(own.map(({ cloud }) => cloud))].map((cloud) => {
        const of = own.filter((row) => row.cloud === cloud);
        return `| ${cloud} | ${of[0]?.points} |${cells((method) => of.filter((row) => row.method === method))}`;
      });
      const all = `| mean | |${cells((method) => own.filter((row) => row.method === method))}`;
      return [`### ${group}`, "", head, line, ...body, all].join("\n");
    })
    .join("\n\n");
}

function targets(rows: readonly Row[]): string {
  const of = (group: string, method: string) => rows.filter((row) => row.group === group && row.method === method);
  const lowest = (values: readonly number[]) => Math.min(...values);
  const line = (what: string, value: number, least: number) =>
    `${what}: ${value.toFixed(3)}, target ${least}: ${value >= least ? "reached" : "missed"}`;
  const oak = of("robustness", "sota");
  const [whole, ...others] = oak.map(({ accuracy }) => accuracy);
  const real = of("real", "sota").map(({ accuracy }) => accuracy);
  const bare = of("leaf-off", "sota").map(({ accuracy }) => accuracy);
  return [
    ...(real.length > 0 ? [line("sota, mean of the real trees", mean(real), 0.9)] : []),
    ...(bare.length > 0 ? [line("sota, wood of the worst tree without leaves", lowest(bare), 0.98)] : []),
    ...(whole === undefined
      ? []
      : others.map((accuracy, i) => {
          const [name, most] = [oak[i + 1]?.cloud, i < 3 ? 0.02 : 0.002];
          return `sota, ${name}: falls by ${(whole - accuracy).toFixed(4)}, at most ${most}: ${whole - accuracy <= most ? "reached" : "missed"}`;
        })),
  ].join("\n");
}

export const woodPart: Part<Row> = { methods: Object.keys(LABELLERS), groups: WOOD_GROUPS, measure, tables, targets };
