import { describe, expect, test } from "vitest";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { EXPECTED_GROUND, WOODED } from "../support/scans/ground-cloud.ts";
import { rowsOf } from "../support/scans/noisy-cloud.ts";
import { answered, cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const made = sessionTest({ config: { groundTileMinPoints: 20_000, groundTileTargetPoints: 5000 } });
const segment = (payload: object) => answered(made, GroundResponse, URL, payload);
const { points } = WOODED;

describe("a session as source", () => {
  test("labels the hits that are not deleted, in order", async () => {
    const rows = ["x y z is_miss", "0 0 900 1", ...rowsOf(points).map((row) => `${row} 0`)];
    const { session_id } = await cloud(made, rows);
    const region = { kind: "box", min: [-0.1, -0.1, -9], max: [0.1, 0.1, 1] }; // the first ground point
    const deleting = `/api/cloud/session/${session_id}/delete_region`;
    await made.app.inject({ method: "POST", url: deleting, payload: { region } });
    const answer = await segment({ source: { session_id, max_points: 10, translation: [1, 2, 3] } });
    expect(Array.from(answer.labels)).toEqual(EXPECTED_GROUND.slice(1));
    expect(answer.num_points).toBe(points.length - 1);
  });
  test.each([
    [{ source: { session_id: "00000000" } }, 404, "Cloud session not found: 00000000"],
    [{ source: {} }, 400, "the source has neither a session_id nor a source_path"],
    [{ source: { source_path: "/a.las" } }, 400, expect.stringContaining("no session")],
    [{ source: { session_id: "00000000", translation: [1] } }, 400, expect.stringContaining("translation")],
  ])("%j", async (request, status, detail) => {
    expect(await refusal(made, URL, request)).toEqual([status, detail]);
  });
});

describe("unusual clouds get a result", () => {
  const one = Array.from({ length: 500 }, () => [1e7, 2e7, 3]);
  const line = Array.from({ length: 50 }, (_, i) => [i, 0, 0]);
  test.each([
    ["ten points", points.slice(0, 10)],
    ["all in one place", one],
    ["a line", line],
    ["a wall", Array.from({ length: 400 }, (_, i) => [i % 20, 0, Math.floor(i / 20)])],
  ])("%s", async (_name, odd) => {
    for (const method of ["cloth", "smrf", "auto"]) {
      const answer = await segment({ points: odd, method });
      expect([answer.success, answer.error, answer.num_points]).toEqual([true, null, odd.length]);
      expect(answer.num_ground + answer.num_plant).toBe(odd.length);
    }
  });
});
