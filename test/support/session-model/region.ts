import type { Vec3 } from "./cloud.ts";

export interface BoxRegion {
  readonly kind: "box";
  readonly min: readonly number[];
  readonly max: readonly number[];
  readonly invert?: boolean;
}
export interface ScreenRegion {
  readonly kind: "polygon" | "squares_union";
  readonly points?: readonly (readonly [number, number])[];
  readonly centers?: readonly (readonly [number, number])[];
  readonly half_sizes?: readonly number[];
  readonly projection: readonly number[];
  readonly view: readonly number[];
  readonly canvas: { readonly width: number; readonly height: number };
  readonly invert?: boolean;
}
export type ModelRegion = BoxRegion | ScreenRegion;

type Vec4 = readonly [number, number, number, number];
interface Pixel {
  readonly x: number;
  readonly y: number;
  readonly w: number;
}

/** m (column-major) times v. */
function times(m: readonly number[], v: Vec4): Vec4 {
  const row = (r: number) => {
    const at = (c: number) => m[4 * c + r] ?? 0;
    return at(0) * v[0] + at(1) * v[1] + at(2) * v[2] + at(3) * v[3];
  };
  return [row(0), row(1), row(2), row(3)];
}

/** a times b, both column-major. */
function product(a: readonly number[], b: readonly number[]): number[] {
  return [0, 1, 2, 3].flatMap((c) => [
    ...times(a, [b[4 * c] ?? 0, b[4 * c + 1] ?? 0, b[4 * c + 2] ?? 0, b[4 * c + 3] ?? 0]),
  ]);
}

function pixel(clip: Vec4, { width, height }: ScreenRegion["canvas"]): Pixel {
  const [x, y, , w] = clip;
  return { x: ((x / w + 1) / 2) * width, y: (1 - (y / w + 1) / 2) * height, w };
}

/** Where a point lies on the screen, with the product P V formed first and last. */
function pixels(region: ScreenRegion, [x, y, z]: Vec3): [Pixel, Pixel] {
  const together = times(product(region.projection, region.view), [x, y, z, 1]);
  const apart = times(region.projection, times(region.view, [x, y, z, 1]));
  return [pixel(together, region.canvas), pixel(apart, region.canvas)];
}

function insideShape(region: ScreenRegion, px: number, py: number): boolean {
  if (region.kind === "squares_union") {
    return (region.centers ?? []).some(([cx, cy], i) => {
      const half = region.half_sizes?.[i] ?? 0;
      return Math.abs(px - cx) <= half && Math.abs(py - cy) <= half;
    });
  }
  let inside = false;
  const points = region.points ?? [];
  for (let i = 0, j = points.length - 1; i < points.length; j = i, i += 1) {
    const [xi, yi] = points[i] ?? [0, 0];
    const [xj, yj] = points[j] ?? [0, 0];
    if (yi > py !== yj > py && px < ((xj - xi) * (py - yi)) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}

/** Whether a point is inside, before `invert`. */
function inside(region: ModelRegion, point: Vec3): boolean {
  if (region.kind === "box") {
    return point.every((value, axis) => value >= (region.min[axis] ?? 0) && value <= (region.max[axis] ?? 0));
  }
  const [{ x, y, w }] = pixels(region, point);
  return w > 0 && insideShape(region, x, y);
}

export const inRegion = (region: ModelRegion, point: Vec3): boolean =>
  inside(region, point) !== (region.invert === true);

const NEAR_PX = 1e-6;
/**
 * Whether the answer does not hang on the order of the multiplications: either no point is near an edge, or the
 * arithmetic is exact in both orders.
 */
export function isClear(region: ModelRegion, points: readonly Vec3[]): boolean {
  if (region.kind === "box") return true;
  return points.every((point) => {
    const [a, b] = pixels(region, point);
    if (a.x === b.x && a.y === b.y && a.w === b.w && isDyadic(a.x) && isDyadic(a.y)) return true;
    if (Math.abs(a.w) < 1e-9) return false;
    if (a.w <= 0) return true;
    const answers = [0, NEAR_PX, -NEAR_PX].flatMap((dx) =>
      [0, NEAR_PX, -NEAR_PX].map((dy) => insideShape(region, a.x + dx, a.y + dy)),
    );
    return answers.every((answer) => answer === answers[0]);
  });
}
/** A pixel on a coarse binary grid: nothing was rounded on the way. */
const isDyadic = (value: number): boolean => Number.isInteger(value * 4096);

// The first two cameras calculate exactly on half metres.
const ORTHO = [0.125, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, -0.125, 0, 0, 0, 0, 1];
/** Square perspective with the eye looking down its own -z. */
const PERSPECTIVE = [1.5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, -1.002, -1, 0, 0, -0.2, 0];

function lookAt(eye: Vec3, at: Vec3): number[] {
  const minus = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const cross = (a: Vec3, b: Vec3): Vec3 => [
    a[1] * b[2] - a[2] * b[1],
    a[2] * b[0] - a[0] * b[2],
    a[0] * b[1] - a[1] * b[0],
  ];
  const unit = (a: Vec3): Vec3 => [a[0] / Math.hypot(...a), a[1] / Math.hypot(...a), a[2] / Math.hypot(...a)];
  const dot = (a: Vec3, b: Vec3) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const back = unit(minus(eye, at));
  const right = unit(cross([0, 0, 1], back));
  const up = cross(back, right);
  return [
    ...[0, 1, 2].flatMap((axis) => [right[axis] ?? 0, up[axis] ?? 0, back[axis] ?? 0, 0]),
    -dot(right, eye),
    -dot(up, eye),
    -dot(back, eye),
    1,
  ];
}

/** Frozen cameras over some 4 x 4 x 2 m of data whose lowest corner is `corner`. */
export function camera(kind: number, corner: Vec3): Pick<ScreenRegion, "projection" | "view" | "canvas"> {
  const [x, y, z] = corner;
  const middle: Vec3 = [x + 2, y + 2, z + 1];
  const canvas = { width: 256, height: 256 };
  switch (kind % 5) {
    case 0: // from above
      return { projection: ORTHO, view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, -y, -z, 1], canvas };
    case 1: // from the front: x right, z up
      return { projection: ORTHO, view: [1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, -x, -z, y, 1], canvas };
    case 2:
      return { projection: PERSPECTIVE, view: lookAt([x + 7.3, y - 5.1, z + 4.7], middle), canvas };
    case 3: // from among the points: some are behind it
      return { projection: PERSPECTIVE, view: lookAt([x + 1.63, y + 1.79, z + 0.91], [x + 4, y + 3.1, z]), canvas };
    default:
      return {
        projection: PERSPECTIVE,
        view: lookAt([x - 3.3, y + 6.1, z + 9.7], middle),
        canvas: { width: 301, height: 199 },
      };
  }
}
