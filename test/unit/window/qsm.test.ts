import { expect, test } from "vitest";
import "../../../backend/window/no-eval.ts";
import type { CloudContext } from "../../../backend/window/operations/operation.ts";
import { qsm } from "../../../backend/window/operations/qsm.ts";
import { Scene } from "../../../backend/window/workflow/scene.ts";
import { createClient } from "../../../shared/client/index.ts";
import { forkedTree } from "../../support/qsm/stems.ts";
import { cloud } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });

/** A tree of 10,000 points whose leaves lie far out; without trees, and without `wood_class` where it has no `labels`. */
function leafyTree(labels = true): string[] {
  const out = [labels ? "x y z wood_class" : "x y z"];
  for (const [i, point] of forkedTree([0, 0, 0]).entries()) {
    out.push([...point, ...(labels ? [1] : [])].join(" "));
    if (labels && i % 4 === 0) out.push([point[0] + 3, point[1] + 2, point[2], 2].join(" "));
  }
  return out;
}

/** What the operation makes of a cloud that is the only one, and the number of sessions afterwards. */
async function modelled(rows: string[], values: object) {
  const tail = await cloud(made, rows);
  const client = createClient({ baseUrl: made.base });
  const { session_id, world_shift } = tail;
  const shown = { session_id, name: "tree.las", octree: tail, world_shift };
  const scene = new Scene();
  const context = {
    client,
    scene,
    clouds: { find: () => shown, selected: { value: session_id } },
    view: { addQsm: () => ({ visible: true, remove: () => undefined }) },
    run: { signal: new AbortController().signal, onProgress: () => undefined },
  };
  const outcome = await qsm.run(
    { wood_only: true, radius_model: "tapered", ...values },
    context as unknown as CloudContext,
  );
  expect(scene.objects.value).toHaveLength(1);
  return { outcome, sessions: (await client.listSessions()).sessions };
}

test("only wood: a cloud without trees is modelled without its leaves, and stays as it is", async () => {
  const { outcome, sessions } = await modelled(leafyTree(), {});
  expect(outcome?.warnings).toEqual(["The cloud has no column of trees: it was modelled as one tree."]);
  expect(outcome?.facts.map(([what]) => what)).toEqual(["Cylinders", "Height", "Stem base", "Wood", "Stems"]);
  expect(sessions).toHaveLength(1);
  expect(sessions[0]?.undo).toEqual({ deletions: 0, label_strokes: {} });
  await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${sessions[0]?.session_id}` });
  const bare = await modelled(
    leafyTree().filter((row) => !row.endsWith(" 2")),
    {},
  );
  expect(outcome?.facts).toEqual(bare.outcome?.facts);
  const all = await modelled(leafyTree(), { wood_only: false });
  expect(all.outcome?.facts).not.toEqual(bare.outcome?.facts);
});

test("what cannot be applied to a cloud without trees is told", async () => {
  const { outcome } = await modelled(leafyTree(false), { tree_ids: [2, 5] });
  expect(outcome?.warnings).toEqual([
    "The cloud has no column of trees: it was modelled as one tree.",
    "“Trees” (2, 5) was not applied, because no point has the number of a tree. Run “Trees” first.",
    "No wood labels: the cloud has no column wood_class, all points are used.",
  ]);
});

test("the limit of points is that of trees, and a refusal leaves no copy behind", async () => {
  await expect(modelled(leafyTree(), { max_points_per_tree: 10 })).rejects.toThrow("max_points_per_tree 10 is out of");
  const { sessions } = await createClient({ baseUrl: made.base }).listSessions();
  expect(sessions).toHaveLength(1);
});
