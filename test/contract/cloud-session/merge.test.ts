import { describe, expect, test } from "vitest";
import type { CloudMeta } from "../../../backend/sessions/cloud-session.ts";
import { MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import {
  amid,
  answered,
  canceledAmid,
  cloud,
  columnOf,
  lineCloud,
  octreeXs,
  refusal,
  stateOf,
  xs,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { remove } = made;
const URL = "/api/cloud/session/merge";
const ids = async (...clouds: readonly Promise<{ session_id: string }>[]) =>
  (await Promise.all(clouds)).map(({ session_id }) => session_id);
const merge = async (session_ids: readonly string[]) =>
  (await answered(made, MergeResponse, URL, { session_ids })).merged;
const column = (id: string, key: string) => columnOf(made, id, key);
async function _describeAs(id: string, meta: Partial<CloudMeta>): Promise<void> {
  const session = await made.deps.sessions.get(id);
  await session.commit(session.state, { meta });
}

test("the points that are not deleted are concatenated; the inputs are unchanged", async () => {
  const inputs = await ids(lineCloud(made, [1, 2, 3]), lineCloud(made, [4, 5]));
  await remove(inputs[0] ?? "", 1, 1);
  const before = await Promise.all(inputs.map((id) => stateOf(made, id)));
  const merged = await merge(inputs);
  expect(merged).toMatchObject({ point_count: 4, has_misses: false, miss_octree_cache_id: null, world_shift: null });
  expect(await xs(made, merged.session_id)).toEqual([0, 2, 0, 1]);
  expect(await column(merged.session_id, "extra/class")).toEqual([1, 3, 4, 5]);
  expect(octreeXs(made, merged.cache_id)).toEqual([0, 0, 1, 2]);
  expect(merged.observed_classes).toEqual({ class: [1, 3, 4, 5], is_miss: [0] });
  const { undo, meta } = await stateOf(made, merged.session_id);
  expect(undo).toEqual({ base: null, deletes: [], labels: new Map() });
  expect(meta).toMatchObject({ octree_cache_id: merged.cache_id, octree_point_count: 4, unrestorable_hit_count: 1 });
  expect(await Promise.all(inputs.map((id) => stateOf(made, id)))).toEqual(before);
});

describe("the first session determines the frame", () => {
  const rows = (x: number) => ["x y z origin_x origin_y origin_z", `${x} 5 6 ${x - 1} 5 9`];
  test("stored = stored + its shift - the first shift; beam origins as well", async () => {
    const inputs = await ids(
      cloud(made, rows(476001), { world_shift: [476000, 0, 0] }),
      cloud(made, rows(476002), { world_shift: [475000, 1, -2] }),
      cloud(made, rows(476003)),
    );
    const merged = await merge(inputs);
    expect(merged.world_shift).toEqual([476000, 0, 0]);
    expect(await column(merged.session_id, "positions")).toEqual([1, 5, 6, 2, 5, 6, 3, 5, 6]);
    expect(await column(merged.session_id, "beam_origins")).toEqual([0, 5, 9, 1, 5, 9, 2, 5, 9]);
  });
  test("without a shift, the other sessions are converted to true coordinates", async () => {
    const inputs = await ids(cloud(made, rows(7)), cloud(made, rows(476002), { world_shift: [476000, 0, 0] }));
    const merged = await merge(inputs);
    expect(merged.world_shift).toBeNull();
    expect(await xs(made, merged.session_id)).toEqual([7, 476002]);
  });
  test("this also holds if all points of the first session are deleted", async () => {
    const inputs = await ids(
      cloud(made, rows(10.5), { world_shift: [10, 0, 0] }),
      cloud(made, rows(20)),
      cloud(made, rows(21)),
    );
    await made.app.inject({
      method: "POST",
      url: `/api/cloud/session/${inputs[0]}/delete_region`,
      payload: { region: { kind: "box", min: [0, 0, 0], max: [9, 9, 9] } },
    });
    const merged = await merge(inputs);
    expect([merged.world_shift, await xs(made, merged.session_id)]).toEqual([
      [10, 0, 0],
      [10, 11],
    ]);
  });
});

describe("columns", () => {
  test("missing columns are filled: white, no intensity, time 0, origin 0, extra 0", async () => {
    const rich = [
      "x y z red green blue intensity timestamp origin_x origin_y origin_z height",
      "476001 0 0 0 128 255 300 350000000.125 476000 1 2 1.5",
    ];
    const inputs = await ids(
      cloud(made, ["x y z", "476000 0 0"], { world_shift: [476000, 0, 0] }),
      cloud(made, rich, { world_shift: [475000, 0, 0] }),
    );
    const [, second = ""] = inputs;
    const colors = await column(second, "colors");
    const intensity = await column(second, "intensity");
    const { session_id } = await merge(inputs);
    expect(await column(session_id, "colors")).toEqual([65535, 65535, 65535, ...(colors ?? [])]);
    expect(await column(session_id, "intensity")).toEqual([0, ...(intensity ?? [])]);
    expect(await column(session_id, "timestamps")).toEqual([0, 350000000.125]);
    expect(await column(session_id, "beam_origins")).toEqual([0, 0, 0, 0, 1, 2]); // the filled one is not shifted
    expect(await column(session_id, "extra/height")).toEqual([0, 1.5]);
  });

  test("a column that no input has is not created", async () => {
    const { session_id } = await merge(await ids(cloud(made, ["x y z", "0 0 0"]), cloud(made, ["x y z", "1 0 0"])));
    expect([...(await stateOf(made, session_id)).columns.keys()]).toEqual(["positions"]);
  });

  test("extras keep the order of first appearance and the first label, and are wide enough for all values", async () => {
    const inputs = await ids(
      cloud(made, ["x y z b a", "0 0 0 200 1"], { scalar_labels: { a: "First A" } }),
      cloud(made, ["x y z c a b", "1 0 0 7 -5 70000"], { scalar_labels: { a: "Second A" } }),
      cloud(made, ["x y z c", "2 0 0 0.5"]),
    );
    const { session_id } = await merge(inputs);
    const { meta, columns } = await stateOf(made, session_id);
    expect(meta.extra_dims_meta).toEqual([
      { slug: "b", label: "b" },
      { slug: "a", label: "First A" },
      { slug: "c", label: "c" },
    ]);
    expect(["b", "a", "c"].map((slug) => columns.get(`extra/${slug}`)?.native.dtype)).toEqual(["u32", "i16", "f32"]);
    expect(await column(session_id, "extra/b")).toEqual([200, 70000, 0]);
    expect(await column(session_id, "extra/a")).toEqual([1, -5, 0]);
    expect(await column(session_id, "extra/c")).toEqual([0, 7, 0.5]);
  });

  test("normals are kept only if every cloud has them for all points", async () => {
    const full = ["x y z nx ny nz", "0 0 0 0 0 1"];
    const partial = ["x y z nx ny", "1 0 0 1 0"];
    const both = await merge(await ids(cloud(made, full), cloud(made, full)));
    expect((await stateOf(made, both.session_id)).meta.extra_dims_meta.map(({ slug }) => slug)).toEqual([
      "nx",
      "ny",
      "nz",
    ]);
    for (const other of [partial, ["x y z", "1 0 0"]]) {
      const { session_id } = await merge(await ids(cloud(made, full), cloud(made, other)));
      const { meta, columns } = await stateOf(made, session_id);
      expect([meta.extra_dims_meta, [...columns.keys()]]).toEqual([[], ["positions"]]);
    }
  });
});

test("misses of all inputs keep their positions, because there is no common scanner", async () => {
  const inputs = await ids(lineCloud(made, [1, 1], 1, { origin: [0, 0, 1] }), cloud(made, ["x y z", "5 0 0"]));
  const merged = await merge(inputs);
  expect(merged).toMatchObject({ has_misses: true, point_count: 3 });
  expect(await column(merged.session_id, "extra/is_miss")).toEqual([0, 0, 1, 0]);
  expect(octreePoints(made.octrees, merged.miss_octree_cache_id ?? "")).toEqual([[0, 0, 900]]);
  expect((await stateOf(made, merged.session_id)).meta.miss_octree_origin).toBeNull();
});

test("hits deleted in the inputs, or missing in them before, are counted", async () => {
  const inputs = await ids(lineCloud(made, [1, 1, 1]), lineCloud(made, [1, 1]));
  for (const id of inputs) {
    await remove(id, 0, 0);
    await made.post(id, "bake");
  }
  await remove(inputs[0] ?? "", 1, 1);
  const { session_id } = await merge(inputs);
  expect((await stateOf(made, session_id)).meta.unrestorable_hit_count).toBe(3);
});

test("an id named twice counts once", async () => {
  const [a = "", b = ""] = await ids(lineCloud(made, [1]), lineCloud(made, [2, 2]));
  expect((await merge([a, b, a, b])).point_count).toBe(3);
  expect((await merge([b, a])).point_count).toBe(3);
});

test("an edit of an input during the merge is not a conflict: the merge uses the state at its start", async () => {
  const inputs = await ids(lineCloud(made, [1, 1]), lineCloud(made, [2]));
  const merged = await amid(
    "concatColumns",
    () => remove(inputs[0] ?? "", 0, 1),
    () => merge(inputs),
  );
  expect(merged.point_count).toBe(3);
});

test("a cancel leaves no session", async () => {
  const inputs = await ids(lineCloud(made, [1, 1]), lineCloud(made, [2]));
  const before = made.deps.sessions.list().length;
  const send = () => refusal(made, URL, { session_ids: inputs });
  expect(await canceledAmid(made, "concatColumns", send)).toEqual([499, "The run was canceled."]);
  expect(made.deps.sessions.list()).toHaveLength(before);
});

test("rejected requests", async () => {
  const [a = "", b = ""] = await ids(lineCloud(made, [1]), lineCloud(made, [2]));
  const few = (n: number) => [
    400,
    `session_ids names ${n} ${n === 1 ? "session" : "sessions"}: a merge needs at least two`,
  ];
  expect(await refusal(made, URL, { session_ids: [] })).toEqual(few(0));
  expect(await refusal(made, URL, { session_ids: [a] })).toEqual(few(1));
  expect(await refusal(made, URL, { session_ids: [a, a] })).toEqual(few(1));
  expect(await refusal(made, URL, { session_ids: [a, "0000000f", b] })).toEqual([
    404,
    "Cloud session not found: 0000000f",
  ]);
  expect((await refusal(made, URL, {}))[0]).toBe(422);
  for (const id of [a, b]) await remove(id, 0, 0);
  expect(await refusal(made, URL, { session_ids: [a, b] })).toEqual([400, "no surviving points: every cloud is empty"]);
});

test("misspelt keys are named in the warnings", async () => {
  const session_ids = await ids(lineCloud(made, [1]), lineCloud(made, [2]));
  expect((await answered(made, MergeResponse, URL, { session_ids, name: "all" })).warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "name".',
  ]);
});

test("what a cloud lacks is filled, and named in the warnings", async () => {
  const rich = cloud(made, ["x y z nx ny nz r255 g255 b255 ox oy oz leaf", "0 0 0 0 0 1 1 2 3 0 0 9 4"]);
  const plain = cloud(made, ["x y z", "5 0 0", "6 0 0"]);
  const inputs = await ids(rich, plain);
  expect((await answered(made, MergeResponse, URL, { session_ids: inputs })).warnings).toEqual([
    "Points of clouds without these columns have the value 0 there: beam_origins, leaf.",
    "Points of clouds without colours are white.",
    "The normals are left out, because not every cloud has them.",
  ]);
});

test("a column tree_instance of more values than there can be classes is merged all the same", async () => {
  const rows = Array.from({ length: 2 ** 20 + 10 }, (_, i) => `${i % 1024} ${i >> 10} 0 ${i}`);
  const inputs = await ids(
    cloud(made, ["x y z tree_instance", ...rows]),
    cloud(made, ["x y z tree_instance", "0 0 0 7", "1 0 0 8"]),
  );
  const { warnings, merged } = await answered(made, MergeResponse, URL, { session_ids: inputs });
  expect(merged.point_count).toBe(rows.length + 2);
  expect((warnings ?? []).join()).not.toMatch(/tree number/);
});
