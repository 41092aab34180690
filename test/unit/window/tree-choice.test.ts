import { join } from "node:path";
import { expect, test } from "vitest";
import "../../../backend/window/no-eval.ts";
import { inventory } from "../../../backend/window/operations/inventory.ts";
import type { CloudContext } from "../../../backend/window/operations/operation.ts";
import { strings } from "../../../backend/window/strings.ts";
import type { CloudView, PickedPoint } from "../../../backend/window/view/cloud-view.ts";
import { Clouds } from "../../../backend/window/workflow/clouds.ts";
import { Jobs } from "../../../backend/window/workflow/jobs.ts";
import { TabMemory } from "../../../backend/window/workflow/memory.ts";
import { openProject, saveProject } from "../../../backend/window/workflow/project.ts";
import { Scene, type TreeList } from "../../../backend/window/workflow/scene.ts";
import { TreeChoice } from "../../../backend/window/workflow/tree-choice.ts";
import { UnsavedWork } from "../../../backend/window/workflow/unsaved-work.ts";
import { createClient } from "../../../shared/client/index.ts";
import { forestRows } from "../../support/scans/forest.ts";
import { cloud } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const RUN = { signal: new AbortController().signal, onProgress: () => undefined };
const TREES = [
  { id: 3, x: 6, y: 6, dbh_m: 0.3 },
  { id: 8, x: 11, y: 6, dbh_m: 0.2 },
];
const CORNER = { kind: "box" as const, min: [-10, -10, -10] as const, max: [7, 20, 2] as const };

/** The page without its elements: clouds, tree list and a view that notes what it shows. */
function openPage() {
  const highlighted: (number | null)[] = [];
  let pick: (point: PickedPoint | null) => void = () => undefined;
  const view = {
    addCloud: async () => undefined,
    updateCloud: async () => undefined,
    removeCloud: () => undefined,
    setVisible: () => undefined,
    setColouring: () => undefined,
    colouring: () => ({ kind: "height" }),
    fit: () => undefined,
    highlightTree: (id: number | null) => void highlighted.push(id),
    onPick: (handler: typeof pick) => {
      pick = handler;
    },
  } as unknown as CloudView;
  const client = createClient({ baseUrl: made.base });
  const storage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
  const failures: unknown[] = [];
  const clouds = new Clouds({
    client,
    view,
    jobs: new Jobs((_, error) => failures.push(error)),
    memory: new TabMemory(storage as unknown as Storage, () => undefined),
    texts: strings.workflow.clouds,
    onFailure: (error) => failures.push(error),
  });
  const scene = new Scene();
  const choice = new TreeChoice(view, scene, clouds);
  const unsaved = new UnsavedWork();
  const parts = { client, view, clouds, scene, unsaved, texts: strings.workflow, run: RUN };
  const listTrees = () =>
    inventory.run({ min_points: 20 }, { ...parts, confirmCost: async () => true } as unknown as CloudContext);
  const pickTree = (session_id: string, id: number) =>
    pick({ session_id, position: [0, 0, 0], position_stored: [0, 0, 0], values: { tree_instance: id } });
  return { client, clouds, scene, choice, parts, highlighted, failures, listTrees, pickTree };
}

/** A page with a forest whose trees are listed. */
async function listed() {
  const { session_id } = await cloud(made, forestRows(TREES));
  const page = openPage();
  await page.clouds.refresh();
  page.clouds.selected.set(session_id);
  const outcome = await page.listTrees();
  const state = () => {
    const { list, is_stale, chosen } = page.choice.shown.value;
    return { trees: list?.trees.map(({ tree_id }) => tree_id), is_stale, chosen };
  };
  return { ...page, session_id, outcome, state };
}

test("a tree of a list that fits its cloud is chosen in the view and in the list", async () => {
  const { choice, pickTree, session_id, highlighted, state } = await listed();
  expect(state()).toEqual({ trees: [3, 8], is_stale: false, chosen: null });
  choice.choose(8);
  pickTree(session_id, 3);
  pickTree(session_id, 4); // not in the list
  pickTree("another", 8);
  expect([highlighted, state().chosen, choice.shown.value.is_picked]).toEqual([[8, 3], 3, true]);
});

