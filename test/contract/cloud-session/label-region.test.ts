import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { LabelRegionResponse } from "../../../shared/contract/cloud-session/label-region.ts";
import { MAX_LABEL_STROKES } from "../../../shared/limits.ts";
import { appOfTest } from "../../support/app/app.ts";
import { eventually } from "../../support/run/stopwatch.ts";
import { bigLasBytes } from "../../support/scans/las-bytes.ts";
import {
  answered,
  cloud,
  columnOf,
  lineCloud,
  lineRows,
  refusal,
  slab,
  stateOf,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/label_region`;
const paint = (id: string, strokes: readonly object[], more: object = {}) =>
  answered(made, LabelRegionResponse, url(id), { strokes, ...more });
const stroke = (stroke_id: string, from: number, to: number, to_class: number, more: object = {}) => ({
  stroke_id,
  region: slab(from, to),
  to_class,
  ...more,
});
const labels = (id: string, slug = "manual_class") => columnOf(made, id, `extra/${slug}`);

test("a new column starts at 0; strokes are applied in order", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1], 1);
  expect(await paint(session_id, [stroke("a", 0, 2, 7), stroke("b", 2, 3, 5)])).toEqual({
    session_id,
    slug: "manual_class",
    created_column: true,
    applied: [
      { stroke_id: "a", selected_count: 3, changed_count: 3 },
      { stroke_id: "b", selected_count: 2, changed_count: 2 },
    ],
    class_counts: { 0: 1, 5: 2, 7: 2 },
    value_range: [0, 7],
    label_edit_count: 2,
  });
  expect(await labels(session_id)).toEqual([7, 7, 5, 5, 0, 0]); // the miss keeps its 0
  const { meta } = await stateOf(made, session_id);
  expect(meta.extra_dims_meta.at(-1)).toEqual({ slug: "manual_class", label: "Manual Class" });
});

test("a stroke that changes nothing is not recorded in the history", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  await paint(session_id, [stroke("a", 0, 0, 3)]);
  const again = await paint(session_id, [stroke("b", 0, 0, 3), stroke("c", 50, 60, 3)]);
  expect(again).toMatchObject({ created_column: false, label_edit_count: 1 });
  expect(again.applied).toEqual([
    { stroke_id: "b", selected_count: 1, changed_count: 0 },
    { stroke_id: "c", selected_count: 0, changed_count: 0 },
  ]);
});

test("deleted points are not painted", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await made.remove(session_id, 1, 1);
  const { class_counts, applied } = await paint(session_id, [stroke("a", 0, 2, 4)]);
  expect([class_counts, applied[0]?.selected_count]).toEqual([{ 4: 2 }, 2]);
  expect(await labels(session_id)).toEqual([4, 0, 4]);
});

test("from_classes, exclude_classes and limit_box restrict the painted points", async () => {
  const { session_id } = await lineCloud(made, [1, 2, 3, 1, 2]);
  const slug = { slug: "class" };
  await paint(session_id, [stroke("a", 0, 4, 9, { from_classes: [1, 2], exclude_classes: [2] })], slug);
  expect(await labels(session_id, "class")).toEqual([9, 2, 3, 9, 2]);
  await paint(session_id, [stroke("b", 0, 4, 8, { from_classes: [] })], slug); // none of no classes
  expect(await labels(session_id, "class")).toEqual([9, 2, 3, 9, 2]);
  await paint(session_id, [stroke("c", 0, 4, 7, { limit_box: slab(3, 9) })], slug);
  expect(await labels(session_id, "class")).toEqual([9, 2, 3, 7, 7]);
});

test.each([
  ["noise_class", [1, 2, 1]],
  ["las_classification", [5, 7, 5]],
  ["las_classification", [5, 18, 5]],
])("skip_noise leaves out what %s names as noise (%j), and says so", async (slug, [first, noise, last]) => {
  const rows = [`x y z ${slug}`, `0 0 0 ${first}`, `1 0 0 ${noise}`, `2 0 0 ${last}`];
  const { session_id } = await cloud(made, rows);
  const { applied, warnings } = await paint(session_id, [stroke("a", 0, 2, 4)], { skip_noise: true });
  expect([applied[0]?.selected_count, await labels(session_id)]).toEqual([2, [4, 0, 4]]);
  expect(warnings).toEqual([
    "1 point that is labelled as noise (noise_class 2, LAS classes 7 and 18) is given no manual_class.",
  ]);
  const all = await paint(session_id, [stroke("b", 0, 2, 4)]);
  expect([all.warnings, await labels(session_id)]).toEqual([undefined, [4, 4, 4]]);
});

test("skip_noise of a cloud without noise paints all", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const answer = await paint(session_id, [stroke("a", 0, 1, 4)], { skip_noise: true });
  expect([answer.warnings, await labels(session_id)]).toEqual([undefined, [4, 4]]);
});

test("classes are rounded before they are compared", async () => {
  const { session_id } = await cloud(made, ["x y z score", "0 0 0 1.4", "1 0 0 1.6", "2 0 0 2.4"]);
  await paint(session_id, [stroke("a", 0, 2, 5, { from_classes: [2] })], { slug: "score" });
  const score = await labels(session_id, "score");
  expect(score?.map((value) => Math.round(value * 10) / 10)).toEqual([1.4, 5, 5]);
});

test("instance columns hold values up to 2^24 and widen as needed", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  await paint(session_id, [stroke("a", 0, 0, 2 ** 24)], { slug: "tree_instance", label: "Tree" });
  expect(await labels(session_id, "tree_instance")).toEqual([2 ** 24, 0]);
  expect((await stateOf(made, session_id)).meta.extra_dims_meta.at(-1)?.label).toBe("Tree");
});

test("the octree lacks the labels but is not stale", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const { octree_cache_id, octree_stale_gen } = (await stateOf(made, session_id)).meta;
  await paint(session_id, [stroke("a", 0, 0, 3)]);
  expect((await stateOf(made, session_id)).meta).toMatchObject({ octree_cache_id, octree_stale_gen });
});

test("the history is limited and drops the oldest strokes first", async () => {
  const unsaved = await appOfTest({ sessionJournal: false }); // the cap is the same; 4000 flushed files are not the point
  const { session_id } = await lineCloud(unsaved, [1]);
  const strokes = Array.from({ length: MAX_LABEL_STROKES + 2 }, (_, i) => stroke(`s${i}`, 0, 0, 1 + (i % 2)));
  const [first, rest] = [strokes.slice(0, 2), strokes.slice(2)];
  await answered(unsaved, LabelRegionResponse, url(session_id), { strokes: first });
  const { label_edit_count } = await answered(unsaved, LabelRegionResponse, url(session_id), { strokes: rest });
  expect(label_edit_count).toBe(MAX_LABEL_STROKES);
  const [oldest] = (await stateOf(unsaved, session_id)).undo.labels.get("manual_class") ?? [];
  expect(oldest?.stroke_id).toBe("s2");
});

test("many strokes need no more memory than one, and the memory is admitted", async () => {
  const points = 200_000;
  const { session_id } = await cloud(made, bigLasBytes(points));
  const all = { kind: "box", min: [-1e9, -1e9, -1e9], max: [1e9, 1e9, 1e9] };
  const strokes = Array.from({ length: 60 }, (_, i) => stroke(`s${i}`, 0, 0, i + 1, { region: all }));
  const before = addon.bulkBytesInUse();
  const peak = { bytes: 0, admitted: 0 };
  let ended = false;
  const look = () => {
    peak.bytes = Math.max(peak.bytes, addon.bulkBytesInUse() - before);
    peak.admitted = Math.max(peak.admitted, made.deps.admission.memory().admitted_bytes);
    if (!ended) setImmediate(look);
  };
  look();
  const { applied } = await paint(session_id, strokes);
  ended = true;
  expect(applied.at(-1)?.changed_count).toBe(points);
  expect(peak.bytes).toBeGreaterThan(points); // it was looked at
  expect(peak.bytes).toBeLessThan(8 * points); // 120 with one mask and one column kept per stroke
  expect(peak.admitted).toBeGreaterThan(peak.bytes);
});

test("a run that waits for memory inside the session's lock leaves when it is canceled", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const large = made.deps.jobs.run((job) => made.deps.admission.run(job, "large", 1e15, () => gate));
  const waiting = made.app.inject({
    method: "POST",
    url: url(session_id),
    payload: { strokes: [stroke("a", 0, 0, 1)] },
  });
  await eventually(async () => expect((await made.deps.sessions.get(session_id)).busy).toBe(true));
  made.deps.jobs.cancelAll();
  expect((await waiting).statusCode).toBe(499);
  release();
  await large;
  expect(await labels(session_id)).toBeUndefined();
});

describe("a rejected request changes nothing, including the strokes before the invalid one", () => {
  const shared = made.shared(lineRows([1, 2]));
  const good = stroke("good", 0, 1, 1);
  test.each([
    [{ strokes: [] }, "strokes is empty: give at least one"],
    [
      { strokes: Array.from({ length: 2001 }, () => good) },
      "strokes has 2001 entries; a request takes at most 2000: send them in several requests",
    ],
    [{ strokes: [good, stroke("x", 0, 1, 256)] }, "strokes[1].to_class must be 0 to 255 for manual_class, not 256"],
    [{ strokes: [stroke("x", 0, 1, -1)] }, "strokes[0].to_class must be 0 to 255 for manual_class, not -1"],
    [
      { strokes: [stroke("x", 0, 1, 2 ** 24 + 1)], slug: "tree_instance" },
      "strokes[0].to_class must be 0 to 16777216 for tree_instance, not 16777217",
    ],
    [
      { strokes: [good, { stroke_id: "x", to_class: 1 }] },
      "strokes[1].region is missing: give an object with kind box, polygon or squares_union",
    ],
    [
      { strokes: [stroke("x", 0, 1, 1, { region: { kind: "box", min: [0, 0], max: [1, 1, 1] } })] },
      "strokes[0].region.min must be three finite numbers",
    ],
    [
      {
        strokes: [
          stroke("x", 0, 1, 1, {
            limit_box: {
              kind: "squares_union",
              centers: [[0, 0]],
              half_sizes: [1],
              projection: Array(16).fill(1),
              view: Array(16).fill(1),
              canvas: { width: 1, height: 1 },
            },
          }),
        ],
      },
      "strokes[0].limit_box must be a box, not a squares_union",
    ],
    [{ strokes: [good], slug: "is_miss" }, 'slug "is_miss" is a column of the scan, not a label column'],
    [
      { strokes: [good], slug: "my class" },
      'slug "my class" cannot name a new column: use at most 32 of A-Z a-z 0-9 _ and no name of a LAS field, for example "my_class"',
    ],
  ])("%j", async (body, sentence) => {
    expect(await refusal(made, url(shared.session_id), body)).toEqual([400, sentence]);
    expect(await labels(shared.session_id)).toBeUndefined();
  });

  test("an unknown session and schema violations are rejected", async () => {
    expect(await refusal(made, url("00000000"), { strokes: [good] })).toEqual(UNKNOWN);
    expect((await refusal(made, url(shared.session_id), {}))[0]).toBe(422);
    expect((await refusal(made, url(shared.session_id), { strokes: [{ region: slab(0, 1), to_class: 1 }] }))[0]).toBe(
      422,
    );
    expect((await refusal(made, url(shared.session_id), { strokes: [stroke("x", 0, 1, 1.5)] }))[0]).toBe(422);
  });
});
