import type { Point } from "../../../../shared/contract/geometry.ts";
import type { Profile, WorldBox } from "../cloud-view.ts";
import { classColour, type Rgb, rampAt } from "../colours/palettes.ts";
import type { PointColours } from "../colours/resolve.ts";
import type { CloudPoints, LoadedNode } from "../octree/cloud-points.ts";
import { columnColours, columnValues } from "../octree/columns.ts";
import { isInside, localClip } from "./pick.ts";

export interface ProfileBand {
  readonly from: Point;
  readonly to: Point;
  readonly width_m: number;
  readonly clip: WorldBox | null;
  readonly is_complete: boolean;
}

/** The drawn points within half the width of the line from `from` to `to`, seen from above. */
export function profileOf(
  clouds: readonly CloudPoints[],
  colours: ReadonlyMap<CloudPoints, PointColours>,
  band: ProfileBand,
): Profile {
  const out: { points: number[]; colours: number[] } = { points: [], colours: [] };
  const length_m = Math.hypot(band.to[0] - band.from[0], band.to[1] - band.from[1]);
  for (const cloud of clouds) {
    const how = colours.get(cloud) ?? { mode: "flat" };
    for (const loaded of cloud.loaded.values()) {
      if (loaded.points.visible) collect(cloud, loaded, how, { ...band, length_m }, out);
    }
  }
  return {
    from: band.from,
    to: band.to,
    length_m,
    width_m: band.width_m,
    points: Float32Array.from(out.points),
    colours: Uint8Array.from(out.colours),
    is_complete: band.is_complete,
  };
}

function collect(
  cloud: CloudPoints,
  { node, points, bytes }: LoadedNode,
  how: PointColours,
  { from, to, width_m, length_m, clip }: ProfileBand & { readonly length_m: number },
  out: { points: number[]; colours: number[] },
): void {
  if (length_m === 0) return;
  const origin = node.bounds.min as Point;
  const [x0, y0] = [from[0] - cloud.shift[0] - origin[0], from[1] - cloud.shift[1] - origin[1]];
  const [ux, uy] = [(to[0] - from[0]) / length_m, (to[1] - from[1]) / length_m];
  const box = clip && localClip(clip, cloud.shift, origin);
  const { array } = points.geometry.getAttribute("position");
  let colourAt: ((i: number, height: number) => Rgb) | undefined;
  for (let i = 0; i < node.point_count; i += 1) {
    const [x, y, z] = [array[3 * i] ?? 0, array[3 * i + 1] ?? 0, array[3 * i + 2] ?? 0];
    const along = (x - x0) * ux + (y - y0) * uy;
    const across = (y - y0) * ux - (x - x0) * uy;
    if (along < 0 || along > length_m || Math.abs(across) > width_m / 2) continue;
    if (box && !isInside([x, y, z], box)) continue;
    const height = z + origin[2] + cloud.shift[2];
    colourAt ??= colourer(bytes, cloud, how); // most nodes lie beside the band
    out.points.push(along, height);
    out.colours.push(...colourAt(i, height));
  }
}

const FLAT: Rgb = [107, 127, 117];

function colourer(bytes: Uint8Array, { metadata }: CloudPoints, how: PointColours): (i: number, height: number) => Rgb {
  if (how.mode === "height") return (_, height) => rampAt((height - how.range[0]) / (how.range[1] - how.range[0]));
  if (how.mode === "rgb") {
    const rgb = columnColours(bytes, metadata);
    return (i) => (rgb ? [rgb[4 * i] ?? 0, rgb[4 * i + 1] ?? 0, rgb[4 * i + 2] ?? 0] : FLAT);
  }
  if (how.mode === "ramp" || how.mode === "class") {
    const base = how.mode === "ramp" ? how.range[0] : 0;
    const values = columnValues(bytes, metadata, how.column, base);
    if (how.mode === "class") return (i) => classColour(how.column.name, Math.round(values[i] ?? 0));
    const span = how.range[1] - how.range[0];
    return (i) => rampAt((values[i] ?? 0) / span);
  }
  return () => FLAT;
}
