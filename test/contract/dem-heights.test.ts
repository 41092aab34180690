import { describe, expect, test } from "vitest";
import { SessionDemMeta } from "../../shared/contract/cloud-session/dem.ts";
import { dem, failedDem, gridPoints, type Point } from "../support/session/dem.ts";
import { cloud, columnOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

/** A field that rises to the east, all of it ground. */
const field = gridPoints(40, 40, (x) => x / 2);
const strip = { cell_size: 1, bbox: [0, 0, 10, 40], auto_segment_ground: false };
const highest = (values: readonly number[]) => Math.max(...values.map(Math.abs));

describe("points outside the box", () => {
  test("hag is above the ground there, the surface keeps the box", async () => {
    const answer = await dem(made, "/api/dem", {
      ...strip,
      points: field,
      ground_labels: field.map(() => 1),
      compute_height_above_ground: true,
    });
    expect(answer.meta).toMatchObject({ grid_nx: 10, grid_ny: 40, grid_origin: [0, 0] });
    expect(answer.meta).not.toHaveProperty("warnings");
    expect(answer.f32("grid_z").length).toBe(400);
    expect(highest(answer.f32("hag"))).toBeLessThan(1e-4);
  });
  test("on every side, in the cells of the box", async () => {
    const body = { points: field, cell_size: 2, ground_labels: field.map(() => 1), auto_segment_ground: false };
    const inner = { ...body, bbox: [11, 13, 21, 23], compute_height_above_ground: true };
    expect(highest((await dem(made, "/api/dem", inner)).f32("hag"))).toBeLessThan(0.51); // half a cell at the edge
  });
  test("a tree outside has its height", async () => {
    const points: Point[] = [...field, [35.5, 20.5, 35.5 / 2 + 12]];
    const ground_labels = points.map((_, i) => (i < field.length ? 1 : 2));
    const answer = await dem(made, "/api/dem", { ...strip, points, ground_labels, compute_height_above_ground: true });
    expect(answer.f32("hag").at(-1)).toBeCloseTo(12, 4);
  });
  test("the column of a session: hits outside are above the ground there, noise keeps the edge of the box", async () => {
    const rows = field.map(([x, y, z]) => `${x} ${y} ${z} 1 0`);
    const noisy = [...rows, "500.5 20.5 300 2 2"];
    const { session_id } = await cloud(made, ["x y z ground_class noise_class", ...noisy]);
    const url = `/api/cloud/session/${session_id}/dem`;
    const answer = await dem(made, url, { ...strip, add_height_column: true }, SessionDemMeta as never);
    expect(answer.meta).toMatchObject({ grid_nx: 10, noise_count: 1 });
    const heights = (await columnOf(made, session_id, "extra/height_above_ground")) ?? [];
    expect(highest(heights.slice(0, -1))).toBeLessThan(1e-4);
    expect(heights.at(-1)).toBeCloseTo(300 - 39.5 / 2, 4);
  });
  test("too far away for the cells: an error that names the way out", async () => {
    const points: Point[] = [...field, [500_000, 20, 5]];
    const body = { ...strip, points, ground_labels: points.map(() => 1) };
    const { error, code } = await failedDem(made, "/api/dem", { ...body, compute_height_above_ground: true });
    expect(code).toBe("invalid_argument");
    expect(error).toBe(
      "Points lie outside bbox, and their heights need the terrain below them: 500000 x 40 = 20000000 cells of 1 m, but the limit is 4000000. Use a larger cell size, leave out compute_height_above_ground, or label strays as noise first (denoise).",
    );
    await dem(made, "/api/dem", body);
  });
});
