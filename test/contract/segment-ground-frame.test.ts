import { expect, test } from "vitest";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { wooded } from "../support/scans/ground-cloud.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const made = sessionTest();
const segment = (payload: object) => answered(made, GroundResponse, URL, payload);
const { points } = wooded(60, 0.5, 0.1);
const METHODS = [{ method: "auto" }, { method: "smrf", window_radius: 6 }, { method: "cloth", rigidness: 3 }];

test("a frame is measured by auto alone, and a cloud with its own frame has the labels that it has without", async () => {
  const { frame, labels } = await segment({ points });
  expect(frame).toMatchObject({ point_count: points.length, origin: [0, 0], cell_size: expect.any(Number) });
  const again = await segment({ points, frame });
  expect([Array.from(again.labels), again.frame]).toEqual([Array.from(labels), frame]);
  for (const request of METHODS.slice(1)) {
    const [own, framed] = [await segment({ points, ...request }), await segment({ points, ...request, frame })];
    expect([framed.frame, Array.from(framed.labels)]).toEqual([null, Array.from(own.labels)]);
  }
});

test.each(METHODS)("%j: a part with the frame of the whole has the labels of the whole", async (request) => {
  const { frame } = await segment({ points });
  const explicit =
    request.method === "cloth" ? { cloth_resolution: 0.5, class_threshold: 0.2, slope_smooth: false } : {};
  const whole = await segment({ points, ...request, ...explicit, frame });
  const rows = points.flatMap(([x = 0, y = 0], i) => (x > 13.3 && y < 44.4 ? [i] : []));
  const part = await segment({ points: rows.map((i) => points[i]), ...request, ...explicit, frame });
  const far = rows.flatMap((i, k) =>
    (points[i]?.[0] ?? 0) > 30 && (points[i]?.[1] ?? 0) < 28 ? [[i, k] as const] : [],
  );
  expect(far.length).toBeGreaterThan(3000);
  const differing = far.filter(([i, k]) => whole.labels[i] !== part.labels[k]);
  expect(differing.length).toBeLessThanOrEqual(request.method === "cloth" ? 0.002 * far.length : 0);
});

test.each([
  ["cell_size", { cell_size: 0 }],
  ["cells", { cells: 1 }],
  ["slope", { slope: [9, 0] }],
])("a frame with a wrong %s is refused, one with too small cells ends the run", async (name, wrong) => {
  const { frame } = await segment({ points });
  const [status, detail] = await refusal(made, URL, { points, frame: { ...frame, ...wrong } });
  expect([status, JSON.stringify(detail)]).toEqual([422, expect.stringContaining(name)]);
  const tiny = await segment({ points, frame: { ...frame, outlier_cell_m: 1e-7 } });
  expect(tiny).toMatchObject({
    success: false,
    error: expect.stringMatching(/outlier_cell_m|2\^30 cells/),
    frame: null,
  });
});
