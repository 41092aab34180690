import { describe, expect, test } from "vitest";
import {
  type ClothParams,
  clothSimulation,
  clothSimulationCost,
  groundAuto,
  smrf,
} from "../../../../backend/native/classify/ground.ts";
import { addon } from "../../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../../backend/native/core/handles.ts";

const params: ClothParams = {
  cloth_resolution: 0.5,
  rigidness: 3,
  class_threshold: 0.1,
  iterations: 500,
  slope_smooth: false,
  auto_class_threshold: false,
  ignore_low_outliers: true,
  want_heights: true,
  tile_min_points: 4_000_000,
  tile_target_points: 3_000_000,
};

/** A gentle plane of 21 x 21 points, and one point 3 m above it as the last row. */
function plane(): NativeColumn {
  const xyz: number[] = [];
  for (let i = 0; i < 441; i += 1) xyz.push((i % 21) / 2, Math.floor(i / 21) / 2, (i % 21) / 160);
  xyz.push(5, 5, 5 / 80 + 3);
  return new addon.Column("vec3d", new Uint8Array(new Float64Array(xyz).buffer));
}

function bytes(column: NativeColumn): Uint8Array {
  const out = new Uint8Array(column.bytes);
  column.readInto(out, 0);
  return out;
}

describe("cloth simulation", () => {
  test("labels every row in order and gives heights", async () => {
    const result = await clothSimulation(plane(), null, params).promise;
    const labels = bytes(result.ground_class);
    expect([...labels.subarray(0, 441)].every((label) => label === 1)).toBe(true);
    expect(labels[441]).toBe(2);
    expect(result).toMatchObject({ num_ground: 441, num_plant: 1, class_threshold_used: 0.1, tiled: null });
    expect(result.class_threshold_method).toBe("manual");
    const heights = new Float32Array(bytes(result.height_above_cloth as NativeColumn).buffer);
    expect(heights[441]).toBeCloseTo(3, 2);
  });

  test("skipped rows get 0 and no height", async () => {
    const skip = new Uint8Array(442);
    skip[7] = 1;
    const result = await clothSimulation(plane(), new addon.Column("u8", skip), params).promise;
    expect(bytes(result.ground_class)[7]).toBe(0);
    expect(bytes(result.ground_class)[8]).toBe(1);
    expect(result.num_ground).toBe(440);
    expect(new Float32Array(bytes(result.height_above_cloth as NativeColumn).buffer)[7]).toBeNaN();
  });

  test("returns the plan of tiles", async () => {
    const { tiled } = await clothSimulation(plane(), null, { ...params, tile_min_points: 10, tile_target_points: 50 })
      .promise;
    expect(tiled).toMatchObject({ n: 442, buffer_m: 15, points_per_tile_mean: expect.any(Number) });
    expect(tiled?.tiles).toBe((tiled?.grid[0] ?? 0) * (tiled?.grid[1] ?? 0));
  });

  test("refuses a cloth that is too fine and names a resolution that is accepted", async () => {
    await expect(clothSimulation(plane(), null, { ...params, cloth_resolution: 1e-4 }).promise).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("is the finest that fits"),
    });
    const cost = clothSimulationCost(442, [10, 10], 1e-4);
    expect(cost.admissible).toBe(false);
    expect(clothSimulationCost(442, [10, 10], cost.finest_resolution_m).admissible).toBe(true);
  });
});

describe("other filters", () => {
  const opening = {
    cell_size: 1,
    slope: 0.15,
    window_radius: 18,
    elevation_threshold: 0.5,
    elevation_scale: 1.25,
    net_spacing: 0,
  };

  test("the morphological filter labels rows and refuses invalid parameters", async () => {
    const result = await smrf(plane(), null, opening).promise;
    expect(result).toMatchObject({ num_ground: 441, num_plant: 1, low_outliers: 0 });
    expect(bytes(result.ground_class)[441]).toBe(2);
    await expect(smrf(plane(), null, { ...opening, cell_size: 0 }).promise).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  test("the automatic filter returns the derived parameters", async () => {
    const skip = new Uint8Array(442);
    skip[3] = 1;
    const result = await groundAuto(plane(), new addon.Column("u8", skip)).promise;
    expect(result).toMatchObject({ num_ground: 440, num_plant: 1 });
    expect([...bytes(result.ground_class).subarray(2, 5)]).toEqual([1, 0, 1]);
    expect(bytes(result.ground_class)[441]).toBe(2);
    expect(result.derived.point_spacing_m).toBeGreaterThan(0.3);
    expect(result.derived.point_spacing_m).toBeLessThan(0.7);
  });
});
