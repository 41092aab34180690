import { expect, test } from "vitest";
import { ownersOf } from "../../../backend/cli/batch/owners.ts";
import { buffersOf, resolveWorkflow, totalBuffer } from "../../../backend/cli/batch/resolve.ts";
import { hullOf } from "../../../backend/cli/batch/tile-trees.ts";
import { parseWorkflow } from "../../../backend/cli/batch/workflow.ts";

const parsed = (text: string) => parseWorkflow(text, "flight.yml");

test("a workflow of steps without values has the defaults of the endpoints", () => {
  const workflow = parsed("ground:\nrasters:\ntrees:\ninventory:\nqsm:\n");
  expect(workflow).toMatchObject({
    ground: { method: "auto" },
    rasters: { surfaces: ["dtm", "dsm", "chm"], method: "tin" },
    trees: { method: "auto", tile_buffer_m: 10 },
    inventory: { breast_height_m: 1.3, fit_method: "ransac" },
  });
});

test.each([
  ["ground:\n  method: clot\n", 2, /ground\.method/],
  ["ground:\n\nrasters:\n  cel_m: 1\n", 4, /rasters\.cel_m is not known; did you mean cell_m\?/],
  ["ground:\ntreees:\n", 2, /treees is not known; did you mean trees\?/],
  ["ground:\ntrees:\n", 2, /step trees needs step rasters/],
  ["rasters:\n", 1, /step rasters needs step ground/],
  ["ground:\nrasters:\n  cell_m: -1\n", 3, /rasters\.cell_m/],
  ["ground: [1, 2\n", 2, /./],
  ["- ground\n", 1, /list of steps/],
  ["tiles:\n  size_m: 100\n", 1, /has no step/],
  ["ground:\nground:\n", 2, /unique/i],
])("%j is refused in line %i", (text, line, rule) => {
  const message = (() => {
    try {
      parsed(text);
    } catch (error) {
      return (error as Error).message;
    }
    return "accepted";
  })();
  expect(message).toMatch(new RegExp(`^flight\\.yml, line ${line}: `));
  expect(message).toMatch(rule);
});

test("what a step would derive in each tile is resolved once", () => {
  const { workflow, derived } = resolveWorkflow(
    parsed("ground: { method: smrf }\nrasters:\nwood:\n"),
    25,
    [1000, 1000],
  );
  expect(workflow.ground).toMatchObject({ cell_size: 1, window_radius: 18, slope: 0.15 });
  expect(workflow.rasters?.cell_m).toBe(1);
  expect(derived).toEqual(["rasters.cell_m", "wood.voxel_size"]);
  const cloth = parsed("ground: { method: cloth, rigidness: 2, slope_smooth: false }\n");
  expect(resolveWorkflow(cloth, 25, [1000, 1000]).workflow.ground).toMatchObject({
    cloth_resolution: 0.4,
    class_threshold: 0.1,
  });
  expect(() => resolveWorkflow(parsed("ground: { method: cloth }\n"), 25, [10, 10])).toThrow(/ground\.rigidness/);
});

test("cells of the canopy model follow from the scale of crowns unless they are given", () => {
  const cells = (trees: string) =>
    resolveWorkflow(parsed(`ground:\nrasters:\ntrees: { method: chm${trees} }\n`), 25, [1000, 1000]).workflow.trees
      ?.chm_cell;
  expect(cells(", chm_crown_scale: 6")).toBe(0.5);
  expect(cells(", chm_crown_scale: 6, chm_cell: 0.25")).toBe(0.25);
});

test("buffers follow from the parameters", () => {
  const buffer = (text: string) => totalBuffer(buffersOf(resolveWorkflow(parsed(text), 25, [100, 100]).workflow));
  expect(buffer("ground:\n")).toBe(16);
  expect(buffer("ground: { method: smrf, window_radius: 10, cell_size: 0.5 }\n")).toBe(21);
  expect(buffer("ground: { method: las_classification }\n")).toBe(0);
  expect(buffer("ground:\nrasters: { cell_m: 2 }\ntrees: { tile_buffer_m: 15 }\n")).toBe(35);
});

const seen = (id: number, x: number, margin_m: number, core_points: number) => ({
  id,
  points: 1000,
  core_points,
  anchor: [x, 5] as const,
  margin_m,
});

test("a tree belongs to the tile that holds its stem, and each tree is counted once", () => {
  // Two tiles that meet at x = 10.
  const found = ownersOf([
    { tile: "a", trees: [seen(1, 3, 3, 900), seen(2, 10.1, -0.1, 300), seen(3, 14, -4, 0)] },
    { tile: "b", trees: [seen(1, 9.9, -0.1, 700), seen(2, 14.01, 4.01, 900), seen(3, 18, 2, 50)] },
  ]);
  // The stem on the edge, which each tile leaves to the other, goes to b, which holds most of it.
  expect(found.trees.map(({ tile, id }) => `${tile}${id}`)).toEqual(["a1", "b1", "b2", "b3"]);
  expect([...(found.numbers.get("a") ?? [])]).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(found.truncated_count).toBe(1);
  const both = ownersOf([
    { tile: "a", trees: [seen(1, 9.9, 0.1, 500)] },
    { tile: "b", trees: [seen(7, 10.2, 0.2, 500)] },
  ]);
  expect(both.trees.map(({ tile }) => tile)).toEqual(["b"]);
  expect([both.numbers.get("a")?.get(1), both.numbers.get("b")?.get(7)]).toEqual([1, 1]);
});

test("a part of a tree that nobody owns is a tree of its own from 20 points on", () => {
  const part = (points: number) => ownersOf([{ tile: "a", trees: [seen(4, 12, -2, points)] }]);
  expect([part(19).trees.length, part(19).numbers.get("a")?.get(4)]).toEqual([0, 0]);
  expect([part(20).trees.length, part(20).truncated_count]).toEqual([1, 1]);
});

test("the hull of points, on a line and twice the same too", () => {
  expect(
    hullOf([
      [0, 0],
      [2, 0],
      [1, 1],
      [2, 2],
      [0, 2],
      [0, 0],
    ]),
  ).toEqual([
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
  ]);
  expect(
    hullOf([
      [0, 0],
      [1, 1],
      [2, 2],
    ]).length,
  ).toBeLessThan(3);
});
