import { expect, test } from "vitest";
import { TreesResponse } from "../../shared/contract/segment-trees.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

// Fields of plants that are lower than trees.

const made = sessionTest();
const segment = (payload: object) => answered(made, TreesResponse, "/api/segment/trees", payload);

/** Nine plants of a height, one every 2 m, on ground in steps of 0.25 m. */
function field(height: number) {
  const ground = Array.from({ length: 25 * 25 }, (_, i) => [0.25 * (i % 25), 0.25 * Math.floor(i / 25), 0]);
  const plants = Array.from({ length: 9 * 60 }, (_, i) => {
    const [plant, level, turn] = [Math.floor(i / 60), (i % 60) / 60, 2.4 * i];
    const wide = 0.2 * Math.sin(Math.PI * level);
    const [x, y] = [1 + 2 * (plant % 3), 1 + 2 * Math.floor(plant / 3)];
    return [x + wide * Math.cos(turn), y + wide * Math.sin(turn), 0.02 + height * level];
  });
  return { points: [...ground, ...plants], ground_class: [...ground.map(() => 1), ...plants.map(() => 2)] };
}

test("chm: no canopy is high enough", async () => {
  const answer = await segment({ ...field(1.5), method: "chm" });
  expect(answer).toMatchObject({ success: true, num_trees: 0 });
  expect(answer.warnings).toEqual([
    expect.stringMatching(/^No tree was found: method chm looks for canopy more than chm_min_height \(2 m\)/),
  ]);
  const low = await segment({ ...field(1.5), method: "chm", chm_min_height: 0.5, chm_crown_scale: 1 });
  expect([low.num_trees, low.warnings.join()]).toEqual([9, expect.not.stringContaining("No tree")]);
});

test("auto: plants below 2 m are told apart by gaps alone, and those below 0.7 m are no trees", async () => {
  const told = async (height: number, more: object = {}) => {
    const { num_trees, warnings } = await segment({ ...field(height), method: "auto", ...more });
    return [num_trees, warnings.join()];
  };
  expect(await told(1.5)).toEqual([9, expect.stringMatching(/^No plant is higher than 2 m: method auto/)]);
  expect(await told(0.5)).toEqual([0, expect.stringMatching(/^No tree was found: for method auto plants below 0.7 m/)]);
  expect(await told(2.5)).toEqual([9, expect.not.stringMatching(/No plant|No tree/)]);
  const seeds = { seed_points: [[1, 1, 0]] };
  expect(await told(1.5, seeds)).toEqual([1, expect.not.stringMatching(/No plant/)]);
});

test("auto: crowns high up without stems are no low plants", async () => {
  const { points, ground_class } = field(2);
  // Of each crown twelve points, 5 m up.
  const kept = points.flatMap((_, i) => (ground_class[i] === 1 || i % 5 === 0 ? [i] : []));
  const lifted = kept.map((i) => (points[i] ?? []).map((v, k) => (k === 2 && ground_class[i] !== 1 ? v + 5 : v)));
  const answer = await segment({ points: lifted, ground_class: kept.map((i) => ground_class[i]), method: "auto" });
  expect(answer.num_trees).toBe(0);
  expect(answer.warnings).toEqual([
    expect.stringMatching(/^Too few stems were seen for method auto: .* use method chm/),
  ]);
});
