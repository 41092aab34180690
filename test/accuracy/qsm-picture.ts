// A tree's cloud and its model as a picture.
import { join } from "node:path";
import type { QsmCylinder } from "../../shared/contract/qsm-records.ts";
import { drawPoints } from "./forest/picture.ts";
import type { KnownTree } from "./qsm-trees.ts";

/** The cloud and the model beside each other, from the south. */
export function drawTree(name: string, tree: KnownTree, cylinders: readonly QsmCylinder[]): void {
  const folder = process.env.APP_ACCURACY_PICTURES;
  if (!folder) return;
  const dots: number[][] = [];
  const axis = (k: number) => Array.from({ length: tree.xyz.length / 3 }, (_, i) => tree.xyz[3 * i + k] ?? 0);
  const [xs, zs] = [axis(0), axis(2)];
  const least = (list: number[]) => list.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = (list: number[]) => list.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [left, low, width, height] = [least(xs), least(zs), most(xs) - least(xs) + 1, most(zs) - least(zs) + 1];
  for (let i = 0; i < xs.length; i += 1) dots.push([xs[i] ?? 0, zs[i] ?? 0, tree.xyz[3 * i + 1] ?? 0, 0]);
  for (const c of cylinders) {
    const steps = Math.ceil(Math.hypot(...c.start.map((v, i) => (c.end[i] ?? 0) - v)) / 0.02) + 1;
    for (let k = 0; k <= steps; k += 1)
      for (let across = -1; across <= 1; across += 0.1) {
        const at = (i: 0 | 1 | 2) => c.start[i] + ((c.end[i] - c.start[i]) * k) / steps;
        dots.push([at(0) + across * c.radius + width, at(2), at(1) - c.radius, 1 + c.rank]);
      }
  }
  const colors = [
    [90, 90, 90],
    [150, 90, 30],
    [30, 110, 200],
    [30, 160, 60],
    [200, 60, 160],
  ] as const;
  const scale = Math.min(1200 / (2 * width), 900 / height);
  drawPoints(
    join(folder, `${name.replaceAll(" ", "-")}.png`),
    {
      count: dots.length,
      across: (i) => dots[i]?.[0] ?? 0,
      up: (i) => dots[i]?.[1] ?? 0,
      depth: (i) => dots[i]?.[2] ?? 0,
      color: (i) => colors[Math.min(dots[i]?.[3] ?? 0, colors.length - 1)] ?? [0, 0, 0],
    },
    { left: left - 0.5, low: low - 0.5, scale, width: Math.ceil(2 * width * scale), height: Math.ceil(height * scale) },
  );
}