test("after a deletion the list is stale: no tree is chosen, none can be; after the undo it fits again", async () => {
  const { client, clouds, choice, session_id, pickTree, highlighted, state } = await listed();
  choice.choose(3);
  await client.deleteRegion(session_id, { region: { ...CORNER, min: [...CORNER.min], max: [...CORNER.max] } });
  await clouds.learn();
  expect([state(), highlighted]).toEqual([{ trees: [3, 8], is_stale: true, chosen: null }, [3, null]]);
  choice.choose(8);
  pickTree(session_id, 8);
  expect([state().chosen, highlighted]).toEqual([null, [3, null]]);
  await client.resetEdits(session_id, { edit_count: 0 });
  await clouds.learn();
  choice.choose(8);
  expect(state()).toEqual({ trees: [3, 8], is_stale: false, chosen: 8 });
});

test("after other tree numbers the list is stale until it is made again; its file knows which trees it lists", async () => {
  const { client, clouds, session_id, outcome, listTrees, state, scene } = await listed();
  expect(outcome?.file?.trees).toEqual({ session_id, tree_version: scene.trees.value?.tree_version });
  const region = { ...CORNER, min: [...CORNER.min], max: [8.5, 20, 50] } as never;
  const strokes = [{ stroke_id: "a", region, to_class: 8 }];
  await client.labelRegion(session_id, { slug: "tree_instance", strokes });
  await clouds.renew(session_id); // as after every edit and operation
  await expect.poll(() => state().is_stale).toBe(true);
  await listTrees();
  expect(state()).toMatchObject({ trees: [8], is_stale: false });
  await client.resetLabelEdits(session_id, { slug: "tree_instance" }); // elsewhere: this page does not hear of it
  await listTrees();
  expect(state()).toMatchObject({ trees: [3, 8], is_stale: false });
});

test("a project keeps whether its list fits its cloud", async () => {
  const { client, clouds, parts, scene, session_id, choice, failures } = await listed();
  await clouds.show(session_id);
  const reopened = async (name: string) => {
    const path = join(made.folder, name);
    await saveProject({ path, overwrite: false }, parts);
    await openProject(path, parts);
    return [scene.trees.value?.session_id === session_id, choice.shown.value.is_stale];
  };
  const [list] = [scene.trees.value as TreeList];
  expect(await reopened("fits.proj")).toEqual([false, false]);
  scene.trees.set(list);
  await client.deleteRegion(session_id, { region: { ...CORNER, min: [...CORNER.min], max: [...CORNER.max] } });
  await clouds.renew(session_id);
  expect(await reopened("stale.proj")).toEqual([false, true]);
  expect(failures).toEqual([]);
});

test("a list of an earlier version, which does not tell what it was made from, is shown as before", async () => {
  const { client, clouds, scene, session_id, state } = await listed();
  const { tree_version: _, ...earlier } = scene.trees.value as TreeList;
  scene.trees.set(earlier);
  await client.deleteRegion(session_id, { region: { ...CORNER, min: [...CORNER.min], max: [...CORNER.max] } });
  await clouds.learn();
  expect(state().is_stale).toBe(false);
});

test("an answer that was overtaken by a later one is not used", async () => {
  const { client, clouds, session_id } = await listed();
  const answers: (() => void)[] = [];
  const sessions = async (tree_version: string) => {
    const [summary] = (await client.listSessions()).sessions;
    return { sessions: [{ ...summary, tree_version }] };
  };
  const [first, second] = [await sessions("first"), await sessions("second")];
  const queue = [first, second];
  Object.assign(client, {
    listSessions: () => {
      const value = queue.shift();
      return new Promise((resolve) => answers.push(() => resolve(value)));
    },
  });
  const both = [clouds.learn(), clouds.learn()];
  answers[1]?.();
  await both[1];
  answers[0]?.();
  await both[0];
  expect(clouds.find(session_id)?.summary?.tree_version).toBe("second");
});

test("a failure to learn the state of the sessions is reported, not thrown", async () => {
  const { client, clouds, failures } = await listed();
  const lost = new Error("lost");
  Object.assign(client, { listSessions: () => Promise.reject(lost) });
  await clouds.learn();
  expect(failures).toEqual([lost]);
});
