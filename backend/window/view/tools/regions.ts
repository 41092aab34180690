import { Matrix4, type PerspectiveCamera, type Vector3 } from "three";
import type { Point } from "../../../../shared/contract/geometry.ts";
import type { BoxRegion, Region } from "../../../../shared/contract/region.ts";
import type { Selection, WorldBox } from "../cloud-view.ts";

type Pixel = [number, number];

/** What was drawn on the canvas, CSS pixels. */
export type Drawn =
  | { readonly kind: "polygon"; readonly points: readonly Pixel[] }
  | { readonly kind: "squares"; readonly centers: readonly Pixel[]; readonly half_size: number };

/** A cloud as far as regions depend on it. */
export interface RegionCloud {
  readonly input: { readonly session_id: string };
  readonly shift: Point;
  readonly group: { readonly position: Vector3 };
}

export interface Screen {
  readonly camera: PerspectiveCamera;
  readonly width: number;
  readonly height: number;
}

/** Columns of the squares beyond which a stroke is thinned out: the service takes each of them to every point. */
const MAX_SQUARES = 400;
const MAX_CORNERS = 800;

/** The clip box in the stored frame of a cloud. */
export function boxRegion({ min, max }: WorldBox, shift: Point): BoxRegion {
  const stored = (corner: Point): Point => [corner[0] - shift[0], corner[1] - shift[1], corner[2] - shift[2]];
  return { kind: "box", min: stored(min), max: stored(max) };
}

/** What was drawn, as the region of one cloud: its view matrix takes the stored frame to the eye. */
export function screenRegion(drawn: Drawn, cloud: RegionCloud, { camera, width, height }: Screen): Region {
  const view = new Matrix4()
    .copy(camera.matrixWorldInverse)
    .multiply(new Matrix4().makeTranslation(cloud.group.position));
  const fixed = {
    projection: camera.projectionMatrix.toArray() as number[],
    view: view.toArray() as number[],
    canvas: { width, height },
  };
  if (drawn.kind === "polygon") return { kind: "polygon", points: thinned(drawn.points, MAX_CORNERS), ...fixed };
  const centers = thinned(drawn.centers, MAX_SQUARES);
  return { kind: "squares_union", centers, half_sizes: centers.map(() => drawn.half_size), ...fixed };
}

/** The selection of a drag, for all clouds that are shown. */
export function selectionOf(
  tool: Selection["tool"],
  drawn: Drawn,
  clouds: readonly RegionCloud[],
  screen: Screen,
  clip: WorldBox | null,
): Selection {
  return {
    tool,
    entries: clouds.map((cloud) => ({
      session_id: cloud.input.session_id,
      region: screenRegion(drawn, cloud, screen),
      limit_box: clip && boxRegion(clip, cloud.shift),
    })),
  };
}

/** The corners of a rectangle between two places. */
export const rectangle = ([x0, y0]: Pixel, [x1, y1]: Pixel): Pixel[] => [
  [x0, y0],
  [x1, y0],
  [x1, y1],
  [x0, y1],
];

/** Adds the places of a stroke so densely that its squares leave no gap. */
export function extendStroke(centers: Pixel[], to: Pixel, half_size: number): void {
  const from = centers.at(-1);
  if (!from) {
    centers.push(to);
    return;
  }
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const steps = Math.floor(length / half_size);
  for (let i = 1; i <= steps; i += 1) {
    const t = (i * half_size) / length;
    centers.push([from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])]);
  }
}

/** At most `most` of a list, evenly spaced, with both ends. */
function thinned(list: readonly Pixel[], most: number): Pixel[] {
  if (list.length <= most) return list.map(([x, y]) => [x, y]);
  return Array.from({ length: most }, (_, i) => {
    const [x, y] = list[Math.round((i * (list.length - 1)) / (most - 1))] as Pixel;
    return [x, y];
  });
}
