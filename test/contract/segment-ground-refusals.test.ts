import { describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { refused } from "../support/app/app.ts";
import { WOODED } from "../support/scans/ground-cloud.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const made = sessionTest();
const segment = (payload: object) => answered(made, GroundResponse, URL, payload);
const { points } = WOODED;

describe("rejected requests", () => {
  test.each([
    [{}, "Send `points` or a `source` descriptor."],
    [{ points, method: "csf" }, 'method "csf" is none of cloth, smrf, auto, las_classification'],
    [{ points, cloth_resolution: 0 }, "cloth_resolution must be a number above 0, not 0"],
    [{ points, class_threshold: -1 }, "class_threshold must be a number above 0, not -1"],
    [{ points, rigidness: 4 }, "rigidness must be 1 to 3, not 4"],
    [{ points, iterations: 0 }, "iterations must be 1 to 10000, not 0"],
    [{ points, iterations: 10_001 }, "iterations must be 1 to 10000, not 10001"],
    [{ points, slope: 0.2 }, 'slope belongs to method "smrf", not to "auto"; leave it out'],
    [{ points, slope: 0.2, rigidness: 1 }, 'slope belongs to method "smrf", not to "cloth"; leave it out'],
    [
      { points, method: "smrf", slope_smooth: false },
      'slope_smooth belongs to method "cloth", not to "smrf"; leave it out',
    ],
    [{ points, method: "auto", rigidness: 3 }, 'rigidness belongs to method "cloth", not to "auto"; leave it out'],
    [{ points, method: "auto", cell_size: 1 }, 'cell_size belongs to method "smrf", not to "auto"; leave it out'],
    [{ points, method: "smrf", cell_size: 0 }, "cell_size must be a number above 0, not 0"],
    [{ points, method: "smrf", elevation_threshold: 0 }, "elevation_threshold must be a number above 0, not 0"],
    [{ points, method: "smrf", slope: -0.1 }, "slope must be a number from 0, not -0.1"],
    [{ points, method: "smrf", net_spacing: -1 }, "net_spacing must be a number from 0, not -1"],
    [
      { points, method: "smrf", window_radius: 0.5 },
      "window_radius 0.5 is 0.500 cells of 1 m; it must be 1 to 200 cells",
    ],
    [
      { points, method: "smrf", cell_size: 0.01 },
      "window_radius 18 is 1.80e+3 cells of 0.01 m; it must be 1 to 200 cells",
    ],
  ])("%j", async (request, detail) => {
    expect(await refusal(made, URL, request)).toEqual([400, detail]);
  });
  test.each([{ points: [[1, 2]] }, { points, rigidness: 1.5 }, { points, slope_smooth: "yes" }])(
    "%#: 422",
    async (request) => {
      expect((await refusal(made, URL, request))[0]).toBe(422);
    },
  );
  test("a cloth that is too fine: 400 with the finest possible resolution, which is accepted", async () => {
    const corners = [...points, [1000, 1000, 0]];
    const { status, detail, ...more } = await refused(made, URL, { points: corners, cloth_resolution: 0.001 });
    expect([status, detail]).toEqual([
      400,
      "cloth_resolution 0.001 needs 1000002.0 M cloth nodes for an extent of 1000.0 m (limit 25 M); 0.21 is the finest that fits",
    ]);
    expect(more).toMatchObject({ finest_cloth_resolution: 0.21 });
    expect(await refusal(made, URL, { points: corners, cloth_resolution: 1e-9 })).toEqual([
      400,
      expect.stringContaining("needs far too many cloth nodes"),
    ]);
    const spy = vi.spyOn(addon, "clothSimulation").mockImplementation(() => {
      throw Object.assign(new Error("the run began"), { code: "unsupported" }); // 25 M nodes are much for a test
    });
    const retried = await segment({ points: corners, cloth_resolution: 0.21, iterations: 1 });
    expect(retried.error).toBe("the run began");
    spy.mockRestore();
  });
});
