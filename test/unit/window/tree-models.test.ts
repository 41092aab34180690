import { expect, test } from "vitest";
import "../../../backend/window/no-eval.ts";
import { qsm } from "../../../backend/window/operations/qsm.ts";

const cloud = { name: "plot.laz", session_id: "s", octree: { attributes: [{ name: "tree_instance" }] } };

test("the result of tree models tells what their models warn of", async () => {
  const results = [1, 2].map((tree_id) => ({
    tree_id,
    success: true,
    metrics: null,
    warnings: [`${tree_id} % leaves`],
  }));
  const context = {
    client: { treeQsm: async () => ({ success: true, results, warnings: ["No wood labels."] }) },
    clouds: { selected: { value: "s" }, find: () => cloud },
  };
  const outcome = await qsm.run({}, context as never);
  expect(outcome?.warnings).toEqual(["No wood labels.", "2 of 2 models (trees 1, 2): 1 to 2 % leaves."]);
});
