import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { joinWarnings, plotOf } from "../../../backend/cli/batch/join-warnings.ts";
import { ownersOf } from "../../../backend/cli/batch/owners.ts";
import { withPid } from "../../../backend/cli/batch/pid-file.ts";
import { planBatch } from "../../../backend/cli/batch/plan.ts";
import { parseWorkflow } from "../../../backend/cli/batch/workflow.ts";
import type { CatalogFile } from "../../../backend/cli/catalog/document.ts";
import { findFiles } from "../../../backend/cli/catalog/files.ts";
import { layoutOf, overlapsOf } from "../../../backend/cli/catalog/layout.ts";
import { catalogOf } from "../../../backend/cli/catalog/summary.ts";
import type { TreeQsmResult } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const file = (x: number, y: number, side: number, more: Partial<CatalogFile> = {}): CatalogFile => ({
  path: `/data/${x}_${y}.las`,
  name: `${x}_${y}.las`,
  bytes: 1,
  modified_ms: 1,
  version: "1.2",
  point_format: 0,
  record_bytes: 20,
  compressed: false,
  points: 1000,
  bounds: { min: [x, y, 0], max: [x + side, y + side, 9] },
  density: 1,
  crs_epsg: 25832,
  crs_name: null,
  is_geographic: false,
  unit_m: 1,
  vertical_unit_m: null,
  scale: [0.001, 0.001, 0.001],
  warnings: [],
  ...more,
});
const planOf = (files: CatalogFile[], text = "ground:\n") =>
  planBatch(catalogOf(files, []), parseWorkflow(text, "w.yml"), { name: "w", program: "1" });
const square = (x: number, y: number, side: number) =>
  [
    [x, y],
    [x + side, y],
    [x + side, y + side],
    [x, y + side],
  ] as const;

test("two stems beside an edge that both tiles see stay two", () => {
  const seen = (id: number, x: number, margin_m: number) =>
    ({ id, points: 100, core_points: 60, anchor: [x, 5], margin_m }) as const;
  const tiles = [
    { tile: "a", trees: [seen(1, 9.9, 0.1), seen(2, 10.15, -0.15)] },
    { tile: "b", trees: [seen(7, 9.91, -0.09), seen(8, 10.15, 0.15)] },
  ];
  const { trees, numbers, truncated_count } = ownersOf(tiles);
  expect([trees.map(({ tile, id }) => [tile, id]), truncated_count]).toEqual([
    [
      ["a", 1],
      ["b", 8],
    ],
    0,
  ]);
  expect([...(numbers.get("b") ?? [])]).toEqual([
    [7, 1],
    [8, 2],
  ]);
  const one = tiles.map(({ tile, trees: [first, second] }) => ({ tile, trees: tile === "a" ? [first] : [second] }));
  expect(ownersOf(one as typeof tiles).trees).toHaveLength(1);
});

test("points that are missing, and trees of failed tiles, are said", () => {
  const plan = { files: [{ id: "0", path: "", compressed: false, points: 100, mem_mb: 1, minutes: 1 }], workflow: {} };
  const lists = { owners: ownersOf([]), skipped_count: 0, qsm: null };
  const said = (core_points: number, lost: { core: readonly [number, number, number, number] }[] = [], of = lists) =>
    joinWarnings(plan, { results: [{ core_points }], lists: of, lost });
  expect([said(100), said(60, [{ core: [0, 0, 9, 9] }])]).toEqual([[], []]);
  expect(said(99)).toEqual([expect.stringMatching(/declare 100 points, the tiles hold 99/)]);
  const guest = { id: 1, points: 99, core_points: 60, anchor: [5, 5], margin_m: -1 } as const;
  const homeless = { owners: ownersOf([{ tile: "a", trees: [guest] }]), skipped_count: 0, qsm: null };
  expect(said(60, [{ core: [0, 0, 9, 9] }], homeless)).toEqual([
    expect.stringMatching(/^1 tree stands in tiles that failed/),
  ]);
});

test("what the models of all tiles warn of is told once, by the numbers of the whole", () => {
  const model = (tree_id: number, more: object = {}) => ({ tree_id, success: true, ...more }) as TreeQsmResult;
  const qsm = [
    model(1, { warnings: ["50 % leaves"] }),
    model(2, { success: false, error: "too few points" }),
    model(3, { warnings: ["52 % leaves"] }),
  ];
  const lists = { owners: ownersOf([]), skipped_count: 0, qsm };
  expect(joinWarnings({ files: [], workflow: {} }, { results: [], lists, lost: [] })).toEqual([
    "2 of 2 models (trees 1, 3): 50 to 52 % leaves.",
    "1 of 3 trees have no model of their wood; tree 2: too few points.",
  ]);
});

