// What still water mirrors lies below the ground, and is none.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { extraKey } from "../../backend/sessions/column-names.ts";
import { SessionGroundResponse } from "../../shared/contract/cloud-session/segment-ground.ts";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { TreesResponse } from "../../shared/contract/segment-trees.ts";
import { create } from "../support/app/app.ts";
import { DATA, isQuick } from "../support/scans/data-folder.ts";
import { rowsOf } from "../support/scans/noisy-cloud.ts";
import { POND_LEVEL, pond } from "../support/scans/pond.ts";
import { answered, cloud, columnOf, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { points, real, trees } = pond();
const ofSession = (id: string) => `/api/cloud/session/${id}/segment_ground`;
const segment = (payload: object) => answered(made, GroundResponse, "/api/segment/ground", { points, ...payload });
/** Points that are labelled ground although they lie well below the water. */
const drowned = (labels: ArrayLike<number>) =>
  Array.from(labels).filter((label, i) => label === 1 && (points[i]?.[2] ?? 0) < POND_LEVEL - 0.2).length;
const TOLD =
  /^\d{3,4} points below z = -0\.6 m, down to [45]\.\d m below it \(x -1\d\.\d to 1\d\.\d m, y -1\d\.\d to 1\d\.\d m\), are mirror images .* They are no ground and are labelled plant; if they are ground, send skip_images false\. Delete them \(delete_region or filter, z below -0\.6 there\)/;

describe("images that a pond mirrors", () => {
  test.each([{}, { method: "cloth" }, { method: "smrf", cell_size: 0.5, window_radius: 6 }])(
    "are no ground: %j",
    async (request) => {
      const answer = await segment(request);
      expect(drowned(answer.labels)).toBe(0);
      expect(answer.mirrors).toHaveLength(1);
      const [mirror] = answer.mirrors;
      expect(mirror?.z).toBeCloseTo(POND_LEVEL, 0.7);
      expect(mirror?.image_count).toBeGreaterThan(0.9 * (points.length - real));
      expect(mirror?.image_count).toBeLessThanOrEqual(points.length - real);
      expect(answer.num_ground + answer.num_plant).toBe(points.length);
      expect(answer.warnings[0]).toMatch(TOLD);
      expect(Array.from(answer.labels).filter((label) => label === 1)).toHaveLength(answer.num_ground);
    },
  );

  test("take part with skip_images false", async () => {
    const answer = await segment({ skip_images: false });
    expect(drowned(answer.labels)).toBeGreaterThan(200);
    expect(answer.mirrors).toEqual([]);
    expect(answer.warnings.filter((one) => TOLD.test(one))).toEqual([]);
  });

  test("are plants of a session, whose deleted rows are left out", async () => {
    const { session_id } = await cloud(made, ["x y z", ...rowsOf(points)]);
    const box = { kind: "box", min: [-99, -99, -99], max: [-9, 99, 99] };
    await made.post(session_id, "delete_region", { region: box });
    const answer = await answered(made, SessionGroundResponse, ofSession(session_id), {});
    expect(answer.warnings[0]).toMatch(/^\d+ points below z = -0\.6 m.*\(x -[89]\.\d to/);
    const labels = (await columnOf(made, session_id, extraKey("ground_class"))) ?? [];
    expect(labels).toHaveLength(points.length);
    expect(drowned(labels)).toBe(0);
    expect(labels.every((label, i) => label === ((points[i]?.[0] ?? 0) < -9 ? 0 : label === 1 ? 1 : 2))).toBe(true);
    expect(labels.filter((label) => label === 1).length).toBe(answer.num_ground);
  });

  test("keep the labels of the file, which is told", async () => {
    const { session_id } = await cloud(made, ["x y z las_classification", ...rowsOf(points).map((row) => `${row} 2`)]);
    const answer = await answered(made, SessionGroundResponse, ofSession(session_id), { method: "las_classification" });
    expect(answer.num_ground).toBe(points.length);
    expect(answer.mirrors).toHaveLength(1);
    expect(answer.warnings[0]).toMatch(
      /mirror images .* Where the file labels them as ground, they are ground\. Delete/,
    );
    const wrong = { method: "las_classification", skip_images: false };
    expect(await refusal(made, ofSession(session_id), wrong)).toEqual([
      400,
      expect.stringContaining("skip_images is of methods that look for the ground"),
    ]);
  });
});

test("trees on ground that is found first do not stand in the water, which is told", async () => {
  const told = async (cloud: readonly (readonly number[])[]) => {
    const request = { points: cloud, method: "auto" };
    const answer = await answered(made, TreesResponse, "/api/segment/trees", request);
    return { count: answer.num_trees, warnings: answer.warnings.filter((one) => one.includes("mirror images")) };
  };
  expect(await told(points)).toEqual({
    count: trees.length,
    warnings: [expect.stringMatching(/They are no ground; if they are, label the ground first .* Delete them/)],
  });
  expect(await told(points.slice(0, real))).toEqual({ count: trees.length, warnings: [] });
});

test("clouds without a mirror have none", async () => {
  const answer = await answered(made, GroundResponse, "/api/segment/ground", { points: points.slice(0, real) });
  expect(answer.mirrors).toEqual([]);
  expect(answer.warnings).toEqual([]);
});

/** Levels between the ground and the crowns of these pines face each other by chance: they have no rim. */
const PINES = join(DATA, "trees_tls/treeiso_LPine1_demo.laz");
test.skipIf(!existsSync(PINES) || !isQuick(PINES))("a crowded stand has no mirror (npm run test:large)", async () => {
  const { session_id } = await create(made, PINES);
  const answer = await answered(made, SessionGroundResponse, ofSession(session_id), { acknowledge_cost: true });
  expect(answer.mirrors).toEqual([]);
});
