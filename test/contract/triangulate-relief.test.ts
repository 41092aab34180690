import { expect, test } from "vitest";
import { sessionTest } from "../support/session/session-test.ts";
import { triangulated } from "../support/session/triangulation.ts";
import { random } from "../support/session-model/source.ts";

const made = sessionTest();
const mesh = (payload: object) => triangulated(made, payload);

/** Random places of a leaf of 0.1 m by 0.1 m, 1 mm apart, with noise of `scatter` mm. */
function leaf(scatter: number): number[][] {
  const unit = random(5);
  const normal = () => Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
  return Array.from({ length: 10_000 }, () => [0.1 * unit(), 0.1 * unit(), (scatter / 1000) * normal()]);
}

test("without noise the default alpha spans the gaps of random points, and nothing is said", async () => {
  const { meta } = await mesh({ points: leaf(0.001), method: "alpha_shape", alpha: null });
  expect(meta.surface_area).toBeGreaterThan(0.0096);
  const ball = await mesh({ points: leaf(0), method: "ball_pivoting" });
  expect(ball.meta.warnings ?? []).toEqual([]);
  expect(ball.meta.relief).toMatchObject({ flat_share: 1, two_faced_share: expect.closeTo(0, 2) });
});

test("the area of rough triangles, and what counts twice, is told with its figures", async () => {
  const points = leaf(1);
  const rough = await mesh({ points, method: "delaunay" });
  const { area_ratio, scatter_m, spacing_m } = rough.meta.relief;
  expect(rough.meta.surface_area / area_ratio).toBeGreaterThan(0.0095);
  expect(rough.meta.surface_area / area_ratio).toBeLessThan(0.0105);
  expect([scatter_m, spacing_m]).toEqual([expect.closeTo(0.001, 4), expect.closeTo(0.00105, 4)]);
  expect(rough.meta.warnings).toEqual([
    expect.stringMatching(
      /^The triangles are rough: points scatter 0\.9\d mm about the surface and are 1\.1 mm apart on it, which makes them about 1\d\d % larger than the surface under them, and surface_area with them \(relief\)\. Thin the points \(max_points 1\d00\) or use method poisson\.$/,
    ),
  ]);
  const solid = await mesh({ points: leaf(0.4), method: "alpha_shape" });
  expect(solid.meta.warnings).toContainEqual(
    expect.stringMatching(
      /^9\d % of the surface is thin, and both of its faces are part of surface_area: a leaf counts twice, and so does a surface with noise \(relief\)\.$/,
    ),
  );
});

test("area that is drawn between sparse points is told, with a way out for each method", async () => {
  const unit = random(7);
  const dense = Array.from({ length: 4000 }, () => [unit(), unit(), 0]);
  const sparse = Array.from({ length: 60 }, () => [1 + 3 * unit(), unit(), 0.1 * unit()]);
  const whole = await mesh({ points: dense, method: "delaunay" });
  expect(whole.meta.relief.far_share).toBe(0);
  const { meta } = await mesh({ points: [...dense, ...sparse], method: "delaunay" });
  expect(meta.relief.far_share).toBeGreaterThan(0.5);
  expect(meta.warnings).toContainEqual(
    expect.stringMatching(
      /^\d\d % of the surface lies more than 5\d mm from every point, .* \(relief\)\. Method delaunay closes all between points in x and y; for what is no terrain use another method\.$/,
    ),
  );
  const ball = await mesh({ points: [...dense, ...sparse], method: "ball_pivoting" });
  expect(ball.meta.relief.far_share).toBeLessThan(0.25);
  expect((ball.meta.warnings ?? []).join()).not.toContain("of the surface lies more than");
});
