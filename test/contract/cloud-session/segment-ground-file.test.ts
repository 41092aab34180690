// The ground that a file labels itself: taken as it is, and compared with what a filter finds.
import { describe, expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { GroundResponse } from "../../../shared/contract/segment-ground.ts";
import { WOODED } from "../../support/scans/ground-cloud.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { rowsOf } from "../../support/scans/noisy-cloud.ts";
import { answered, cloud, columnOf, refusal } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/segment_ground`;
const FILE = { method: "las_classification" };
const [GROUND, ALL] = [WOODED.ground_count, WOODED.points.length];

/** The points with the class that `classOf` gives them. */
const classed = (classOf: (row: number) => number) =>
  cloud(made, ["x y z las_classification", ...rowsOf(WOODED.points).map((row, i) => `${row} ${classOf(i)}`)]);
/** As in a checked file: ground 2, but for 40 rows, crowns 5. */
const checked = (row: number) => (row < 40 ? 1 : row < GROUND ? 2 : 5);
const segment = (id: string, payload: object = FILE) => answered(made, SessionGroundResponse, url(id), payload);
const labelsOf = (id: string) => columnOf(made, id, extraKey("ground_class"));

describe("method las_classification", () => {
  test("takes the ground of the file", async () => {
    const { session_id } = await classed(checked);
    const answer = await segment(session_id);
    expect(answer).toMatchObject({
      ...{ method: "las_classification", num_ground: GROUND - 40, num_plant: ALL - GROUND + 40 },
      ...{ class_threshold_used: null, class_threshold_method: null, params_used: {}, params_derived: [] },
      ...{ frame: null, hidden_ground: null, low_outliers: 0, warnings: [] },
      auto_disagreement: 40 / ALL,
    });
    expect(await labelsOf(session_id)).toEqual(WOODED.points.map((_, i) => (checked(i) === 2 ? 1 : 2)));
  });

  test("takes the classes that are asked for, and says which others may be ground", async () => {
    const { session_id } = await classed((row) => (row < 40 ? 8 : row < 50 ? 9 : checked(row)));
    expect((await segment(session_id)).warnings).toEqual([
      "Points that may be ground, too, are labelled plant: 40 of class 8 (model key-points, which are ground in files before LAS 1.4), 10 of class 9 (water). Name their classes in ground_classes if they are.",
    ]);
    const both = await segment(session_id, { ...FILE, ground_classes: [2, 8, 9] });
    expect(both).toMatchObject({ num_ground: GROUND, warnings: [], auto_disagreement: 0 });
  });

  test("noise and deleted points are no ground", async () => {
    const { session_id } = await classed((row) => (row < 5 ? 7 : 2 + 3 * Number(row >= GROUND)));
    await made.post(session_id, "delete_region", { region: { kind: "box", min: [-1, 19.9, -9], max: [99, 99, 2] } });
    const answer = await segment(session_id, { ...FILE, ground_classes: [2, 7] });
    expect(answer).toMatchObject({ num_ground: GROUND - 5 - 41, noise_count: 5 });
    const labels = await labelsOf(session_id);
    expect(labels?.slice(0, 5)).toEqual([2, 2, 2, 2, 2]);
    expect(labels?.slice(GROUND - 41, GROUND)).toEqual(Array(41).fill(0));
    const all = await segment(session_id, { ...FILE, ground_classes: [2, 7], skip_noise: false });
    expect(all.num_ground).toBe(GROUND - 41);
  });

  test("labels of a part of the ground are told", async () => {
    const { session_id } = await classed((row) => (row % 2 === 0 && row < GROUND ? 2 : 1));
    expect((await segment(session_id)).warnings).toEqual([
      "Method auto labels 40 % of the points differently: the file may label a part of its ground only, or low plants as ground. Look at both before you use heights.",
    ]);
  });

  test("also for the points of a source; not for inline ones", async () => {
    const { session_id } = await classed(checked);
    const flat = await answered(made, GroundResponse, "/api/segment/ground", { source: { session_id }, ...FILE });
    expect(flat).toMatchObject({ success: true, num_ground: GROUND - 40 });
    expect(await refusal(made, "/api/segment/ground", { points: WOODED.points, ...FILE })).toEqual([
      400,
      'method "las_classification" needs a `source`: inline points have no classes',
    ]);
  });

  test.each([
    [{ ...FILE, ground_classes: [] }, "ground_classes must name at least one class; leave it out for 2"],
    [{ ...FILE, ground_classes: [2, 300] }, "ground_classes must be classes 0 to 255, not 300"],
    [{ ...FILE, slope: 0.2 }, 'slope belongs to method "smrf", not to "las_classification"; leave it out'],
    [{ ground_classes: [2] }, 'ground_classes belongs to method "las_classification", not to "auto"; leave it out'],
  ])("%o is refused", async (payload, message) => {
    const { session_id } = await classed(checked);
    expect(await refusal(made, url(session_id), payload)).toEqual([400, message]);
  });

  test("a frame is refused", async () => {
    const { session_id } = await classed(checked);
    const { frame } = await segment(session_id, { method: "auto" });
    expect(await refusal(made, url(session_id), { ...FILE, frame })).toEqual([
      400,
      'frame is of methods that look for the ground, not of "las_classification"; leave it out',
    ]);
  });

  test("points without such classes change nothing", async () => {
    const none = await cloud(made, ["x y z", ...rowsOf(WOODED.points)]);
    const other = await classed((row) => (row < GROUND ? 1 : 5));
    const failures = [none, other].map(async ({ session_id }) => {
      const [, message] = await refusal(made, url(session_id), FILE);
      expect(await labelsOf(session_id)).toBeUndefined();
      return message;
    });
    expect(await Promise.all(failures)).toEqual([
      'method "las_classification" takes the ground that a file labels, and these points have no classes; choose method auto',
      'method "las_classification" finds no ground: no point has class 2 (ground_classes); choose method auto',
    ]);
  });
});

describe("a file whose points all have one class", () => {
  const las = (classification: number) =>
    cloud(made, lasBytes(WOODED.points.map(([x, y, z]) => ({ x, y, z, classification }))));

  test("is all ground, or none of it", async () => {
    const ground = await las(2);
    expect(ground.constant_dimensions).toContainEqual({ name: "classification", value: 2 });
    expect(await segment(ground.session_id)).toMatchObject({ num_ground: ALL, num_plant: 0 });
    const { session_id } = await las(1);
    expect(await refusal(made, url(session_id), FILE)).toEqual([
      400,
      'method "las_classification" finds no ground: all points have class 1, not 2; choose method auto',
    ]);
    expect((await segment(session_id, {})).warnings).toEqual([]);
  });
});

describe("labels that contradict those of the file", () => {
  test("are told by kind", async () => {
    const { session_id } = await classed((row) =>
      row < 400 ? 6 : row < 420 ? 4 : row < GROUND ? 2 : row % 2 === 0 ? 2 : 5,
    );
    const { warnings } = await segment(session_id, {});
    expect(warnings).toEqual([
      "The labels contradict those of the file (las_classification): 14 % of its ground (2) are plant, 100 % of its buildings, wires and bridges (6, 13 to 17) are ground here. If the file was checked, take its ground: method las_classification.",
    ]);
  });

  test("a few are not, nor points that the file does not label", async () => {
    const few = await classed((row) => (row < 19 ? 6 : row < 40 ? 5 : row < GROUND ? 2 : row < GROUND + 100 ? 2 : 5));
    expect((await segment(few.session_id, {})).warnings).toEqual([]);
    const unlabelled = await classed((row) => (row % 3 === 0 ? 1 : 0));
    expect((await segment(unlabelled.session_id, {})).warnings).toEqual([]);
  });

  test("without ground in the file there is nothing to take", async () => {
    const { session_id } = await classed((row) => (row < GROUND ? 6 : 1));
    expect((await segment(session_id, {})).warnings).toEqual([
      "The labels contradict those of the file (las_classification): 100 % of its buildings, wires and bridges (6, 13 to 17) are ground here. Look at both; delete what is neither ground nor plant first.",
    ]);
  });
});
