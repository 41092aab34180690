import { expect, test } from "vitest";
import { crownPlace } from "../../../../backend/cli/inventory/steps.ts";

/** A square of points, one per `step` metres in x and y. */
function place(side: number, step: number) {
  const across = side / step + 1;
  const position = Float64Array.from({ length: 3 * across * across }, (_, i) => {
    const point = Math.floor(i / 3);
    return [(point % across) * step, Math.floor(point / across) * step, 0][i % 3] ?? 0;
  });
  const count = across * across;
  const sample = { point_count: count, total_count: count, position, rgb: undefined, intensity: undefined };
  const bounds = { min: [0, 0, 0], max: [side, side, 0] } as const;
  return crownPlace({ tight_bounds: { min: [...bounds.min], max: [...bounds.max] }, world_shift: null }, sample);
}

test.each([
  ["dense", 20, 0.25, 0.5],
  ["sparse: crowns stay apart", 66, 1.5, 1],
  ["sparse and wide: at most a million cells", 3000, 30, 100],
])("%s", (_name, side, step, cell) => {
  expect(place(side, step)?.cell_size).toBe(cell);
});
