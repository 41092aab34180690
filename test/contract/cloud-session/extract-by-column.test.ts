import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { Job } from "../../../backend/jobs/job.ts";
import { addon } from "../../../backend/native/core/addon.ts";
import { askAboutExtraction } from "../../../backend/services/cloud/extraction-cost.ts";
import { ExtractByColumnTail } from "../../../shared/contract/cloud-session/extract-by-column.ts";
import { CostRefusal } from "../../../shared/contract/cost-warning.ts";
import { run } from "../../support/app/app.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import {
  amid,
  canceledAmid,
  cloud,
  columnOf,
  failed,
  lineCloud,
  octreeXs,
  refusal,
  stateOf,
  streamed,
  tail,
  UNKNOWN,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { remove } = made;
const url = (id: string) => `/api/cloud/session/${id}/extract_by_column`;
const extract = (id: string, body: object = {}) => tail(made, ExtractByColumnTail, url(id), { slug: "class", ...body });
const childXs = async ({ children }: ExtractByColumnTail) =>
  Promise.all(children.map(async ({ value, session_id }) => [value, await xs(made, session_id)]));

test("one session per value, in ascending order, rows in order; 0 is excluded", async () => {
  const { session_id } = await lineCloud(made, [7, 0, 2, 7, 2, 0, 3], 1);
  const before = await stateOf(made, session_id);
  const { tail: answer, stages } = await streamed(made, ExtractByColumnTail, url(session_id), { slug: "class" });
  expect(answer.session_id).toBe(session_id);
  expect(await childXs(answer)).toEqual([
    [2, [2, 4]],
    [3, [6]],
    [7, [0, 3]],
  ]);
  for (const child of answer.children) {
    expect(octreeXs(made, child.cache_id)).toEqual(await xs(made, child.session_id));
    expect(child.observed_classes).toEqual({ class: [child.value], is_miss: [0] });
    const { meta } = await stateOf(made, child.session_id);
    expect(meta.unrestorable_hit_count).toBe(7 - child.point_count);
  }
  expect(answer.parent).toBeUndefined();
  const { columns, undo } = await stateOf(made, session_id);
  expect([columns, undo]).toEqual([before.columns, before.undo]);
  const third = Math.round(1e4 / 3) / 1e4;
  expect(stages.slice(1)).toEqual([
    [null, "Slicing clouds"],
    [0, "Building 0 of 3 clouds"],
    [third, "Building 1 of 3 clouds"],
    [Math.round(2e4 / 3) / 1e4, "Building 2 of 3 clouds"],
    [1, "Building 3 of 3 clouds"],
  ]);
});

test.each([
  [[], [0, 2, 7]],
  [null, [2, 7]],
  [[2], [0, 7]],
  [[0, 2, 7], []],
])("exclude_values %j leaves %j", async (exclude_values, values) => {
  const { session_id } = await lineCloud(made, [7, 0, 2, 7]);
  expect((await extract(session_id, { exclude_values })).children.map(({ value }) => value)).toEqual(values);
});

test("values are rounded; values that only deleted points or misses have get no session", async () => {
  const { session_id } = await cloud(made, [
    "x y z class is_miss",
    "0 0 0 1.2 0",
    "1 0 0 0.8 0",
    "2 0 0 5 0",
    "3 0 0 -2 0",
    "4 0 900 9 1",
  ]);
  await remove(session_id, 2, 2);
  expect(await childXs(await extract(session_id))).toEqual([
    [-2, [3]],
    [1, [0, 1]],
  ]);
});

test("include_misses appends the misses to the hits of every child", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 1], 2, { origin: [0, 0, 1] });
  const answer = await extract(session_id, { include_misses: true });
  expect(await childXs(answer)).toEqual([
    [1, [0, 2, 0, 1]],
    [2, [1, 0, 1]],
  ]);
  for (const { session_id: id, point_count } of answer.children) {
    expect((await columnOf(made, id, "extra/is_miss"))?.filter((flag) => flag === 1)).toHaveLength(2);
    expect((await stateOf(made, id)).meta.octree_point_count).toBe(point_count + 2);
    expect((await stateOf(made, id)).meta.miss_octree_cache_id).toMatch(/^[0-9a-f]{40}$/);
  }
});

test("rebuild_parent also builds the octree of the original session in the same run", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 2]);
  await remove(session_id, 0, 0);
  const { tail: answer, stages } = await streamed(made, ExtractByColumnTail, url(session_id), {
    slug: "class",
    rebuild_parent: true,
  });
  expect(answer.parent).toMatchObject({ session_id, point_count: 2 });
  expect(octreeXs(made, answer.parent?.cache_id ?? "")).toEqual([1, 2]);
  expect(stages.at(-1)).toEqual([1, "Building 2 of 2 clouds"]);
  const { meta, undo } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, undo.deletes.length]).toEqual([answer.parent?.cache_id, 1]);
});

test("a deletion during the run takes precedence over the parent's octree; the children are created", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 2]);
  const answer = await amid(
    "octreeContentHash",
    () => remove(session_id, 0, 0),
    () => extract(session_id, { rebuild_parent: true }),
  );
  expect(await childXs(answer)).toEqual([
    [1, [0]],
    [2, [1, 2]],
  ]);
  expect(answer.parent).toMatchObject({ octree_stale: true, point_count: 3 });
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, answer.parent?.cache_id]);
});

