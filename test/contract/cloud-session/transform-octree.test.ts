import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { RebuildOctreeResponse } from "../../../shared/contract/cloud-session/rebuild-octree.ts";
import { TransformResponse } from "../../../shared/contract/cloud-session/transform.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { answered, cloud, columnOf, lineCloud, slab, stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/transform`;
const transform = (id: string, matrix: readonly number[], more: object = {}) =>
  answered(made, TransformResponse, url(id), { matrix, ...more });
const metaOf = async (id: string) => (await stateOf(made, id)).meta;
/** Octrees that were built, not moved, while `body` ran. */
async function builds(body: () => Promise<unknown>): Promise<number> {
  const original = addon.octreeBuild;
  let count = 0;
  addon.octreeBuild = (...args) => {
    count += 1;
    return original(...args);
  };
  try {
    await body();
    return count;
  } finally {
    addon.octreeBuild = original;
  }
}

/** (x, y, z) -> (-y, x, z) */
const QUARTER = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const moved = (x: number, y: number, z: number) => [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1];
const rounded = (values: readonly number[] | undefined, digits = 6) =>
  values?.map((value) => Math.round(value * 10 ** digits) / 10 ** digits + 0);

describe("octree_mode rebuild", () => {
  test("a translation moves the existing octrees, including the one of the misses", async () => {
    const made_ = await lineCloud(made, [1, 2], 1, { origin: [0, 0, 1] });
    let answer: TransformResponse | undefined;
    const built = await builds(async () => {
      answer = await transform(made_.session_id, moved(10, 20, 30));
    });
    expect(built).toBe(0);
    expect(answer?.octree_posed).toBe(false);
    expect(answer?.cache_id).not.toBe(made_.cache_id);
    expect(octreePoints(made.octrees, answer?.cache_id ?? "")).toEqual([
      [10, 20, 30],
      [11, 20, 30],
    ]);
    expect(answer?.tight_bounds).toEqual({ min: [10, 20, 30], max: [11, 20, 30] });
    expect(answer?.robust_bounds?.min[2]).toBe(30);
    const meta = await metaOf(made_.session_id);
    expect(meta).toMatchObject({
      octree_cache_id: answer?.cache_id,
      miss_octree_cache_id: answer?.miss_octree_cache_id,
      miss_octree_origin: [10, 20, 31],
      octree_point_count: 3,
    });
    const [sky] = octreePoints(made.octrees, answer?.miss_octree_cache_id ?? "");
    const [before] = octreePoints(made.octrees, made_.miss_octree_cache_id ?? "");
    expect(rounded(sky, 3)).toEqual(
      rounded(
        before?.map((value, axis) => value + ([10, 20, 30][axis] ?? 0)),
        3,
      ),
    );
  });

  test("a rotation rebuilds the octrees", async () => {
    const { session_id } = await lineCloud(made, [1, 2, 3], 2);
    let answer: TransformResponse | undefined;
    const built = await builds(async () => {
      answer = await transform(session_id, QUARTER);
    });
    expect(built).toBe(2);
    expect(octreePoints(made.octrees, answer?.cache_id ?? "").map(([, y]) => y)).toEqual([0, 1, 2]);
  });

  test.each([
    [
      "an octree that left the cache",
      async (_id: string, cache: string) => rmSync(join(made.octrees, cache), { recursive: true }),
    ],
    ["a stale one", (id: string) => post(id, "delete_region", { region: slab(0, 0) })],
    ["a posed one", (id: string) => post(id, "transform", { matrix: QUARTER, octree_mode: "pose" })],
    [
      "one that does not show the painted labels",
      (id: string) => post(id, "label_region", { strokes: [{ stroke_id: "a", region: slab(0, 0), to_class: 3 }] }),
    ],
  ] as const)("a translation builds %s anew", async (_, prepare) => {
    const { session_id, cache_id } = await lineCloud(made, [1, 2, 3, 4]);
    await prepare(session_id, cache_id);
    expect(await builds(() => transform(session_id, moved(0, 0, 7)))).toBe(1);
    expect(await metaOf(session_id)).toMatchObject({
      rendered_octree_cache_id: null,
      octree_pose: null,
      octree_lacks_labels: false,
    });
  });
});

describe("octree_mode pose", () => {
  const POSE = { octree_mode: "pose" };
  test("the octree is unchanged and the pose accumulates all transforms", async () => {
    const shift: [number, number, number] = [100, 0, 0];
    const rows = ["x y z is_miss", "101 0 0 0", "102 0 0 0", "100 0 900 1"];
    const created = await cloud(made, rows, { world_shift: shift });
    const { session_id, cache_id } = created;
    let answer: TransformResponse | undefined;
    expect(
      await builds(async () => {
        answer = await transform(session_id, QUARTER, POSE);
      }),
    ).toBe(0);
    expect(answer).toMatchObject({ cache_id, octree_posed: true, point_count: 2, total_count: 3 });
    expect(answer?.miss_octree_cache_id).toBe(created.miss_octree_cache_id);
    // stored' = Q (stored + 100 ex) - 100 ex = Q stored + (-100, 100, 0)
    expect(await metaOf(session_id)).toMatchObject({
      octree_cache_id: cache_id,
      octree_pose: [0, -1, 0, -100, 1, 0, 0, 100, 0, 0, 1, 0, 0, 0, 0, 1],
    });
    await transform(session_id, moved(7, 0, 5), POSE);
    expect((await metaOf(session_id)).octree_pose).toEqual([0, -1, 0, -93, 1, 0, 0, 100, 0, 0, 1, 5, 0, 0, 0, 1]);
    await transform(session_id, QUARTER, POSE);
    // Q Q stored + Q (-93, 100, 5) + (-100, 100, 0)
    expect((await metaOf(session_id)).octree_pose).toEqual([-1, 0, 0, -200, 0, -1, 0, 7, 0, 0, 1, 5, 0, 0, 0, 1]);
    expect(await columnOf(made, session_id, "positions")).toEqual([-201, 7, 5, -202, 7, 5, -200, 7, 905]);
  });

  test("rebuild_octree ends the pose", async () => {
    const { session_id, cache_id } = await lineCloud(made, [1, 2]);
    await transform(session_id, QUARTER, POSE);
    const answer = await answered(made, RebuildOctreeResponse, `/api/cloud/session/${session_id}/rebuild_octree`);
    expect(answer.cache_id).not.toBe(cache_id);
    expect((await metaOf(session_id)).octree_pose).toBeNull();
  });

  test("without a current octree, the octree is rebuilt", async () => {
    const { session_id } = await lineCloud(made, [1, 2, 3]);
    await post(session_id, "delete_region", { region: slab(0, 0) });
    const answer = await transform(session_id, QUARTER, POSE);
    expect(answer).toMatchObject({ octree_posed: false, point_count: 2 });
    expect(await metaOf(session_id)).toMatchObject({ octree_cache_id: answer.cache_id, octree_pose: null });
  });
});
