import type { Triple } from "../../../shared/octree/potree2-metadata.ts";
import type { ViewFrame } from "./view-frame.ts";

/** A parallel projection from any direction; the three axes are unit vectors at right angles. */
export interface Camera {
  readonly right: Triple;
  readonly up: Triple;
  /** Direction to the viewer. */
  readonly toward: Triple;
  /** The place in the middle of the picture, metres. */
  readonly center: Triple;
  readonly width_px: number;
  readonly height_px: number;
  readonly metres_per_px: number;
}

/** Empty border around the mesh, as a share of its longest side in the picture. */
const MARGIN = 0.02;
const SHORTEST_SIDE = 0.2;

export const dot = (a: Triple, b: Triple): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = ([x, y, z]: Triple, factor: number): Triple => [x * factor, y * factor, z * factor];
const sum = (...parts: readonly Triple[]): Triple =>
  parts.reduce((a, b): Triple => [a[0] + b[0], a[1] + b[1], a[2] + b[2]], [0, 0, 0]);
const cross = ([a, b, c]: Triple, [x, y, z]: Triple): Triple => [b * z - c * y, c * x - a * z, a * y - b * x];
const unit = (v: Triple): Triple => scaled(v, 1 / Math.hypot(...v));

/** Least and largest coordinate along an axis; 0 without vertices. */
function extentAlong(axis: Triple, vertices: Float32Array): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < vertices.length; i += 3) {
    const at = dot(axis, [vertices[i] ?? 0, vertices[i + 1] ?? 0, vertices[i + 2] ?? 0]);
    low = Math.min(low, at);
    high = Math.max(high, at);
  }
  return low <= high ? [low, high] : [0, 0];
}

/** The camera of a view along an axis. */
export function frameCamera({ view, ...frame }: ViewFrame): Camera {
  const axis = (k: 0 | 1 | 2, sign = 1): Triple => [k === 0 ? sign : 0, k === 1 ? sign : 0, k === 2 ? sign : 0];
  const { width_px, height_px, metres_per_px } = frame;
  const center: [number, number, number] = [0, 0, 0];
  center[view.right] = frame.left_stored + (width_px / 2) * metres_per_px;
  center[view.up] = frame.top_stored - (height_px / 2) * metres_per_px;
  const toward = axis(view.depth, view.depth_sign);
  return { right: axis(view.right), up: axis(view.up), toward, center, width_px, height_px, metres_per_px };
}

/** A camera that sees all vertices (three numbers each) from the direction `from`, which is not vertical, with z upwards. */
export function obliqueCamera(from: Triple, vertices: Float32Array, longestPx: number): Camera {
  const toward = unit(from);
  const right = unit(cross([0, 0, 1], toward));
  const up = cross(toward, right);
  const [left, last] = extentAlong(right, vertices);
  const [low, high] = extentAlong(up, vertices);
  const center = sum(scaled(right, (left + last) / 2), scaled(up, (low + high) / 2));
  const [across, upwards] = [last - left, high - low];
  const longest = Math.max(across, upwards);
  const metres_per_px = (longest > 0 ? longest * (1 + 2 * MARGIN) : 1) / longestPx;
  const pixels = (length: number) =>
    Math.min(
      longestPx,
      Math.ceil(Math.max(SHORTEST_SIDE * longestPx, length / metres_per_px + 2 * MARGIN * longestPx)),
    );
  const [width_px, height_px] = [pixels(across), pixels(upwards)];
  return { right, up, toward, center, width_px, height_px, metres_per_px };
}
