import { join } from "node:path";
import { expect, test } from "vitest";
import { SessionsResponse } from "../../../shared/contract/cloud-session/sessions.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { TestApp } from "../../support/app/app.ts";
import { opened, saved } from "../../support/project/project.ts";
import { forestRows } from "../../support/scans/forest.ts";
import { deadCopy, restartWith, untouched } from "../../support/session/dead-session.ts";
import { checked, cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const measure = (id: string) => tail(made, TreeInventoryTail, `/api/cloud/session/${id}/tree_inventory`, {});
const TREES = [
  { id: 3, x: 6, y: 6, dbh_m: 0.3 },
  { id: 8, x: 11, y: 6, dbh_m: 0.2 },
];
const forest = () => cloud(made, forestRows(TREES));

/** tree_version of a session in the list of sessions. */
async function versionOf({ app }: Pick<TestApp, "app">, id: string): Promise<string | undefined> {
  const { sessions } = checked(SessionsResponse, (await app.inject({ url: "/api/cloud/sessions" })).json());
  return sessions.find(({ session_id }) => session_id === id)?.tree_version;
}
const inAll = { kind: "box", min: [-100, -100, -100], max: [100, 100, 100] };
const inPart = { ...inAll, max: [7, 100, 2] };

test("tree_version differs while points or tree numbers are others, and only then", async () => {
  const { session_id } = await forest();
  const first = (await measure(session_id)).tree_version;
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  const post = async (action: string, payload: object) =>
    expect((await made.post(session_id, action, payload)).statusCode).toBe(200);
  const now = () => versionOf(made, session_id);
  expect(await now()).toBe(first);
  const seen = new Set([first]);
  await post("delete_region", { region: { ...inAll, min: [99, 99, 99] } }); // nothing is there
  expect(await now()).toBe(first);
  for (const [change, payload, undo, back] of [
    ["delete_region", { region: inPart }, "reset_edits", { edit_count: 0 }],
    ["label_region", tree(7), "reset_label_edits", { slug: "tree_instance" }],
    ["label_region", tree(8), "reset_label_edits", { slug: "tree_instance" }],
  ] as const) {
    await post(change, payload);
    const changed = await now();
    expect(seen).not.toContain(changed);
    seen.add(changed);
    await post(undo, back);
    expect(await now()).toBe(first);
  }
  await post("label_region", { strokes: [{ stroke_id: "a", region: inAll, to_class: 4 }] }); // of another column
  expect(await now()).toBe(first);
  await post("delete_region", { region: inPart });
  const list = await measure(session_id);
  expect([list.success, list.tree_version]).toEqual([true, await now()]);
  expect(list.tree_version).not.toBe(first);
  await post("transform", { matrix: [1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] });
  expect([first, list.tree_version]).not.toContain(await now());
});

const tree = (id: number) => ({
  slug: "tree_instance",
  strokes: [{ stroke_id: `${id}`, region: inPart, to_class: id }],
});

test("a cloud without trees has no tree_version", async () => {
  const { session_id } = await cloud(made, ["x y z", "0 0 0", "1 0 0"]);
  expect(await versionOf(made, session_id)).toBeUndefined();
});

test("tree_version is the same after a restart, and in a project that is opened", async () => {
  const { session_id } = await forest();
  const first = await versionOf(made, session_id);
  const restarted = async () => {
    const template = await deadCopy(made, session_id);
    const again = await restartWith(template, { "0000aaaa": untouched });
    return versionOf(again, "0000aaaa");
  };
  const inProject = async (name: string) => {
    await saved(made, join(made.folder, name), [session_id]);
    const { session_map } = await opened(made, join(made.folder, name));
    return versionOf(made, session_map[session_id] ?? "");
  };
  expect([first, await restarted(), await inProject("one.proj")]).toEqual([first, first, first]);
  expect((await made.post(session_id, "delete_region", { region: inPart })).statusCode).toBe(200);
  expect((await made.post(session_id, "label_region", tree(8))).statusCode).toBe(200);
  const changed = await versionOf(made, session_id);
  expect(changed).not.toBe(first);
  expect([await restarted(), await inProject("two.proj")]).toEqual([changed, changed]);
});
