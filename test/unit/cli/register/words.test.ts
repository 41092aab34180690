import { describe, expect, test } from "vitest";
import { inWorld, type Pose } from "../../../../backend/cli/register/pose.ts";
import { sideWords, turnOf, verdict } from "../../../../backend/cli/register/words.ts";
import type { IcpSuccess } from "../../../../shared/contract/icp.ts";
import { motion, placed } from "../../../support/cli/surfaces.ts";

const GOOD = { quality_warning: null, fitness: 1, converged: true, kept_start: false, conditioning: 0.1, overlap: 0.9 };
const searched = (outcome: "found" | "ambiguous" | "none") => ({ outcome }) as IcpSuccess["global_alignment"];
const checked = (verdict: "confirmed" | "undecided", place_count: number) => ({
  pose_check: { verdict } as IcpSuccess["pose_check"],
  surface_agreement: { agreement: 0.9, covered: 0.5, place_count, flat_count: 500 },
});
const pose = (change: Partial<IcpSuccess>): Pose => ({
  matrix: [],
  answer: { ...GOOD, ...change } as IcpSuccess,
  is_inverted: false,
});

describe("the verdict names the worst of it", () => {
  test.each<[Partial<IcpSuccess>, RegExp]>([
    [{}, /^Nothing speaks against the pose/],
    [{ fitness: 0, kept_start: true, converged: false }, /do not overlap/],
    [{ kept_start: true, converged: false, quality_warning: "bad" }, /^Not registered: .* the start, which was kept/],
    [{ quality_warning: "bad" }, /probably wrong/],
    [{ global_alignment: searched("ambiguous") }, /^Another pose fits almost as well/],
    [{ global_alignment: searched("none") }, /found no pose/],
    [{ global_alignment: searched("found") }, /^Nothing speaks against the pose/],
    [{ conditioning: 1e-5 }, /leave a motion free/],
    [{ ...checked("undecided", 40) }, /^Too few surfaces face each other/],
    [{ ...checked("undecided", 400) }, /^Nothing speaks against the pose/],
    [{ ...checked("confirmed", 40) }, /^Nothing speaks against the pose/],
    [{ converged: false }, /not settled/],
    [{ overlap: 0.1 }, /small part only/],
  ])("%j", (change, words) => {
    expect(verdict(pose(change))).toMatch(words);
  });
});

test("sides are called by what the user gave, also where the mesh was moved instead of the cloud", () => {
  const text = "The target has 5 points of the source; No source point fits: allow more max_iterations.";
  expect(sideWords(text, { is_inverted: false })).toBe(
    "The fixed file has 5 points of the moving file; No moving point fits: allow more --iterations.",
  );
  expect(sideWords(text, { is_inverted: true })).toBe(
    "The moving file has 5 points of the fixed file; No fixed point fits: allow more --iterations.",
  );
});

test("angle and axis of a turn", () => {
  const { angle_deg, axis } = turnOf(motion(0.3, 0, [1, 2, 3]));
  expect([angle_deg, ...axis]).toEqual([(0.3 * 180) / Math.PI, 0, 0, 1].map((value) => expect.closeTo(value, 9)));
  expect(turnOf(motion(0, 0, [0, 0, 0])).angle_deg).toBe(0);
  expect(turnOf(motion(Math.PI, 0, [0, 0, 0])).angle_deg).toBeCloseTo(180, 9);
});

test("a motion between local frames does the same in the world", () => {
  const local = motion(0.2, -0.1, [1, 2, 3]);
  const [target, source] = [[476_000, 5_429_000, 100] as const, [10, -20, 30] as const];
  const point = [1.5, 2.5, -0.5];
  const world = placed(
    inWorld(local, target, source),
    point.map((value, k) => value + (source[k] ?? 0)),
  );
  const wanted = placed(local, point).map((value, k) => value + (target[k] ?? 0));
  for (const [k, value] of world.entries()) expect(Math.abs(value - (wanted[k] ?? 0))).toBeLessThan(2e-9);
});
