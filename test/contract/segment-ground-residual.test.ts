// Clouds from which the ground was cut off: what is labelled ground then is no surface.
import { expect, test } from "vitest";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { batchForest, landHeight } from "../support/scans/batch-forest.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const segment = (payload: object) => answered(made, GroundResponse, "/api/segment/ground", payload);
const NO_SURFACE = expect.stringMatching(
  /^The points labelled ground form no surface: half of them lie more than \d\.\d\d m .* Take the cloud with its ground\.$/,
);

/** A forest from the air, and its crowns alone. */
const { xyz } = batchForest(40, { ground_per_m2: 8, points_per_tree: 300, trees_per_ha: 500 });
const points = Array.from({ length: xyz.length / 3 }, (_, i) => [...xyz.subarray(3 * i, 3 * i + 3)]);
const crowns = points.filter(([x = 0, y = 0, z = 0]) => z > landHeight(x, y) + 6);

test.each(["auto", "smrf"])("%s: a ground that is a surface, and parts of plants that are none", async (method) => {
  const whole = await segment({ points, method });
  expect(whole.ground_residual_m).toBeGreaterThan(0.003);
  expect(whole.ground_residual_m).toBeLessThan(0.08);
  expect(whole.warnings).not.toContainEqual(NO_SURFACE);

  const cut = await segment({ points: crowns, method });
  expect(cut.num_ground).toBeGreaterThan(100);
  expect(cut.ground_residual_m).toBeGreaterThan(0.25);
  expect(cut.warnings).toContainEqual(NO_SURFACE);
});

test("points far apart lie on land that is rough between them", async () => {
  const far = Array.from({ length: 900 }, (_, i) => {
    const [x, y] = [30 * (i % 30), 30 * Math.floor(i / 30)];
    return [x, y, 40 * Math.sin(x / 250) * Math.cos(y / 300) + 2 * Math.sin(i * i)];
  });
  const answer = await segment({ points: far, method: "auto" });
  expect(answer.num_ground).toBeGreaterThan(100);
  expect(answer.ground_residual_m).toBeGreaterThan(0.3);
  expect(answer.warnings).not.toContainEqual(NO_SURFACE);
});

test("is null where hardly a point is ground", async () => {
  const few = await segment({ points: points.slice(0, 90), method: "smrf" });
  expect(few.num_ground).toBeLessThan(100);
  expect([few.ground_residual_m, few.warnings.length]).toEqual([null, few.warnings.length]);
});
