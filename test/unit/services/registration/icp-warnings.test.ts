import { describe, expect, test } from "vitest";
import type { IcpPose, NativeGlobalAlignment } from "../../../../backend/native/registration.ts";
import { icpWarnings, qualityWarning } from "../../../../backend/services/registration/icp-warnings.ts";

const found = (outcome: "found" | "ambiguous" | "none") => ({ outcome }) as NativeGlobalAlignment;
const GOOD = {
  fitness: 0.9,
  rmse: 0.5,
  max_correspondence_distance: 1,
  start: "centroid",
  global_alignment: null,
  kept_start: false,
  surface_agreement: 0.95,
  surface_places: 2000,
  surface_flats: 1500,
  surface_covered: 0.5,
  final_fitness: 0.8,
} as const;
const SEARCHED = { ...GOOD, start: "global", global_alignment: found("found") } as const;
const warned = (pose: object, rmse_ratio: number | null) => qualityWarning(pose as IcpPose, rmse_ratio);

describe("what speaks against a pose", () => {
  test.each<[string, object, number | null, RegExp | null]>([
    ["nothing", GOOD, 0.01, null],
    ["a target without a size", GOOD, null, null],
    ["no overlap", { ...GOOD, fitness: 0, rmse: 0 }, 0, /do not overlap/],
    ["a large RMSE", GOOD, 0.03, /RMSE of 0.5 m is 3.0 %/],
    ["a large RMSE beside an overlap that fits, found among all poses", SEARCHED, 0.03, null],
    ["the same with a rival", { ...SEARCHED, global_alignment: found("ambiguous") }, 0.03, /RMSE/],
    ["the same, not found", { ...SEARCHED, start: "centroid", global_alignment: found("none") }, 0.03, /RMSE/],
    ["the same, left again", { ...SEARCHED, kept_start: true }, 0.03, /RMSE/],
    ["the same in foliage", { ...SEARCHED, surface_places: 20 }, 0.03, /RMSE/],
    ["other surfaces", { ...GOOD, surface_agreement: 0.2 }, 0.01, /only 20.0 % of it is the same one/],
    ["other surfaces, found", { ...SEARCHED, surface_agreement: 0.2 }, 0.001, /probably wrong/],
    [
      "surfaces that meet none",
      { ...GOOD, surface_places: 20, surface_covered: 0.02 },
      0.01,
      /only 2.0 % of its surfaces/,
    ],
    ["a small common part", { ...GOOD, surface_covered: 0.02, final_fitness: 0.05 }, 0.01, null],
    ["too few surfaces to tell", { ...GOOD, surface_agreement: 0.2, surface_places: 20 }, 0.01, null],
  ])("%s", (_name, pose, rmse_ratio, words) => {
    const warning = warned(pose, rmse_ratio);
    if (words === null) expect(warning).toBeNull();
    else expect(warning).toMatch(words);
  });
});

test("a pose between right and wrong ones is told", () => {
  const told = (surface_agreement: number, more: object = {}) => {
    const pose = { ...GOOD, converged: true, conditioning: 1, ...more, surface_agreement };
    return icpWarnings(pose as unknown as IcpPose).filter((text) => text.includes("look at the pose"));
  };
  expect(told(0.41)).toEqual([expect.stringMatching(/^Where both sides have a surface, 41\.0 % of it is the same/)]);
  expect(told(0.65)).toEqual([]);
  expect(told(0.3)).toEqual([]); // a quality warning
  expect(told(0.41, { surface_places: 20 })).toEqual([]);
});
