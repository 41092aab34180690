import { expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { refused } from "../support/app/app.ts";
import { heldUntilCanceled } from "../support/native/native-failure.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch, type Times } from "../support/run/stopwatch.ts";
import { WOODED, wooded } from "../support/scans/ground-cloud.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const made = sessionTest({ config: { groundTileMinPoints: 20_000, groundTileTargetPoints: 5000 } });
const segment = (payload: object) => answered(made, GroundResponse, URL, payload);
const { points } = WOODED;

const FAILED = { success: false, labels: [], num_points: 0, num_ground: 0, num_plant: 0, params_used: {}, tiled: null };

test.each([0, 1, 9])("%i points are too few", async (count) => {
  for (const method of ["cloth", "smrf", "auto"]) {
    expect(await segment({ points: points.slice(0, count), method })).toMatchObject({
      ...FAILED,
      method,
      error: `Need at least 10 points for ground segmentation, but there are ${count}`,
      code: "invalid_argument",
    });
  }
});

test("an internal failure is reported in `error`", async () => {
  const spy = vi.spyOn(addon, "clothSimulation").mockImplementation(() => {
    throw Object.assign(new Error("no memory left"), { code: "out_of_memory" });
  });
  expect(await segment({ points, method: "cloth" })).toMatchObject({
    ...FAILED,
    error: "no memory left",
    code: "out_of_memory",
  });
  spy.mockRestore();
});

test.each([
  ["groundMeasures", "cloth"],
  ["clothSimulation", "cloth"],
  ["smrf", "smrf"],
  ["groundAuto", "auto"],
] as const)("canceled in %s: 499, and nothing is kept", async (op, method) => {
  const before = addon.bulkBytesInUse();
  let reached = false;
  const cancel = () => {
    reached = true;
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled(op, cancel, () => refused(made, URL, { points, method }));
  expect(reached).toBe(true);
  expect(value).toEqual({ status: 499, detail: "Ground segmentation was canceled.", code: "canceled" });
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test("a cancel during the cloth simulation stops it in time", async () => {
  const { points: many } = wooded(60, 0.3);
  let stop: (() => Times) | undefined;
  const { reached, value } = await atMoment(
    { op: "clothSimulation", phase: "Dropping the cloth" },
    () => {
      stop = stopwatch();
      made.deps.jobs.cancelAll();
    },
    () =>
      refused(made, URL, {
        points: many,
        cloth_resolution: 0.02,
        rigidness: 3,
        slope_smooth: false,
        class_threshold: 0.1,
      }),
  );
  expect(reached).toBe(true);
  expect(stop?.().own_ms).toBeLessThan(250);
  expect(value).toMatchObject({ status: 499, detail: "Ground segmentation was canceled." });
});
