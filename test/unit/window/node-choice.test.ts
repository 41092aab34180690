import { expect, test } from "vitest";
import { chooseNodes, type Eye } from "../../../backend/window/view/octree/node-choice.ts";
import type { IndexedNode } from "../../../backend/window/view/octree/octree-file.ts";

const EVERYTHING: Eye["planes"] = [];

/** A tree of cubes over [0, size] whose nodes have `count` points each. */
function cube(
  name: string,
  min: readonly [number, number, number],
  size: number,
  depth: number,
  count = 100,
): IndexedNode {
  const half = size / 2;
  const children =
    depth === 0
      ? []
      : Array.from({ length: 8 }, (_, i) => {
          const corner = [
            min[0] + (i & 4 ? half : 0),
            min[1] + (i & 2 ? half : 0),
            min[2] + (i & 1 ? half : 0),
          ] as const;
          return cube(`${name}${i}`, corner, half, depth - 1, count);
        });
  const bounds = { min: [...min], max: [min[0] + size, min[1] + size, min[2] + size] } as never;
  return { name, level: name.length - 1, byte_offset: 0, byte_size: 0, point_count: count, bounds, children };
}

const eye = (x: number, rest: Partial<Eye> = {}): Eye => ({
  position: [x, 4, 4],
  pixels_per_radian: 1000,
  planes: EVERYTHING,
  clip: null,
  ...rest,
});
const names = (list: readonly { node: IndexedNode }[]) => list.map(({ node }) => node.name);

test("chooses the whole tree where the budget allows it, parents first", () => {
  const chosen = names(chooseNodes([{ key: 0, root: cube("r", [0, 0, 0], 8, 2), spacing: 1, eye: eye(-5) }], 1e6));
  expect(chosen).toHaveLength(1 + 8 + 64);
  for (const [i, name] of chosen.entries()) if (name !== "r") expect(chosen.indexOf(name.slice(0, -1))).toBeLessThan(i);
});

test("keeps the budget, and takes what is near first", () => {
  const chosen = names(chooseNodes([{ key: 0, root: cube("r", [0, 0, 0], 8, 2), spacing: 1, eye: eye(-1) }], 1300));
  expect(chosen).toHaveLength(13);
  // Children 0 to 3 have the lower x, nearer to the eye.
  const second = chosen.filter((name) => name.length === 2).slice(0, 4);
  expect(second.sort()).toEqual(["r0", "r1", "r2", "r3"]);
});

test("draws the root even if it alone is above the budget", () => {
  expect(
    names(chooseNodes([{ key: 0, root: cube("r", [0, 0, 0], 8, 0, 500), spacing: 1, eye: eye(-5) }], 100)),
  ).toEqual(["r"]);
});

test("goes no deeper than the screen shows", () => {
  // At 8000 m a spacing of 1 m is an eighth of a pixel.
  expect(names(chooseNodes([{ key: 0, root: cube("r", [0, 0, 0], 8, 2), spacing: 1, eye: eye(-8000) }], 1e6))).toEqual([
    "r",
  ]);
});

test("leaves out what is beside the view or the clip box", () => {
  const root = cube("r", [0, 0, 0], 8, 1);
  const left = [-1, 0, 0, 3.9] as const; // x <= 3.9
  const seen = names(chooseNodes([{ key: 0, root, spacing: 1, eye: eye(-5, { planes: [left] }) }], 1e6));
  expect(seen.sort()).toEqual(["r", "r0", "r1", "r2", "r3"]);
  const clip = { min: [5, 5, 5], max: [6, 6, 6] } as never;
  expect(names(chooseNodes([{ key: 0, root, spacing: 1, eye: eye(-5, { clip }) }], 1e6))).toEqual(["r", "r7"]);
});

test("shares one budget between clouds by what is larger on the screen", () => {
  const near = { key: "near", root: cube("r", [0, 0, 0], 8, 2), spacing: 1, eye: eye(-1) };
  const far = { key: "far", root: cube("r", [0, 0, 0], 8, 2), spacing: 1, eye: eye(-500) };
  const keys = chooseNodes([far, near], 1200).map(({ key }) => key);
  expect(keys.filter((key) => key === "near").length).toBeGreaterThan(10);
  expect(chooseNodes([], 1200)).toEqual([]);
});
