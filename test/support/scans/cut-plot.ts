import { uniform } from "../../accuracy/random.ts";

type Point = readonly [number, number, number];
const TAU = 2 * Math.PI;

/** A stem of 6 m with six level branches in a ragged crown of leaves, of 2.5 m radius around 8 m. */
function tree(x: number, y: number, random: () => number): { wood: Point[]; leaves: Point[] } {
  const wood: Point[] = [];
  for (let i = 0; i < 2500; i += 1) {
    const turn = TAU * random();
    wood.push([x + 0.12 * Math.cos(turn), y + 0.12 * Math.sin(turn), 6 * random()]);
  }
  for (let branch = 0; branch < 6; branch += 1) {
    const [c, s] = [Math.cos((TAU * branch) / 6), Math.sin((TAU * branch) / 6)];
    for (let i = 0; i < 700; i += 1) {
      const [along, turn] = [0.1 + 2 * random(), TAU * random()];
      const [side, up] = [0.03 * Math.cos(turn), 0.03 * Math.sin(turn)];
      wood.push([x + along * c - side * s, y + along * s + side * c, 3 + branch / 2 + up]);
    }
  }
  const leaves: Point[] = [];
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(TAU * random());
  for (let clump = 0; clump < 250; clump += 1) {
    const off = [normal(), normal(), normal()] as const;
    const reach = (2.5 * Math.cbrt(random())) / Math.hypot(...off);
    for (let i = 0; i < 30; i += 1)
      leaves.push([
        x + off[0] * reach + 0.12 * normal(),
        y + off[1] * reach + 0.12 * normal(),
        8 + off[2] * reach + 0.12 * normal(),
      ]);
  }
  return { wood, leaves };
}

export const CUT_PLOT_HEAD = "x y z tree_instance ground_class wood_class";

/** Rows of three trees 6 m apart along x, 4 in the middle, 3 and 9 beside it, on ground of 24 x 12 m; `keep` cuts the plot. */
export function cutPlot(keep: (x: number, y: number, z: number) => boolean = () => true): string[] {
  const random = uniform(1);
  const rows = [CUT_PLOT_HEAD];
  const put = ([x, y, z]: Point, classes: string) => {
    if (keep(x, y, z)) rows.push(`${x.toFixed(4)} ${y.toFixed(4)} ${z.toFixed(4)} ${classes}`);
  };
  for (const [id, x] of [
    [3, -6],
    [4, 0],
    [9, 6],
  ] as const) {
    const { wood, leaves } = tree(x, 0, random);
    for (const point of wood) put(point, `${id} 2 1`);
    for (const point of leaves) put(point, `${id} 2 2`);
  }
  for (let i = 0; i < 20_000; i += 1) put([24 * random() - 12, 12 * random() - 6, 0], "0 1 0");
  return rows;
}
