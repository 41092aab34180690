import { expect, test } from "vitest";
import { boxOf, dem, type Point } from "../support/session/dem.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const URL_ = "/api/dem";
const flat = (body: object) => dem(made, URL_, { cell_size: 1, auto_segment_ground: false, ...body });

const side = 20;
/** A steep plane with points anywhere. */
const points = Array.from({ length: 4 * side * side }, (_, i): Point => {
  const x = side * ((i * 0.754877666) % 1);
  const y = side * ((i * 0.569840291) % 1);
  return [x, y, x - y / 2];
});
const request = { points, bbox: boxOf(side, side), ground_labels: points.map(() => 1) };
const rmse = (z: readonly number[]) => {
  const errors = z.map((value, c) => value - ((c % side) + 0.5 - (Math.floor(c / side) + 0.5) / 2));
  return Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / errors.length);
};
test.each(["tin", "idw", "nearest"])("is on unless the request sets it to false (%s)", async (method) => {
  const asked = await flat({ ...request, method, slope_correction: true });
  const usual = await flat({ ...request, method });
  const plain = await flat({ ...request, method, slope_correction: false });
  expect(usual.meta.slope_correction).toBe(true);
  expect(plain.meta.slope_correction).toBe(false);
  expect(usual.f32("grid_z")).toEqual(asked.f32("grid_z"));
  expect(rmse(plain.f32("grid_z"))).toBeGreaterThan(0.2);
  expect(rmse(usual.f32("grid_z"))).toBeLessThan(0.25 * rmse(plain.f32("grid_z")));
});
test("false gives the percentile of each cell", async () => {
  const cells = Array.from({ length: side * side }, () => [] as number[]);
  for (const [x, y, z] of points) cells[Math.floor(y) * side + Math.floor(x)]?.push(z);
  const lowest = cells.map((z) => Math.fround(Math.min(...z)));
  expect(cells.every((z) => z.length > 0 && z.length < 21)).toBe(true);
  expect((await flat({ ...request, slope_correction: false })).f32("grid_z")).toEqual(lowest);
});
test("height above ground follows the terrain of the answer", async () => {
  const body = { ...request, compute_height_above_ground: true };
  const off = (answer: { f32(name: string): number[] }) =>
    Math.sqrt(answer.f32("hag").reduce((sum, h) => sum + h ** 2, 0) / points.length);
  const plain = off(await flat({ ...body, slope_correction: false }));
  expect(off(await flat(body))).toBeLessThan(0.5 * plain);
});
test("applies to the terrain below a canopy, and is absent for a dsm", async () => {
  const canopy = points.map(([x, y, z]): Point => [x, y, z + 5]);
  const body = {
    ...request,
    points: [...points, ...canopy],
    ground_labels: [...points.map(() => 1), ...canopy.map(() => 2)],
  };
  const chm = await flat({ ...body, surface_type: "chm" });
  const plain = await flat({ ...body, surface_type: "chm", slope_correction: false });
  expect(chm.meta.slope_correction).toBe(true);
  expect(plain.meta.slope_correction).toBe(false);
  expect(chm.f32("grid_z")).not.toEqual(plain.f32("grid_z"));
  const dsm = await flat({ ...body, surface_type: "dsm" });
  expect(dsm.meta).not.toHaveProperty("slope_correction");
  expect((await flat({ ...body, surface_type: "dsm", slope_correction: false })).f32("grid_z")).toEqual(
    dsm.f32("grid_z"),
  );
});
test.each(["true", 1, null])("%j is rejected", async (slope_correction) => {
  expect((await refusal(made, URL_, { ...request, slope_correction }))[0]).toBe(422);
});
