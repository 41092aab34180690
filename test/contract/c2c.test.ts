import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import type { NativeRegistration } from "../../backend/native/registration.ts";
import { IcpFailure, IcpSuccess } from "../../shared/contract/icp.ts";
import { run } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { cubePoints, farthest, moved, rigidity, turnAndShift, village } from "../support/session/registration.ts";
import { checked, cloud, failed, lineCloud, refusal, streamed, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const URL_ = "/api/c2c/icp-register";
const register = async (payload: object) => (await streamed(made, IcpSuccess, URL_, payload)).tail;
const failure = async (payload: object) => checked(IcpFailure, (await failed(made, URL_, payload)).tail);

const GROUND = village(40, 60, 7);
const TURN = turnAndShift(3, [30, 30, 0], [0.8, -0.5, 0.3]);
/** The ground before TURN moves it to its place. */
const BEFORE = moved(
  turnAndShift(-3, [30, 30, 0], [0, 0, 0]),
  moved(turnAndShift(0, [0, 0, 0], [-0.8, 0.5, -0.3]), GROUND),
);

describe("pose", () => {
  test("a shifted cube of points: centroid on centroid is exact", async () => {
    const shift = [0.4, -0.25, 0.15] as const;
    const tail = await register({ target_points: cubePoints(8), source_points: cubePoints(8, shift) });
    expect(farthest(moved(tail.transformation_matrix, cubePoints(8, shift)), cubePoints(8))).toBeLessThan(1e-9);
    expect(tail).toMatchObject({
      success: true,
      error: null,
      fitness: 1,
      start: "centroid",
      method: "gicp",
      converged: true,
    });
    expect(tail).toMatchObject({ quality_warning: null, iterations: 20 });
    expect(tail.rmse).toBeLessThan(1e-9);
  });

  test.each(["gicp", "point_to_plane", "point_to_point"])("%s finds a known turn and shift", async (method) => {
    const { tail, stages } = await streamed(made, IcpSuccess, URL_, {
      target_points: GROUND,
      source_points: BEFORE,
      method,
    });
    expect(farthest(moved(tail.transformation_matrix, BEFORE), GROUND)).toBeLessThan(1e-3);
    expect(rigidity(tail)).toBeLessThan(1e-12);
    expect(tail).toMatchObject({ method, fitness: 1, quality_warning: null, kept_start: false });
    expect(tail.iterations_done).toBe(tail.history.length);
    expect(tail.iterations % 20).toBe(0);
    expect(tail.iterations).toBeGreaterThanOrEqual(tail.iterations_done);
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels).toContain("0.05 Reading points");
    expect(labels).toContain("0.15 Estimating normals");
    expect(labels.some((label) => /^0\.31 ICP iteration \d+ \(RMSE [0-9.e-]+\)$/.test(label))).toBe(true);
    expect(labels.at(-1)).toBe("1 Done");
  });

  test("init_transform is where it begins; far coordinates keep their precision", async () => {
    const far = [450_000, 5_400_000, 120] as const;
    const [target, source] = [GROUND, BEFORE].map((list) => moved(turnAndShift(0, [0, 0, 0], far), list));
    const init = turnAndShift(2, [450_030, 5_400_030, 0], [0.5, 0, 0]);
    const tail = await register({ target_points: target, source_points: source, init_transform: init });
    expect(tail.start).toBe("init_transform");
    expect(farthest(moved(tail.transformation_matrix, source ?? []), target ?? [])).toBeLessThan(1e-3);
  });

  test("a part of a scene that lies almost in place stays there", async () => {
    const part = [];
    for (let i = 0; i < BEFORE.length; i += 3) if ((BEFORE[i] ?? 0) > 20) part.push(...BEFORE.slice(i, i + 3));
    const tail = await register({ target_points: GROUND, source_points: part });
    expect(tail.start).toBe("as_placed");
    expect(farthest(moved(tail.transformation_matrix, part), moved(TURN, part))).toBeLessThan(1e-3);
  });

  test("max_iterations below 20 is one batch of that many, and a large one is not exceeded", async () => {
    const few = await register({ target_points: GROUND, source_points: BEFORE, max_iterations: 2 });
    expect([few.iterations, few.iterations_done, few.converged]).toEqual([2, 2, false]);
    expect(few.warnings).toEqual([expect.stringMatching(/max_iterations/)]);
    const most = await register({ target_points: GROUND, source_points: BEFORE, max_iterations: 59 });
    expect(most.iterations).toBeLessThanOrEqual(40);
  });
});

describe("quality", () => {
  test("no overlap: fitness 0, a warning, and the pose is the start", async () => {
    const init = turnAndShift(0, [0, 0, 0], [500, 0, 0]);
    const tail = await register({ target_points: GROUND, source_points: GROUND, init_transform: init });
    expect(tail).toMatchObject({ fitness: 0, rmse: 0, converged: false, transformation_matrix: init });
    expect(tail.quality_warning).toMatch(/do not overlap/);
  });

  test("a large RMSE is told in metres and percent", async () => {
    const apart = moved(
      turnAndShift(0, [0, 0, 0], [0, 0, 0]),
      cubePoints(3).map((v) => 3 * v), // too few points to search among poses
    );
    const tail = await register({
      target_points: cubePoints(3),
      source_points: apart,
      max_correspondence_distance: 10,
    });
    expect(tail.rmse_ratio).toBeGreaterThan(0.02);
    expect(tail.quality_warning).toMatch(/RMSE of [0-9.]+ m is [0-9.]+ %/);
  });

  test("a plane slides on a plane: the free motion is named", async () => {
    const sheet = village(40, 10, 3).map((value, i) => (i % 3 === 2 ? 0 : value));
    const tail = await register({ target_points: sheet, source_points: sheet });
    expect(tail.conditioning).toBeLessThan(1e-6);
    expect(tail.warnings?.join(" ")).toMatch(/do not fix the pose: a (shift|turn)/);
  });
});