test("a cancel removes every child", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3, 4]);
  const before = made.deps.sessions.list().length;
  const { outcome } = await canceledAmid(made, "octreeContentHash", () =>
    run(made, url(session_id), { slug: "class" }),
  );
  expect(outcome.kind).toBe("canceled");
  expect(made.deps.sessions.list()).toHaveLength(before);
});

test("a failure removes all children, including finished ones; the tail has an error and no children", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  const before = made.deps.sessions.list().length;
  const memory = addon.bulkBytesInUse();
  const act = async () => {
    throw new Error("the disk is gone");
  };
  const send = () => failed(made, url(session_id), { slug: "class" });
  expect(await amid("octreeContentHash", act, send, 12)).toEqual({
    error: "the disk is gone",
    tail: { success: false, error: "the disk is gone", code: "internal", children: [] },
  });
  expect(made.deps.sessions.list()).toHaveLength(before);
  expect(addon.bulkBytesInUse()).toBe(memory);
  await eventually(() => expect(readdirSync(made.sessions).filter((name) => name.endsWith(".new"))).toEqual([]));
});

test.each([
  ["alone", 0],
  ["with misses", 2000],
])("the memory of a finished child is available to the next one: hits %s", async (_what, misses) => {
  const classes = Array.from({ length: 100 }, (_, i) => i + 1);
  const { session_id } = await lineCloud(made, classes, misses, { origin: [0, 0, 1] });
  const { columns } = await stateOf(made, session_id);
  const held: number[] = [];
  const build = addon.octreeBuild;
  addon.octreeBuild = (...args) => {
    held.push(addon.bulkBytesInUse());
    return build(...args);
  };
  try {
    expect((await extract(session_id, { include_misses: misses > 0 })).children).toHaveLength(100);
  } finally {
    addon.octreeBuild = build;
  }
  const child = [...columns.values()].reduce((sum, { native }) => sum + native.bytes + 4096, 0);
  // Medians: for a moment several finished children may wait for the event loop.
  const median = (values: readonly number[]) => [...values].sort((x, y) => x - y)[values.length >> 1] ?? 0;
  expect(median(held.slice(-25)) - median(held.slice(0, 25))).toBeLessThan(2 * child + 64 * 4096);
});

test("requests rejected before the stream", async () => {
  expect(await refusal(made, url("00000000"), { slug: "class" })).toEqual(UNKNOWN);
  const { session_id } = await lineCloud(made, [1]);
  expect(await refusal(made, url(session_id), { slug: "clas" })).toEqual([
    400,
    "Unknown scalar attribute: 'clas'. Available: [class, is_miss]",
  ]);
  expect((await refusal(made, url(session_id), {}))[0]).toBe(422);
  expect((await refusal(made, url(session_id), { slug: "class", exclude_values: [0.5] }))[0]).toBe(422);
});

test("misspelt keys are named in the warnings", async () => {
  const { session_id } = await lineCloud(made, [1]);
  expect((await extract(session_id, { exclude: [1] })).warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "exclude".',
  ]);
});

test("more than 1000 sessions are asked about", async () => {
  const clouds = 1001;
  const rows = Array.from({ length: 2 * clouds }, (_, i) => `${i} 0 0 ${i >> 1}`);
  const { session_id } = await cloud(made, ["x y z id", ...rows]);
  const open = () => made.deps.sessions.list().length;
  const sessions = open();
  const asked = await made.app.inject({
    method: "POST",
    url: url(session_id),
    payload: { slug: "id", exclude_values: [] },
  });
  expect(asked.statusCode).toBe(409);
  const { detail } = CostRefusal.strict().parse(asked.json());
  expect(detail.cost_warning).toMatchObject({ session_count: clouds, over_memory: false });
  expect(detail.message).toBe(
    `Extraction by id creates ${clouds} clouds, one per value. Send the request again with acknowledge_cost to run it.`,
  );
  expect(open()).toBe(sessions);
});

test("hundreds of sessions hold no descriptors", async () => {
  const clouds = 300;
  const rows = Array.from({ length: 2 * clouds }, (_, i) => `${i} 0 0 ${i >> 1}`);
  const { session_id } = await cloud(made, ["x y z id", ...rows]);
  const open = () => made.deps.sessions.list().length;
  const [sessions, descriptors] = [open(), openDescriptors()];
  const { children } = await tail(made, ExtractByColumnTail, url(session_id), {
    slug: "id",
    exclude_values: [],
    acknowledge_cost: true,
  });
  expect([children.length, open()]).toEqual([clouds, sessions + clouds]);
  await eventually(() => expect(openDescriptors()).toBeLessThan(descriptors + 50));
});

test("1000 sessions are not asked about; excluded values do not count", async () => {
  const rows = Array.from({ length: 1001 }, (_, i) => `${i} 0 0 ${i}`);
  const { session_id } = await cloud(made, ["x y z id", ...rows]);
  let asked = 0;
  const job = new Job();
  const session = await made.deps.sessions.get(session_id);
  for (const exclude_values of [[0], [5000]]) {
    const request = { slug: "id", exclude_values, acknowledge_cost: false };
    await askAboutExtraction(session, request, made.deps, job).catch(() => {
      asked += 1;
    });
    expect(asked).toBe(exclude_values[0] === 0 ? 0 : 1);
  }
  job.releaseAdopted();
});

/** Linux only; elsewhere the numbers are equal. */
const openDescriptors = (): number => (existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0);
