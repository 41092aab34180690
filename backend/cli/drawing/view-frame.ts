import type { Box, Triple } from "../../../shared/octree/potree2-metadata.ts";
import { type PointSample, samplePercentiles } from "./point-sample.ts";

export type ViewName = "top" | "front" | "side" | "plan";
type Axis = 0 | 1 | 2;

/** A parallel projection. x points east, y north, z up; nearer points have a larger depth. */
export interface View {
  readonly name: ViewName;
  readonly title: string;
  /** Axis to the right and axis upwards in the picture. */
  readonly right: Axis;
  readonly up: Axis;
  readonly depth: Axis;
  readonly depth_sign: 1 | -1;
}

/** The side view looks west: with z up, y increases to the right. */
export const VIEWS: readonly View[] = [
  { name: "top", title: "Top view, north up", right: 0, up: 1, depth: 2, depth_sign: 1 },
  { name: "front", title: "Front view, looking north", right: 0, up: 2, depth: 1, depth_sign: -1 },
  { name: "side", title: "Side view, looking west", right: 1, up: 2, depth: 0, depth_sign: 1 },
];

/** A room from above without its ceiling. */
export const PLAN_VIEW: View = {
  name: "plan",
  title: "Plan of what is below the ceiling, north up",
  right: 0,
  up: 1,
  depth: 2,
  depth_sign: 1,
};

/** True if the picture is a map. */
export const isFromAbove = ({ depth }: View): boolean => depth === 2;

export const AXIS_NAMES = ["x", "y", "z"] as const;

/** Longest side of a picture, pixels. */
export const DEFAULT_PICTURE_PX = 1400;
/** The picture of a thin cloud is padded to this share of its longest side. */
const SHORTEST_SIDE = 0.2;
/** Empty border around the points, as a share of the longest extent. */
const MARGIN = 0.02;

/** Placement of a view's picture in the stored frame. */
export interface ViewFrame {
  readonly view: View;
  readonly width_px: number;
  readonly height_px: number;
  readonly metres_per_px: number;
  /** Left and upper edge of the picture along the view's right and up axes, metres, stored frame. */
  readonly left_stored: number;
  readonly top_stored: number;
}

const axes = [0, 1, 2] as const;
const triple = (value: (axis: Axis) => number): Triple => [value(0), value(1), value(2)];

/**
 * The box that the pictures show: the extent of the points within one scene size (longest p1..p99 extent) of the
 * p1..p99 box, so that one distant stray return does not shrink the cloud to a dot. Undefined without points.
 */
export function sceneBox(sample: PointSample): Box | undefined {
  const whole = extentWithin(sample, undefined);
  if (!whole) return undefined;
  const robust = axes.map((axis) => {
    const ends = samplePercentiles(sample.point_count, (i) => sample.position[3 * i + axis] ?? 0, [0.01, 0.99]);
    return { low: ends?.[0] ?? whole.min[axis], high: ends?.[1] ?? whole.max[axis] };
  });
  const size = Math.max(...robust.map(({ low, high }) => high - low));
  if (!(size > 0)) return whole;
  const near = {
    min: triple((axis) => (robust[axis]?.low ?? 0) - size),
    max: triple((axis) => (robust[axis]?.high ?? 0) + size),
  };
  return extentWithin(sample, near) ?? whole;
}

/** Extent of the points inside `limit`; undefined without any. */
function extentWithin({ point_count, position }: PointSample, limit: Box | undefined): Box | undefined {
  const min: [number, number, number] = [Infinity, Infinity, Infinity];
  const max: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  const isInside = (value: number, axis: Axis) => !limit || (value >= limit.min[axis] && value <= limit.max[axis]);
  for (let i = 0; i < point_count; i += 1) {
    const [x = 0, y = 0, z = 0] = [position[3 * i], position[3 * i + 1], position[3 * i + 2]];
    if (!isInside(x, 0) || !isInside(y, 1) || !isInside(z, 2)) continue;
    min[0] = Math.min(min[0], x);
    min[1] = Math.min(min[1], y);
    min[2] = Math.min(min[2], z);
    max[0] = Math.max(max[0], x);
    max[1] = Math.max(max[1], y);
    max[2] = Math.max(max[2], z);
  }
  return max[0] === -Infinity ? undefined : { min, max };
}

/** Fits a view's picture to the box: longest side `longestPx`, same scale on both axes. */
export function viewFrame(view: View, box: Box, longestPx = DEFAULT_PICTURE_PX): ViewFrame {
  const extent = { right: box.max[view.right] - box.min[view.right], up: box.max[view.up] - box.min[view.up] };
  const longest = Math.max(extent.right, extent.up);
  // The picture of a single point is one metre wide.
  const shown = longest > 0 ? longest * (1 + 2 * MARGIN) : 1;
  const metresPerPx = shown / longestPx;
  const pixels = (length: number) =>
    Math.min(longestPx, Math.ceil(Math.max(SHORTEST_SIDE * longestPx, length / metresPerPx + 2 * MARGIN * longestPx)));
  const width = pixels(extent.right);
  const height = pixels(extent.up);
  return {
    view,
    width_px: width,
    height_px: height,
    metres_per_px: metresPerPx,
    left_stored: (box.min[view.right] + box.max[view.right]) / 2 - (width / 2) * metresPerPx,
    top_stored: (box.min[view.up] + box.max[view.up]) / 2 + (height / 2) * metresPerPx,
  };
}
