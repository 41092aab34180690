import { expect, test } from "vitest";
import { measurePlot } from "../../../../backend/cli/inventory/steps.ts";
import { modelWood } from "../../../../backend/cli/inventory/wood.ts";

const tree = (tree_id: number, more: object) => ({ tree_id, success: true, metrics: null, ...more });

test("what the models of trees warn of is in the warnings, with the trees that have none", async () => {
  const results = [
    tree(1, { metrics: { total_woody_volume_m3: 2 }, warnings: ["50 % runs through leaves"] }),
    tree(2, { warnings: ["52 % runs through leaves"] }),
    tree(3, { success: false, error: "too few points" }),
  ];
  const client = { treeQsm: async () => ({ results, warnings: ["No wood labels."] }) };
  const run = { client, progress: { stage: () => undefined, update: () => undefined } };
  const wood = await modelWood({ tail: { session_id: "s" } } as never, { align: true }, run as never);
  expect(wood.volumes).toEqual({ 1: 2 });
  expect(wood.warnings).toEqual([
    "No wood labels.",
    "2 of 2 models (trees 1, 2): 50 to 52 % runs through leaves.",
    "1 of 3 trees have no model of their wood; tree 3: too few points.",
  ]);
});

test.each([true, false])("trees and models leave noise out as the segmentation did: %j", async (skip_noise) => {
  const asked: unknown[] = [];
  const take = (answer: object) => async (_id: string, request: object) => {
    asked.push(request);
    return answer;
  };
  const client = {
    treeQsm: take({ results: [], warnings: [] }),
    treeInventory: take({ trees: [], warnings: [] }),
  };
  const run = { client, progress: { stage: () => undefined, update: () => undefined } };
  const plot = { tail: { session_id: "s" }, method: "auto", is_airborne: false, skip_noise };
  await modelWood(plot as never, { align: false }, run as never);
  await measurePlot(plot as never, {} as never, run as never);
  expect(asked).toEqual([expect.objectContaining({ skip_noise, align_scans: false }), { skip_noise }]);
});
