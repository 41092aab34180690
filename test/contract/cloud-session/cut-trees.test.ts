import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { CrownSuccess } from "../../../shared/contract/fit-crown.ts";
import { QsmBuildTail } from "../../../shared/contract/qsm.ts";
import { CUT_PLOT_HEAD, cutPlot } from "../../support/scans/cut-plot.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const opened = async (rows: readonly string[]) => (await cloud(made, rows)).session_id;
const inventory = (id: string, body: object = {}) =>
  tail(made, TreeInventoryTail, `/api/cloud/session/${id}/tree_inventory`, body);
const told = (warnings: readonly string[] | undefined) => (warnings ?? []).filter((one) => one.includes("was cut"));
const cuts = (list: TreeInventoryTail) =>
  list.trees.map(({ tree_id, cut_width_m, cut_top }) => [tree_id, (cut_width_m ?? 0) > 0, cut_top]);

/** Tree 9 stands at x = 6; its crown is 2.5 m wide to each side. */
const beside = (x: number) => x < 7;

test("an inventory tells the trees that the border of the cloud cuts, and how far", async () => {
  const whole = await inventory(await opened(cutPlot()));
  expect([cuts(whole), told(whole.warnings)]).toEqual([
    [
      [3, false, false],
      [4, false, false],
      [9, false, false],
    ],
    [],
  ]);
  const id = await opened(cutPlot(beside));
  const cut = await inventory(id);
  expect(cuts(cut)).toEqual([
    [3, false, false],
    [4, false, false],
    [9, true, false],
  ]);
  const [, , ninth] = cut.trees;
  expect(ninth?.cut_width_m).toBeGreaterThan(3);
  expect(ninth?.cut_width_m).toBeLessThan(5.5); // a chord of 4.6 m, with the clumps at its ends
  expect(told(cut.warnings)).toEqual([
    expect.stringMatching(
      /^1 of 3 trees ends where the cloud was cut \(tree 9 along \d\.\d m of its border\): what lies beyond is missing\. Crowns, and heights of trees whose top lies beyond, are those of the part within \(cut_width_m, cut_top\)\. A margin/,
    ),
  ]);
  expect(told((await inventory(id, { tree_ids: [3, 4] })).warnings)).toEqual([]);
  expect(told((await inventory(id, { tree_ids: [9] })).warnings)).toEqual([
    expect.stringMatching(/^The tree ends where the cloud was cut, along \d\.\d m of its border: /),
  ]);
});

test("cut trees without a stem may be parts of trees outside; a cloud cut off at a height is told", async () => {
  const list = await inventory(await opened(cutPlot((x) => x < 5)));
  expect(told(list.warnings)).toEqual([expect.stringMatching(/ 1 of them has no diameter and may be parts of trees/)]);
  const low = await inventory(await opened(cutPlot((_x, _y, z) => z < 8.5)));
  expect(cuts(low)).toEqual([
    [3, false, true],
    [4, false, true],
    [9, false, true],
  ]);
  expect(told(low.warnings)).toEqual([
    expect.stringMatching(/^3 of 3 trees end where the cloud was cut \(tree 3 above, tree 4 above, tree 9 above\)/),
  ]);
});

test("a stem whose middle lies outside the plot is told", async () => {
  const list = await inventory(await opened(cutPlot((x) => x < 5.97)));
  expect(list.trees.at(-1)?.dbh_m).toBeCloseTo(0.24, 2);
  expect(list.trees.at(-1)?.stem_base?.[0]).toBeCloseTo(6, 2);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^1 tree with a diameter stands outside the plot .* 33\.\d % of the basal area/),
  );
  expect(list.warnings.join()).toMatch(/trees? ends? where the cloud was cut/);
  const whole = await inventory(await opened(cutPlot()));
  expect(whole.warnings.join()).not.toMatch(/outside the plot/);
});

test("models of cut trees have no intervals", async () => {
  const id = await opened(cutPlot(beside));
  const list = await tail(made, TreeQsmTail, `/api/cloud/session/${id}/tree_qsm`, { include_models: false });
  expect(
    list.results.map(({ tree_id, metrics, cut_width_m }) => [
      tree_id,
      metrics?.total_woody_volume_ci95_m3 === null,
      cut_width_m > 3,
    ]),
  ).toEqual([
    [3, false, false],
    [4, false, false],
    [9, true, true],
  ]);
  expect(told(list.warnings)).toEqual([
    expect.stringMatching(/^1 of 3 trees ends .* Their models are those of the part within, without intervals/),
  ]);
  const one = cutPlot(beside).filter((row) => row === CUT_PLOT_HEAD || row.includes(" 9 2 "));
  const source = { session_id: await opened(one) };
  const built = await tail(made, QsmBuildTail, "/api/qsm/build", { source });
  expect(told(built.warnings)).toEqual([
    expect.stringMatching(/^The tree ends .* The model is that of the part within/),
  ]);
  expect(built.metrics?.total_woody_volume_ci95_m3).toBeNull();
});

test("crowns of cut trees are told, those beside them are not", async () => {
  const source = { session_id: await opened(cutPlot(beside)) };
  const fitted = (ids: readonly number[]) =>
    tail(made, CrownSuccess, "/api/fit/crown", { source, shape: "alpha", tree_instance_ids: ids, use_leaf_only: true });
  expect(told((await fitted([3, 4])).warnings)).toEqual([]);
  expect(told((await fitted([3, 9])).warnings)).toEqual([
    expect.stringMatching(/^1 of 2 trees ends .*\. Its crown is that of the part within, and so are volume/),
  ]);
});