describe("points of sessions", () => {
  test("in true world coordinates, with translation; an inline list on the other side", async () => {
    const rows = ["x y z"];
    for (let i = 0; i < GROUND.length; i += 3) {
      const [x = 0, y = 0, z = 0] = GROUND.slice(i, i + 3);
      rows.push(`${450_000 + x} ${5_400_000 + y} ${z}`);
    }
    const { session_id } = await cloud(made, rows, { world_shift: [450_000, 5_400_000, 0] });
    const translation = [-450_000, -5_400_000, 0];
    const tail = await register({ target_source: { session_id, translation }, source_points: BEFORE });
    expect(farthest(moved(tail.transformation_matrix, BEFORE), GROUND)).toBeLessThan(1e-3);
    const both = { target_source: { session_id }, source_source: { session_id, translation: [1, -0.5, 0.25] } };
    const shifted = await register(both);
    for (const [i, value] of [-1, 0.5, -0.25].entries()) expect(shifted.translation[i]).toBeCloseTo(value, 3);
  });

  test("misses never count", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1], 9);
    const { error } = await failure({ target_source: { session_id }, source_points: GROUND });
    expect(error).toMatch(/^Cloud-to-cloud ICP registration failed: the target has 3 usable points/);
  });
});

describe("failures", () => {
  const three = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  const prefix = "Cloud-to-cloud ICP registration failed: ";
  const both = { target_points: GROUND, source_points: GROUND };
  test.each<[string, object, string | RegExp]>([
    ["no target", { source_points: GROUND }, "No target points provided"],
    ["no source", { target_points: GROUND, source_points: [] }, "No source points provided"],
    ["three points", { target_points: GROUND, source_points: three }, /the source has 3 usable points; .*at least 4/],
    ["one place", { target_points: Array.from({ length: 30 }, () => 1), source_points: GROUND }, /lie at one place/],
    ["a start of 9 numbers", { ...both, init_transform: [1, 0, 0, 0, 1, 0, 0, 0, 1] }, /16 numbers, not 9/],
    ["a start that scales", { ...both, init_transform: [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1] }, /not rigid/],
    ["a mirror", { ...both, init_transform: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1] }, /not rigid/],
    [
      "a column-major start",
      { ...both, init_transform: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1] },
      /row-major/,
    ],
  ])("%s: an error in the tail", async (_name, payload, error) => {
    const told = await failure(payload);
    if (typeof error === "string") expect(told.error).toBe(error);
    else {
      expect(told.error).toMatch(error);
      expect(told.error.startsWith(prefix)).toBe(true);
    }
  });

  test.each<[string, object, number, string | RegExp]>([
    ["an unknown session", { target_source: { session_id: "00000000" } }, ...UNKNOWN],
    ["a source without a session", { source_source: {} }, 400, /neither a session_id/],
    ["a list of no triples", { target_points: [1, 2] }, 400, /^target_points has 2 numbers/],
  ])("%s: refused before the stream", async (_name, payload, status, detail) => {
    const told = await refusal(made, URL_, { ...both, ...payload });
    expect(told).toEqual([status, typeof detail === "string" ? detail : expect.stringMatching(detail)]);
  });

  test.each([{ method: "icp" }, { max_iterations: 0 }, { max_correspondence_distance: -1 }, { rmse_threshold: "x" }])(
    "%j: 422",
    async (wrong) => {
      expect((await refusal(made, URL_, { ...both, ...wrong }))[0]).toBe(422);
    },
  );
});

test("a run frees its registration when it ends, not when it is collected", async () => {
  const release = addon.icpRelease;
  let released = 0;
  Object.assign(addon, {
    icpRelease: (registration: NativeRegistration) => {
      released += 1;
      release(registration);
    },
  });
  try {
    await register({ target_points: GROUND, source_points: GROUND, max_iterations: 1 });
    await eventually(() => expect(released).toBe(1));
  } finally {
    Object.assign(addon, { icpRelease: release });
  }
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const points = village(350, 300, 11); // 122,500 points
  const { session_id } = await lineCloud(made, [1]); // memory that stays
  const before = addon.bulkBytesInUse();
  for (const op of ["icpPrepare", "icpAdvance", "icpCheck"] as const) {
    // A pose that has not settled is checked.
    const sides = { target_points: points, source_points: op === "icpCheck" ? moved(TURN, points) : points };
    const max_iterations = op === "icpCheck" ? 2 : 100;
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op }, stop, async () => {
      return (await openRun(made.base, URL_, { ...sides, max_iterations })).outcome;
    });
    expect([op, reached, value.kind]).toEqual([op, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
  const { outcome } = await run(made, URL_, { target_source: { session_id }, source_points: GROUND });
  expect(outcome.kind).toBe("failed");
});
