import { type GroundPlane, groundPlane, tallShare } from "../drawing/ground-plane.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { samplePercentiles } from "../drawing/point-sample.ts";
import { plainNumber } from "../drawing/round-steps.ts";
import type { Scene, SceneKind } from "../report/findings.ts";

/** Extents between these percentiles, so that stray points do not count. */
const LOW = 0.005;
const HIGH = 0.995;
/** Smaller than this in every direction: a thing, not a piece of land. */
const SMALL_M = 3;
/** Wider than this, a cloud with fewer points per square metre was scanned from the air. */
const WIDE_M = 60;
const AIRBORNE_POINTS_PER_M2 = 500;
/** Land lies under most of its cells; a stem, a crown or furniture does not. */
const LAND_SHARE = 0.35;
/** A tree without ground stands on a small part of the area that its crown covers. */
const STEM_SHARE = 0.3;
/** A tree is at least this high, and at least this part of its width. */
const TREE_M = 1.5;
const TREE_SLENDERNESS = 0.7;
/** A ceiling covers at least this share of the area, in a room up to this height. */
const CEILING_SHARE = 0.3;
const ROOM_M = 12;

const metres = (value: number) => `${plainNumber(value, value < 10 ? 1 : 0)} m`;
const percent = (share: number) => `${plainNumber(100 * share, 0)} %`;

/** The kind of scene: the one that is asked for, else the one that the points look like, with the reason. */
export function sceneOf(sample: PointSample, asked: SceneKind | undefined): Scene {
  if (asked) return { kind: asked, asked: true, reason: "--scene" };
  return { ...detectedScene(sample), asked: false };
}

/** Extents without strays. */
export function extents(sample: PointSample): [number, number, number] {
  return [0, 1, 2].map((axis) => {
    const value = (i: number) => sample.position[3 * i + axis] ?? Number.NaN;
    const [low = 0, high = 0] = samplePercentiles(sample.point_count, value, [LOW, HIGH]) ?? [];
    return high - low;
  }) as [number, number, number];
}

/** True if a room of this height has this floor and ceiling, and both above each other: a slope has one surface. */
const isRoom = (sample: PointSample, height: number, below: GroundPlane, above: GroundPlane): boolean =>
  height < ROOM_M &&
  height > TREE_M &&
  above.flat_share >= CEILING_SHARE &&
  below.flat_share >= CEILING_SHARE / 2 &&
  tallShare(sample, height / 2) >= CEILING_SHARE / 2;

/** Height of the ceiling of a room, metres, stored frame; undefined for everything else. */
export function ceilingOf(sample: PointSample): number | undefined {
  const [x, y, height] = extents(sample);
  if (Math.max(x, y, height) < SMALL_M) return undefined;
  const above = groundPlane(sample, "above");
  return isRoom(sample, height, groundPlane(sample, "below"), above) ? above.flat_level : undefined;
}

/** Errors: none; a cloud without points is an object. */
export function detectedScene(sample: PointSample): Pick<Scene, "kind" | "reason"> {
  const [x, y, height] = extents(sample);
  const [width, depth] = [Math.max(x, y), Math.min(x, y)];
  if (Math.max(width, height) < SMALL_M)
    return { kind: "object", reason: `smaller than ${SMALL_M} m in every direction` };
  const below = groundPlane(sample, "below");
  const above = groundPlane(sample, "above");
  if (isRoom(sample, height, below, above))
    return {
      kind: "object",
      reason: `a flat ceiling over ${percent(above.flat_share)} of the area, ${metres(height)} above the floor: a room`,
    };
  const land = below.share;
  if (width > WIDE_M || land >= LAND_SHARE) {
    const size = `${metres(width)} × ${metres(depth)}`;
    const area = below.occupied_m2;
    const perSquareMetre = area > 0 ? sample.total_count / area : 0;
    const sparse = perSquareMetre < AIRBORNE_POINTS_PER_M2;
    const isAirborne = width > WIDE_M && sparse;
    const density = ` with ${sparse ? "fewer" : "more"} than ${AIRBORNE_POINTS_PER_M2} points/m²`;
    const detail = width > WIDE_M ? density : `, ground under ${percent(land)} of the area`;
    return { kind: isAirborne ? "airborne" : "plot", reason: `${size}${detail}` };
  }
  if (height >= TREE_M && height >= TREE_SLENDERNESS * width && below.base_share <= STEM_SHARE)
    return {
      kind: "tree",
      reason: `${metres(height)} high and ${metres(width)} wide, standing on ${percent(below.base_share)} of the area, without ground around it`,
    };
  return { kind: "object", reason: `no ground: a low surface lies under ${percent(land)} of the area only` };
}
