import { expect, test } from "vitest";
import { openRun } from "../../support/app/live-run.ts";
import { type ForestTree, forestRows } from "../../support/scans/forest.ts";
import { inventories, inventoryUrl as url } from "../../support/session/inventories.ts";
import { amid, cloud, refusal, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const { forest, measure, refusedTail } = inventories(made);

test.each([
  [{ fit_method: "magic" }, /fit method/],
  [{ slice_thickness_m: 0, crown_gap_m: -1 }, /slice_thickness_m \(0\), crown_gap_m \(-1\)/],
  [{ stem_curve_step_m: 1e-9 }, /stem_curve_step_m/],
])("%j is a failure in the tail", async (body, said) => {
  const { session_id } = await forest();
  const answer = await refusedTail(session_id, body);
  expect([answer.success, answer.code, answer.trees, answer.params]).toEqual([false, "invalid_argument", [], null]);
  expect(answer.error).toMatch(said);
});

test("a cloud without trees is told to segment them", async () => {
  const { session_id } = await cloud(made, ["x y z", "0 0 0", "1 0 0"]);
  const answer = await refusedTail(session_id);
  expect([answer.success, answer.stand]).toEqual([false, null]);
  expect(answer.error).toMatch(/Segment Trees/);
  const empty = await cloud(made, ["x y z tree_instance", "0 0 0 0", "1 0 0 0"]);
  expect((await refusedTail(empty.session_id)).error).toMatch(/No point has a tree/);
});

test("an unknown session is a 404, unknown keys are named", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  const { session_id } = await forest();
  expect((await measure(session_id, { min_point: 3 })).warnings[0]).toContain('"min_point"');
  expect((await made.post(session_id, "tree_inventory", { min_points: 0 })).statusCode).toBe(422);
});

test("an edit during the run ends it", async () => {
  const { session_id } = await forest();
  const list = await amid(
    "treeInventory",
    () => made.remove(session_id, 5, 7),
    () => refusedTail(session_id),
  );
  expect([list.success, list.code, list.trees]).toEqual([false, "conflict", []]);
  expect(list.error).toMatch(/cloud changed.*run it again/);
});

test("a cancel ends the run between trees and changes nothing", async () => {
  const many = Array.from(
    { length: 300 },
    (_, i): ForestTree => ({ id: i + 1, x: 5 * (i % 20), y: 5 * Math.floor(i / 20), dbh_m: 0.3, count: 300 }),
  );
  const { session_id } = await forest({}, forestRows(many));
  const live = await openRun(made.base, url(session_id), { fit_method: "hough" });
  while (!live.markers.some(({ message }) => message.startsWith("Measuring tree")))
    await new Promise((r) => setTimeout(r, 5));
  const shown = live.markers.find(({ message }) => /^Measuring tree \d+ of 300$/.test(message));
  expect(shown?.progress).toBeGreaterThanOrEqual(0.05);
  expect(shown?.progress).toBeLessThanOrEqual(0.9);
  const { canceled, outcome, own_ms } = await live.cancel();
  expect([canceled, outcome.kind]).toEqual([true, "canceled"]);
  expect(own_ms).toBeLessThan(250);
  expect((await measure(session_id, { tree_ids: [1] })).success).toBe(true);
});
