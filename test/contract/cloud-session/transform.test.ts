import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { TransformResponse } from "../../../shared/contract/cloud-session/transform.ts";
import {
  amid,
  answered,
  canceledAmid,
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
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/transform`;
const transform = (id: string, matrix: readonly number[], more: object = {}) =>
  answered(made, TransformResponse, url(id), { matrix, ...more });
const metaOf = async (id: string) => (await stateOf(made, id)).meta;
/** Octrees that were built, not moved, while `body` ran. */
async function _builds(body: () => Promise<unknown>): Promise<number> {
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
const scaled = (x: number, y: number, z: number) => [x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1];
const IDENTITY = moved(0, 0, 0);
const FULL = [
  "x y z red green blue intensity timestamp origin_x origin_y origin_z nx ny nz verticality curvature distance is_miss",
  "1 2 3 10 20 30 40 350000000.125 0 0 9 0.6 0.8 0 12 0.25 4 0",
  "4 5 6 11 21 31 41 350000000.25 1 0 9 0 0 1 12 0.5 6 0",
  "7 8 9 12 22 32 42 350000000.375 2 0 9 0 0 0 12 0.75 8 0",
  "0 0 909 0 0 0 0 350000000.5 3 0 9 0 0 1 12 0 900 1",
];
const HEIGHTS = ["x y z height_above_ground", "0 0 7 0", "1 0 8.5 1.5", "2 1 11 4"];
const rounded = (values: readonly number[] | undefined, digits = 6) =>
  values?.map((value) => Math.round(value * 10 ** digits) / 10 ** digits + 0);

describe("what moves", () => {
  test("a rotation moves every row, beam origins, normals and the scanner, and nothing else", async () => {
    const { session_id } = await cloud(made, FULL, { origin: [1, 0, 9] });
    await post(session_id, "delete_region", { region: { kind: "box", min: [7, 8, 9], max: [7, 8, 9] } });
    const before = await stateOf(made, session_id);
    const answer = await transform(session_id, QUARTER);
    expect(answer).toMatchObject({ session_id, point_count: 2, total_count: 4, octree_posed: false });
    expect(await columnOf(made, session_id, "positions")).toEqual([-2, 1, 3, -5, 4, 6, -8, 7, 9, 0, 0, 909]);
    expect(rounded(await columnOf(made, session_id, "beam_origins"))).toEqual([0, 0, 9, 0, 1, 9, 0, 2, 9, 0, 3, 9]);
    expect(rounded(await columnOf(made, session_id, "extra/nx"))).toEqual([-0.8, 0, 0, 0]);
    expect(rounded(await columnOf(made, session_id, "extra/ny"))).toEqual([0.6, 0, 0, 0]);
    expect(rounded(await columnOf(made, session_id, "extra/nz"))).toEqual([0, 1, 0, 1]);
    expect(rounded(await columnOf(made, session_id, "extra/verticality"), 3)).toEqual([90, 0, 90, 0]);
    const { columns, meta } = await stateOf(made, session_id);
    for (const same of ["colors", "intensity", "timestamps", "extra/curvature", "extra/distance", "extra/is_miss"])
      expect([same, columns.get(same)]).toEqual([same, before.columns.get(same)]);
    expect(meta).toMatchObject({ miss_octree_origin: [0, 1, 9], normals_stale: true, octree_pose: null });
    expect(meta.octree_stale_gen).toBe(before.meta.octree_stale_gen + 1); // stale normals: from the deletion
  });

  test("a uniform scale also scales distances; normals keep their length and direction", async () => {
    const { session_id } = await cloud(made, FULL);
    await transform(session_id, scaled(2, 2, 2));
    expect(await columnOf(made, session_id, "positions")).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 0, 0, 1818]);
    expect(rounded(await columnOf(made, session_id, "extra/distance"))).toEqual([8, 12, 16, 1800]);
    expect(rounded(await columnOf(made, session_id, "extra/nx"))).toEqual([0.6, 0, 0, 0]);
    expect((await metaOf(session_id)).normals_stale).toBe(false);
  });

  test("a uniform scale also scales the step of the source, with which files are written", async () => {
    const { session_id } = await cloud(made, FULL);
    const session = await made.deps.sessions.get(session_id);
    await session.commit(session.state, { meta: { source_scale_m: [0.01, 0.01, 0.002] } });
    await transform(session_id, scaled(0.5, 0.5, 0.5));
    expect((await metaOf(session_id)).source_scale_m).toEqual([0.005, 0.005, 0.001]);
    await transform(session_id, scaled(3, 1, 1));
    expect((await metaOf(session_id)).source_scale_m).toEqual([0.005, 0.005, 0.001]);
  });

  test("a non-uniform scale transforms normals by the inverse transpose, marks them stale and keeps distances", async () => {
    const { session_id } = await cloud(made, FULL);
    await transform(session_id, scaled(2, 1, 1));
    // (0.6, 0.8, 0) -> (0.3, 0.8, 0), of length 0.854400
    expect(rounded(await columnOf(made, session_id, "extra/nx"))).toEqual([0.351123, 0, 0, 0]);
    expect(rounded(await columnOf(made, session_id, "extra/ny"))).toEqual([0.936329, 0, 0, 0]);
    expect(rounded(await columnOf(made, session_id, "extra/nz"))).toEqual([0, 1, 0, 1]); // zero vectors stay zero
    expect(await columnOf(made, session_id, "extra/distance")).toEqual([4, 6, 8, 900]);
    expect((await metaOf(session_id)).normals_stale).toBe(true);
  });

  test("a non-uniform scale without normals marks none stale", async () => {
    const { session_id } = await lineCloud(made, [1, 1]);
    await transform(session_id, scaled(2, 1, 1));
    expect((await metaOf(session_id)).normals_stale).toBe(false);
  });

  test.each([
    ["a scale of all axes", scaled(2, 2, 2), [0, 3, 8]],
    ["a scale of the height alone", scaled(1, 1, 0.5), [0, 0.75, 2]],
    ["a turn about the vertical and a move", [0, -1, 0, 5, 1, 0, 0, 6, 0, 0, 1, 700, 0, 0, 0, 1], [0, 1.5, 4]],
    ["a shear along the ground", [1, 0.5, 0, 0, 0, 1, 0, 0, 0.25, 0, 3, 0, 0, 0, 0, 1], [0, 4.5, 12]],
  ])("heights above the ground follow %s", async (_, matrix, expected) => {
    const { session_id } = await cloud(made, HEIGHTS);
    const { warnings } = await transform(session_id, matrix);
    const others = warnings?.filter((text) => !/stretches or shears/.test(text)) ?? [];
    expect([await columnOf(made, session_id, "extra/height_above_ground"), others]).toEqual([expected, []]);
  });

  test("a tilt leaves heights above the ground as they were, and says so", async () => {
    const tilt = [1, 0, 0, 0, 0, 0.8, -0.6, 0, 0, 0.6, 0.8, 0, 0, 0, 0, 1];
    const { session_id } = await cloud(made, HEIGHTS);
    const { warnings } = await transform(session_id, tilt);
    expect(await columnOf(made, session_id, "extra/height_above_ground")).toEqual([0, 1.5, 4]);
    expect(warnings).toEqual([expect.stringMatching(/tilts .*height_above_ground .*former vertical/)]);
    const { session_id: bare } = await lineCloud(made, [1, 1]);
    expect((await transform(bare, tilt)).warnings).toBeUndefined();
  });

  describe("matrices that are no rigid motion of the cloud are told", () => {
    const turn = (degrees: number, digits = 17) => {
      const cosine = Number(Math.cos((degrees * Math.PI) / 180).toFixed(digits));
      const sine = Number(Math.sin((degrees * Math.PI) / 180).toFixed(digits));
      return (x: number, y: number) => [cosine, -sine, 0, x, sine, cosine, 0, y, 0, 0, 1, 0, 0, 0, 0, 1];
    };
    const FAR = ["x y z", "500000 5400000 100", "500020 5400030 120"];
    const told = async (matrix: readonly number[], rows: readonly string[] = FAR) => {
      const { session_id } = await cloud(made, rows, { world_shift: rows === FAR ? [500_000, 5_400_000, 0] : null });
      return (await transform(session_id, matrix)).warnings;
    };

    test("few digits, by what they do at the coordinates of the cloud", async () => {
      expect(await told(turn(2, 6)(0, 0))).toContainEqual(
        expect.stringMatching(
          /^The matrix is not quite a rotation: .* by 2\.07e-7, .* Points 5420000 m .* by 0\.562 m and more\./,
        ),
      );
      expect(await told(turn(0.002)(0, 0))).toBeUndefined();
      const near = ["x y z", "0 0 0", "20 30 4"];
      expect(await told(turn(30, 6)(0, 0), near)).toBeUndefined();
      expect(await told(turn(30, 2)(0, 0), near)).toEqual([
        expect.stringMatching(/by 0\.00458, .* by 0\.0831 m and more/),
      ]);
    });

    test("a turn about the far origin of the coordinates", async () => {
      expect(await told(turn(3)(0, 0))).toEqual([
        expect.stringMatching(
          /^The matrix turns the cloud about the origin of the coordinates, 5420000 m away, .* by 284000 m\./,
        ),
      ]);
      const about = turn(3);
      const [a = 0, b = 0, , , c = 0, d = 0] = about(0, 0);
      const [x, y] = [500_010, 5_400_015];
      expect(await told(about(x - a * x - b * y, y - c * x - d * y))).toBeUndefined();
    });

    test("a scale that is none of units, and stretches", async () => {
      const near = ["x y z", "0 0 0", "20 30 4"];
      expect(await told(scaled(1.002, 1.002, 1.002), near)).toEqual([
        "The matrix scales the cloud by 1.002: lengths change by 0.2 %, volumes by 0.601 %. Registrations of scans have a scale of 1.",
      ]);
      expect(await told(scaled(0.3048, 0.3048, 0.3048), near)).toBeUndefined();
      expect(await told(scaled(1, 1, 1.5), near)).toEqual([
        expect.stringMatching(/^The matrix stretches or shears .* by 0\.588\./),
      ]);
    });
  });

  test("distances to a mesh stay those of the former place, which a warning says", async () => {
    const { session_id } = await cloud(made, ["x y z mesh_distance", "0 0 0 0.5", "1 0 0 0.25"]);
    const { warnings } = await transform(session_id, [1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    expect(await columnOf(made, session_id, "extra/mesh_distance")).toEqual([0.5, 0.25]);
    expect(warnings).toEqual([expect.stringMatching(/^The column mesh_distance .*former place/)]);
  });

  test("the matrix applies to the true world: a rotation about its origin, 4000 km away", async () => {
    const rows = ["x y z", "4000001.5 500002 10", "4000000.25 500000.125 11"];
    const { session_id } = await cloud(made, rows, { world_shift: [4_000_000, 500_000, 0] });
    await transform(session_id, QUARTER);
    // world (4000001.5, 500002) -> (-500002, 4000001.5); stored = world - shift
    const positions = await columnOf(made, session_id, "positions");
    expect(positions).toEqual([-4500002, 3500001.5, 10, -4500000.125, 3500000.25, 11]);
    expect((await metaOf(session_id)).world_shift).toEqual([4_000_000, 500_000, 0]);
  });

  test("a transform cannot be undone", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1]);
    await post(session_id, "delete_region", { region: slab(0, 0) });
    await post(session_id, "label_region", { strokes: [{ stroke_id: "a", region: slab(1, 1), to_class: 3 }] });
    await transform(session_id, moved(1, 0, 0));
    const { undo } = await stateOf(made, session_id);
    expect([undo.base?.count, undo.deletes.length, undo.labels.size]).toEqual([1, 0, 0]);
  });
});

test("a cloud whose points are all deleted is transformed too", async () => {
  const { session_id } = await lineCloud(made, [1, 1], 1);
  await post(session_id, "delete_region", { region: slab(0, 1) });
  for (const matrix of [QUARTER, moved(1, 2, 3)]) {
    expect(await transform(session_id, matrix)).toMatchObject({ point_count: 0, total_count: 3, robust_bounds: null });
  }
  expect(await columnOf(made, session_id, "positions")).toEqual([1, 2, 3, 1, 3, 3, 1, 2, 903]);
});

test("an edit during the transform: 409, and the points are unchanged", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const act = () => post(session_id, "delete_region", { region: slab(0, 0) });
  expect(await amid("transformPositions", act, () => refusal(made, url(session_id), { matrix: QUARTER }))).toEqual([
    409,
    "the cloud changed while this operation ran; run it again",
  ]);
  expect(await columnOf(made, session_id, "positions")).toEqual([0, 0, 0, 1, 0, 0]);
});

test("a cancel changes nothing", async () => {
  const { session_id } = await lineCloud(made, [1, 1]);
  const before = await stateOf(made, session_id);
  const send = () => refusal(made, url(session_id), { matrix: QUARTER });
  expect(await canceledAmid(made, "transformPositions", send)).toEqual([499, "The run was canceled."]);
  expect(await stateOf(made, session_id)).toBe(before);
});

describe("rejected requests", () => {
  const shared = made.shared(lineRows([1, 2]));
  const last = (row: number[]) => [...IDENTITY.slice(0, 12), ...row];
  test.each([
    [IDENTITY.slice(0, 15), "matrix must be 16 numbers (4 x 4, row-major), not 15"],
    [[], "matrix must be 16 numbers (4 x 4, row-major), not 0"],
    [[...IDENTITY, 0], "matrix must be 16 numbers (4 x 4, row-major), not 17"],
    [
      last([0, 0, 0.5, 1]),
      "matrix must end with the row 0 0 0 1, not 0 0 0.5 1: a perspective cannot be baked into points",
    ],
    [
      last([0, 0, 0, 1.00000001]),
      "matrix must end with the row 0 0 0 1, not 0 0 0 1.00000001: a perspective cannot be baked into points",
    ],
    [
      scaled(-1, 1, 1),
      "matrix has a 3 x 3 part of determinant -1; it must be above 1e-12: no mirroring, no flattening",
    ],
    [scaled(1, 1, 0), "matrix has a 3 x 3 part of determinant 0; it must be above 1e-12: no mirroring, no flattening"],
    [
      [...IDENTITY.slice(0, 3), -1.1e10, ...IDENTITY.slice(4)],
      "matrix has -11000000000 as number 4 of 16: at most 10000000000 is possible, or the points would lose their digits",
    ],
    [
      scaled(1, 1, 1e7),
      "matrix has 10000000 as number 11 of 16: at most 1000000 is possible, or the points would lose their digits",
    ],
    [[null, ...IDENTITY.slice(1)], "matrix must hold finite numbers only; number 1 of 16 is null"],
    [["1", ...IDENTITY.slice(1)], "matrix must hold finite numbers only; number 1 of 16 is 1"],
  ])("%j", async (matrix, sentence) => {
    expect(await refusal(made, url(shared.session_id), { matrix })).toEqual([400, sentence]);
  });

  test("a number beyond the range of doubles", async () => {
    const payload = `{"matrix":[1e999,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]}`;
    const headers = { "content-type": "application/json" };
    const answer = await made.app.inject({ method: "POST", url: url(shared.session_id), payload, headers });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      "matrix must hold finite numbers only; number 1 of 16 is Infinity",
    ]);
  });

  test("rounding errors in the last row are accepted", async () => {
    const dust = last([1e-10, 0, 0, 1]);
    expect((await transform((await lineCloud(made, [1])).session_id, dust)).point_count).toBe(1);
  });

  test("an unknown session and schema violations are rejected", async () => {
    expect(await refusal(made, url("00000000"), { matrix: IDENTITY })).toEqual(UNKNOWN);
    expect((await refusal(made, url(shared.session_id), {}))[0]).toBe(422);
    expect((await refusal(made, url(shared.session_id), { matrix: "identity" }))[0]).toBe(422);
    expect((await refusal(made, url(shared.session_id), { matrix: IDENTITY, octree_mode: "keep" }))[0]).toBe(422);
  });
});

test("misspelt keys are named in the warnings", async () => {
  const { session_id } = await lineCloud(made, [1]);
  expect((await transform(session_id, IDENTITY, { mode: "pose" })).warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "mode".',
  ]);
});
