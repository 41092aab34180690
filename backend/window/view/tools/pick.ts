import { Matrix4, type PerspectiveCamera, Vector3 } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { PickedPoint, WorldBox } from "../cloud-view.ts";
import type { CloudPoints, LoadedNode } from "../octree/cloud-points.ts";
import { pointValues } from "../octree/columns.ts";

/** Pixels from the click within which a point counts as clicked. */
const REACH_PX = 7;
/** What a pixel beside the click costs, as a share of the distance: the nearest point wins, unless it is off the mark. */
const MISS_COST = 0.004;

export interface PickRay {
  readonly camera: PerspectiveCamera;
  /** Click and size of the canvas, CSS pixels. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly clip: WorldBox | null;
}

interface Hit {
  readonly cloud: CloudPoints;
  readonly loaded: LoadedNode;
  readonly index: number;
  readonly cost: number;
}

/** The drawn point under a click: the nearest to the camera of those within reach. Null: none. */
export function pickPoint(clouds: readonly CloudPoints[], ray: PickRay): PickedPoint | null {
  let best: Hit | null = null;
  for (const cloud of clouds) {
    for (const loaded of cloud.loaded.values()) {
      if (loaded.points.visible) best = pickInNode(cloud, loaded, ray, best);
    }
  }
  if (!best) return null;
  const { cloud, loaded, index } = best;
  const { array } = loaded.points.geometry.getAttribute("position");
  const stored = ([0, 1, 2] as const).map(
    (axis) => (array[3 * index + axis] ?? 0) + loaded.node.bounds.min[axis],
  ) as unknown as Point;
  const { shift } = cloud;
  return {
    session_id: cloud.input.session_id,
    position_stored: stored,
    position: [stored[0] + shift[0], stored[1] + shift[1], stored[2] + shift[2]],
    values: pointValues(loaded.bytes, cloud.metadata, index),
  };
}

function pickInNode(cloud: CloudPoints, loaded: LoadedNode, ray: PickRay, best: Hit | null): Hit | null {
  const { points, node } = loaded;
  const { camera, width, height } = ray;
  points.updateWorldMatrix(true, false);
  const matrix = new Matrix4()
    .multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse)
    .multiply(points.matrixWorld);
  const m = matrix.elements;
  if (!boxNearClick(m, points.geometry.boundingBox?.max ?? new Vector3(), ray)) return best;
  const clip = ray.clip && localClip(ray.clip, cloud.shift, node.bounds.min as Point);
  const { array } = points.geometry.getAttribute("position");
  let found = best;
  for (let i = 0; i < node.point_count; i += 1) {
    const x = array[3 * i] ?? 0;
    const y = array[3 * i + 1] ?? 0;
    const z = array[3 * i + 2] ?? 0;
    const w = m[3] * x + m[7] * y + m[11] * z + m[15];
    if (w <= 0) continue;
    const px = ((m[0] * x + m[4] * y + m[8] * z + m[12]) / w + 1) * 0.5 * width - ray.x;
    const py = (1 - (m[1] * x + m[5] * y + m[9] * z + m[13]) / w) * 0.5 * height - ray.y;
    const off = px * px + py * py;
    if (off > REACH_PX * REACH_PX) continue;
    if (clip && !isInside([x, y, z], clip)) continue;
    const cost = w * (1 + MISS_COST * Math.sqrt(off));
    if (!found || cost < found.cost) found = { cloud, loaded, index: i, cost };
  }
  return found;
}

/** Whether the box from zero to `size` may come near the click: its corners' extent on the screen. */
function boxNearClick(m: readonly number[], size: Vector3, { x, y, width, height }: PickRay): boolean {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let corner = 0; corner < 8; corner += 1) {
    const [cx, cy, cz] = [corner & 1 ? size.x : 0, corner & 2 ? size.y : 0, corner & 4 ? size.z : 0];
    const at = (row: number) =>
      (m[row] ?? 0) * cx + (m[4 + row] ?? 0) * cy + (m[8 + row] ?? 0) * cz + (m[12 + row] ?? 0);
    const w = at(3);
    if (w <= 0) return true; // around or behind the camera
    const px = (at(0) / w + 1) * 0.5 * width;
    const py = (1 - at(1) / w) * 0.5 * height;
    left = Math.min(left, px);
    right = Math.max(right, px);
    top = Math.min(top, py);
    bottom = Math.max(bottom, py);
  }
  return x >= left - REACH_PX && x <= right + REACH_PX && y >= top - REACH_PX && y <= bottom + REACH_PX;
}

export function localClip(clip: WorldBox, shift: Point, origin: Point): WorldBox {
  const local = (corner: Point): Point => [
    corner[0] - shift[0] - origin[0],
    corner[1] - shift[1] - origin[1],
    corner[2] - shift[2] - origin[2],
  ];
  return { min: local(clip.min), max: local(clip.max) };
}

export function isInside([x, y, z]: Point, { min, max }: WorldBox): boolean {
  return x >= min[0] && x <= max[0] && y >= min[1] && y <= max[1] && z >= min[2] && z <= max[2];
}
