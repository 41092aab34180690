import { describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import { agreement, EXPECTED_GROUND, WOODED, wooded } from "../support/scans/ground-cloud.ts";
import { answered } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const made = sessionTest({ config: { groundTileMinPoints: 20_000, groundTileTargetPoints: 5000 } });
const segment = (payload: object) => answered(made, GroundResponse, URL, payload);
const { points, ground_count } = WOODED;

/** What the client sends today: every field, no method. */
const EXPLICIT = {
  cloth_resolution: 0.5,
  rigidness: 3,
  class_threshold: 0.25,
  iterations: 500,
  slope_smooth: false,
  auto_class_threshold: false,
  ignore_low_outliers: true,
};

test("without method and cloth parameters: auto, labels in input order, counts, derived parameters", async () => {
  const answer = await segment({ points });
  expect(Array.from(answer.labels)).toEqual(EXPECTED_GROUND);
  expect(answer).toMatchObject({
    success: true,
    num_points: points.length,
    num_ground: ground_count,
    num_plant: points.length - ground_count,
    non_finite: 0,
    low_outliers: 0,
    hidden_ground: null,
    ground_noise_m: null,
    ground_residual_m: expect.any(Number),
    class_threshold_method: "derived",
    method: "auto",
    auto_disagreement: null,
    params_derived: ["roughness_m", "cell_size", "class_threshold"],
    tiled: null,
    warnings: [],
    error: null,
  });
  expect(answer.elapsed_s).toBeGreaterThan(0);
});

test.each([{ method: "cloth" }, { iterations: 500 }, { auto_class_threshold: false }])(
  "%j: cloth, and what the request leaves out is derived",
  async (request) => {
    const answer = await segment({ points, ...request });
    expect(answer).toMatchObject({
      class_threshold_method: "derived",
      method: "cloth",
      params_derived: ["cloth_resolution", "rigidness", "class_threshold", "slope_smooth"],
      tiled: null,
      warnings: [],
    });
    expect(agreement(answer.labels, EXPECTED_GROUND)).toBeGreaterThan(0.95);
    expect(answer.auto_disagreement).toBeLessThan(0.05);
    expect(answer.point_spacing_m).toBeGreaterThan(0.4);
    expect(answer.point_spacing_m).toBeLessThan(0.55);
    const half = Math.round(500 * (answer.point_spacing_m ?? 0)) / 1000;
    expect(answer.params_used).toEqual({ ...EXPLICIT, class_threshold: half });
    expect(answer.class_threshold_used).toBe(half);
  },
);

test("a cloth that disagrees with auto on more than 5 % of the points: a warning names auto", async () => {
  const slope = wooded(20, 0.5, 0.6);
  const rigid = await segment({ points: slope.points, ...EXPLICIT, class_threshold: 0.05 });
  const auto = await segment({ points: slope.points });
  const share = 1 - agreement(rigid.labels, Array.from(auto.labels));
  expect(share).toBeGreaterThan(0.05);
  expect(rigid.auto_disagreement).toBeCloseTo(share, 12);
  expect(rigid.warnings).toEqual([
    expect.stringContaining(`Method auto labels ${(100 * share).toFixed(1)} % of the points differently`),
  ]);
  const failed = vi.spyOn(addon, "groundAuto").mockImplementation(() => {
    throw Object.assign(new Error("an extent of 90 km"), { code: "invalid_argument" });
  });
  const alone = await segment({ points, ...EXPLICIT });
  failed.mockRestore();
  expect([alone.auto_disagreement, alone.warnings]).toEqual([
    null,
    ["The labels were not compared with method auto: an extent of 90 km"],
  ]);
});

describe("parameters", () => {
  test("all given: they are used unchanged and nothing is measured", async () => {
    const spy = vi.spyOn(addon, "groundMeasures");
    const answer = await segment({ points, ...EXPLICIT });
    expect(answer).toMatchObject({
      params_used: EXPLICIT,
      params_derived: [],
      class_threshold_used: 0.25,
      class_threshold_method: "manual",
      point_spacing_m: null,
      steepness: null,
    });
    expect(agreement(answer.labels, EXPECTED_GROUND)).toBeGreaterThan(0.97);
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });

  test("an omitted or null parameter is derived, the others are used unchanged", async () => {
    const answer = await segment({ points, ...EXPLICIT, rigidness: null });
    expect(answer.params_used).toEqual(EXPLICIT);
    expect(answer.params_derived).toEqual(["rigidness"]);
  });

  test("steep ground uses a soft cloth and slope fitting", async () => {
    const slope = wooded(20, 0.5, 0.6);
    const answer = await segment({ points: slope.points, method: "cloth" });
    expect(answer.steepness).toBeGreaterThan(0.5);
    expect(answer.params_used).toMatchObject({ rigidness: 1, slope_smooth: true });
    expect(answer.warnings).toEqual([expect.stringContaining("Compare with method auto")]);
    expect(agreement((await segment({ points: slope.points })).labels, EXPECTED_GROUND)).toBeGreaterThan(0.99);
    expect((await segment({ points, slope_smooth: true })).params_derived).not.toContain("slope_smooth");
  });

  test("dense, sparse and wide clouds: derived lengths stay within their limits", async () => {
    const scaled = (factor: number) => points.map((point) => point.map((value) => value * factor));
    const derived = (cloud: readonly (readonly number[])[]) => segment({ points: cloud, method: "cloth" });
    const dense = await derived(scaled(0.02));
    expect(dense.params_used).toMatchObject({ cloth_resolution: 0.1, class_threshold: 0.08 });
    const thin = await derived(scaled(20));
    expect(thin.params_used).toMatchObject({ class_threshold: 0.5 });
    expect(thin.point_spacing_m).toBeGreaterThan(2);
    expect(thin.params_used.cloth_resolution).toBeCloseTo((thin.point_spacing_m ?? 0) / 2, 3);
    const sparse = await derived(scaled(1.5));
    expect(sparse.point_spacing_m).toBeLessThan(1);
    expect(sparse.params_used).toMatchObject({ cloth_resolution: 0.5 });
    const drone = await derived(scaled(0.25));
    expect(drone.params_used.cloth_resolution).toBeCloseTo(2 * (drone.point_spacing_m ?? 0), 3);
    const wide = await derived([...points, [60_000, 0, 0]]);
    expect(wide.params_used.cloth_resolution).toBeGreaterThan(12);
    expect(wide.success).toBe(true);
    expect(wide.warnings.slice(0, 1)).toEqual([
      `The point spacing suggests a cloth resolution of 0.5 m, but an extent of 60000.0 m allows ${wide.params_used.cloth_resolution} m at best, which may be too coarse for the ground. Remove stray points (denoise) or segment parts of the cloud.`,
    ]);
    const given = await segment({ points: [...points, [60_000, 0, 0]], cloth_resolution: 20 });
    for (const { warnings } of [drone, thin, given]) expect(warnings.join()).not.toContain("suggests a cloth");
  });

  test("a measured threshold reports its method; if it cannot be measured, that of the request is used", async () => {
    const dense = wooded(8, 0.1);
    const measured = await segment({ points: dense.points, auto_class_threshold: true, class_threshold: 0.7 });
    expect(["knee", "tail"]).toContain(measured.class_threshold_method);
    expect(measured.class_threshold_used).not.toBe(0.7);
    const few = await segment({ points: points.slice(0, 400), auto_class_threshold: true, class_threshold: 0.7 });
    expect([few.class_threshold_method, few.class_threshold_used]).toEqual(["fallback", 0.7]);
    expect(few.warnings.join()).toContain("could not be measured; 0.7 m was used");
  });

  test("a cloth that did not settle causes a warning", async () => {
    const answer = await segment({ points, ...EXPLICIT, iterations: 1 });
    expect(answer.warnings.slice(0, 1)).toEqual([
      "The cloth was still moving after 1 iterations; more iterations may change the labels.",
    ]);
  });
});

describe("other methods", () => {
  test("smrf: published parameters, or those of the request", async () => {
    const answer = await segment({ points, method: "smrf", window_radius: 6 });
    expect(answer).toMatchObject({
      method: "smrf",
      params_used: {
        cell_size: 1,
        slope: 0.15,
        window_radius: 6,
        elevation_threshold: 0.5,
        elevation_scale: 1.25,
        net_spacing: 0,
      },
      params_derived: [],
      class_threshold_used: 0.5,
      class_threshold_method: "manual",
      tiled: null,
    });
    expect(agreement(answer.labels, EXPECTED_GROUND)).toBeGreaterThan(0.98);
    const strict = await segment({ points, method: "smrf", elevation_threshold: 1e-5, elevation_scale: 0 });
    expect(strict.num_ground).toBeLessThan(answer.num_ground);
  });

  test("auto: all parameters are derived and reported", async () => {
    const answer = await segment({ points, method: "auto" });
    expect(answer).toMatchObject({ method: "auto", class_threshold_method: "derived", tiled: null });
    expect(Object.keys(answer.params_used)).toEqual(["roughness_m", "cell_size", "class_threshold"]);
    expect(answer.params_derived).toEqual(Object.keys(answer.params_used));
    expect(answer.class_threshold_used).toBe(answer.params_used.class_threshold);
    expect(answer.steepness).toBeNull();
    expect(answer.point_spacing_m).toBeGreaterThan(0);
    expect(agreement(answer.labels, EXPECTED_GROUND)).toBeGreaterThan(0.99);
  });
});

test("points below the ground are counted and not labelled ground", async () => {
  const strays = [5.2, 9.7, 14.1].map((at) => [at, at, -8]);
  const answer = await segment({ points: [...points, ...strays] });
  expect(answer.low_outliers).toBe(3);
  expect(answer.warnings).toEqual([]);
  expect(Array.from(answer.labels)).toEqual([...EXPECTED_GROUND, 2, 2, 2]);
});

test("more low outliers than strays explain cause a warning", async () => {
  const strays = Array.from({ length: 30 }, (_, i) => [(i * 7.31) % 20, (i * 12.7) % 20, -4 - ((i * 3.7) % 9)]);
  const answer = await segment({ points: [...points, ...strays] });
  expect(answer.low_outliers).toBeGreaterThan(21);
  expect(answer.warnings).toEqual([
    expect.stringMatching(new RegExp(`^${answer.low_outliers} points \\(1\\.\\d %\\) lie below the surface`)),
  ]);
});

test("ground that plants hide: how much of the area, and a warning", async () => {
  let state = 7;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const scan = (hides: (x: number) => boolean) =>
    Array.from({ length: 25_000 }, () => {
      const [x, y] = [10 * next(), 10 * next()];
      return [x, y, 0.1 * x + (hides(x) && next() > 0.05 ? 0.3 + 0.6 * next() : 0.02 * next())];
    });
  const bare = await segment({ points: scan(() => false) });
  expect([bare.hidden_ground, bare.warnings]).toEqual([0, []]);
  const half = await segment({ points: scan((x) => x > 5) });
  expect(half.hidden_ground).toBeGreaterThan(0.35); // the half behind 5 m, less the metre beside the ground
  expect(half.hidden_ground).toBeLessThan(0.45);
  const share = (100 * (half.hidden_ground ?? 0)).toFixed(0);
  expect(half.warnings).toEqual([expect.stringContaining(`In ${share} % of the area the ground was hardly seen`)]);
});

test("from the tile threshold on, the tiles are reported and a measured threshold is auto (sampled)", async () => {
  const large = wooded(60, 0.4);
  expect(large.points.length).toBeGreaterThan(20_000);
  const request = { points: large.points, cloth_resolution: 0.2, auto_class_threshold: true };
  const answer = await segment(request);
  expect(answer.class_threshold_method).toBe("auto (sampled)");
  expect(answer.tiled).toMatchObject({ n: large.points.length, buffer_m: 6 });
  expect(answer.tiled?.tiles).toBeGreaterThan(3);
  const truth = large.points.map((_, i) => (i < large.ground_count ? 1 : 2));
  expect(agreement(answer.labels, truth)).toBeGreaterThan(0.98);
});

test("unknown keys are named in the warnings", async () => {
  expect((await segment({ points, rigidity: 2 })).warnings[0]).toContain('"rigidity"');
});
