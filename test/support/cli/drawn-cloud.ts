import type { PointSample } from "../../../backend/cli/drawing/point-sample.ts";
import { sceneBox, VIEWS, type View, type ViewFrame, viewFrame } from "../../../backend/cli/drawing/view-frame.ts";
import type { Visibility } from "../../../backend/cli/drawing/visibility.ts";

export const [TOP, FRONT, SIDE] = VIEWS as [View, View, View];

export function cloud(points: readonly (readonly number[])[], colors?: readonly (readonly number[])[]): PointSample {
  return {
    point_count: points.length,
    total_count: points.length,
    position: Float64Array.from(points.flat()),
    rgb: colors && Uint8Array.from(colors.flat()),
    intensity: undefined,
  };
}

export function frameOf(view: View, sample: PointSample): ViewFrame {
  const box = sceneBox(sample);
  if (!box) throw new Error("no points");
  return viewFrame(view, box, 400);
}

/** Index of the point seen in the middle of where `at` (stored x, y, z) is projected. */
export function seenAt(seen: Visibility, frame: ViewFrame, at: readonly [number, number, number]): number {
  const { view, left_stored, top_stored, metres_per_px } = frame;
  const x = Math.floor((2 * (at[view.right] - left_stored)) / metres_per_px);
  const y = Math.floor((2 * (top_stored - at[view.up])) / metres_per_px);
  return seen.point[y * seen.width + x] ?? -1;
}

/** Rows (0 = top) and columns of the pixels that show point `index`, as mean shares of the picture. */
export function centre(seen: Visibility, index: number) {
  let n = 0;
  let row = 0;
  let column = 0;
  for (let at = 0; at < seen.point.length; at += 1) {
    if (seen.point[at] !== index) continue;
    n += 1;
    row += Math.floor(at / seen.width) + 0.5;
    column += (at % seen.width) + 0.5;
  }
  return { row: row / n / seen.height, column: column / n / seen.width };
}