test("a plot with holes is said to be too large, and of plots apart is none", () => {
  const hull = square(5_000_000, 5_000_000, 100);
  const plot = (...sides: number[]) =>
    plotOf(
      { ground_hull: hull },
      sides.map((side) => ({ ground_hull: square(5_000_000, 5_000_000, side) })),
      false,
    );
  expect(plot(98)).toEqual({ corners: hull, warnings: [] });
  expect(plot(80)).toEqual({
    corners: hull,
    warnings: [expect.stringMatching(/fills 64 %.*10000 m2: values per hectare/)],
  });
  expect(plot(30, 30)).toEqual({ corners: [], warnings: [expect.stringMatching(/fills 18 %.*no plot/)] });
});

test("plots apart: the density is that of their area", () => {
  const files = [file(0, 0, 20), file(73, 0, 20), file(0, 61, 20), file(160, 140, 20)];
  expect(layoutOf(files).covered_m2).toBeCloseTo(4 * 400, 6);
  expect(layoutOf([file(0, 0, 20), file(10, 0, 20)]).covered_m2).toBeCloseTo(600, 6);
});

test("comparisons that end early are said", () => {
  const files = [file(0, 0, 20), file(10, 0, 20), file(15, 5, 20)];
  expect(overlapsOf(files)).toMatchObject({ isComplete: true, overlaps: { length: 3 } });
  expect(overlapsOf(files, 2)).toMatchObject({ isComplete: false, overlaps: { length: 2 } });
});

test("plans warn of buffers and overlaps, and refuse a file under two names and braces", () => {
  const files = [file(0, 0, 100), file(100, 0, 100)];
  expect(planOf(files).warnings).toEqual([]);
  expect(planOf(files, "tiles: { buffer_m: 5 }\nground:\n").warnings).toEqual([
    expect.stringMatching(/5 is less than the 16 m/),
  ]);
  expect(planOf([...files, file(50, 0, 100)]).warnings).toEqual([expect.stringMatching(/^2 pairs of files overlap/)]);
  expect(() => planOf([...files, file(0, 0, 100, { path: "/data/copy.las" })])).toThrow(/the same points/);
  expect(() => planOf([file(0, 0, 100, { path: "/data/{a}/x.las" })])).toThrow(/braces/);
  const wide = "tiles: { size_m: 1000 }\nground:\nrasters: { cell_m: 0.5 }\n";
  expect(() => planOf(files, wide)).toThrow(/2064 x 2064 cells of 0.5 m, but the limit is 4000000/);
});

test("a point on the edge whose header is rounded down has a tile", () => {
  const edge = 100 - 1e-9;
  expect(planOf([file(0, 0, 100, { bounds: { min: [0, 0, 0], max: [edge, 90, 9] } })]).tiles).toHaveLength(2);
  expect(planOf([file(0, 0, 100, { bounds: { min: [0, 0, 0], max: [99.999, 90, 9] } })]).tiles).toHaveLength(1);
});

test("dangling links and links to folders are named as skipped", async () => {
  const root = folderOfTest("links-");
  mkdirSync(join(root, "flight"));
  mkdirSync(join(root, "other"));
  writeFileSync(join(root, "flight", "a.las"), "");
  symlinkSync(join(root, "none.laz"), join(root, "flight", "b.laz"));
  symlinkSync(join(root, "other"), join(root, "flight", "c"));
  const { paths, skipped } = await findFiles([join(root, "flight")], new AbortController().signal);
  expect([paths.length, skipped.map(({ reason }) => reason)]).toEqual([
    1,
    ["cannot be read (ENOENT)", expect.stringContaining("link to a folder")],
  ]);
});

test("jobs of a batch that was killed keep the next one out", async () => {
  const root = folderOfTest("pid-");
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  writeFileSync(join(root, "batch.pid"), `999999999 ${child.pid}`);
  await expect(withPid(root, async () => undefined)).rejects.toThrow(/jobs of a batch that was killed/);
  const closed = new Promise((done) => child.once("close", done));
  child.kill("SIGKILL");
  await closed;
  await expect(withPid(root, async () => undefined)).resolves.toBeUndefined();
});
