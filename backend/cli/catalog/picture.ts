import { type Rgb, rampColor } from "../drawing/color-ramp.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import { VIEWS, type View, viewFrame } from "../drawing/view-frame.ts";
import { MapCanvas } from "../inventory/map-canvas.ts";
import type { Catalog, CatalogFile } from "./document.ts";

const EDGE: Rgb = [0x1d, 0x24, 0x20];
const GAP: Rgb = [0xd6, 0x27, 0x28];
const UNKNOWN: Rgb = [0xc8, 0xcc, 0xca];
const [TOP_VIEW] = VIEWS as readonly [View, ...View[]];

/** The boxes of the files seen from above, coloured by density; gaps in red. */
export function catalogPicture({ files, layout, density }: Catalog, longestPx: number): Promise<Uint8Array> {
  const { min, max } = layout.bounds;
  const frame = viewFrame(TOP_VIEW, { min: [min[0], min[1], 0], max: [max[0], max[1], 0] }, longestPx);
  const map = new MapCanvas(frame);
  const known = files.flatMap((file) => (file.density === null ? [] : [file.density]));
  const range = [0, known.reduce((a, b) => Math.max(a, b), 0) || 1] as const;
  for (const { bounds } of files) fillBox(map, bounds, EDGE);
  for (const file of files) {
    const color = file.density === null ? UNKNOWN : rampColor("viridis", file.density / range[1]);
    fillBox(map, file.bounds, color, 1);
  }
  for (const gap of layout.gaps) fillBox(map, gap, GAP);
  return framedPicture(map.canvas, {
    title: `Catalogue of ${files.length} files`,
    frame,
    world_shift: [0, 0, 0],
    bar: density === null ? null : { ramp: "viridis", range, unit: "points/m2" },
    legend: layout.gaps.length > 0 ? [{ color: GAP, text: "gap" }] : [],
  });
}

/** Fills a box, `inset` pixels within its edges. */
export function fillBox(
  map: MapCanvas,
  { min, max }: { readonly min: readonly number[]; readonly max: readonly number[] } | CatalogFile["bounds"],
  color: Rgb,
  inset = 0,
): void {
  const [left, bottom] = map.at([min[0] ?? 0, min[1] ?? 0]);
  const [right, top] = map.at([max[0] ?? 0, max[1] ?? 0]);
  const [width, height] = [Math.max(1, right - left - 2 * inset), Math.max(1, bottom - top - 2 * inset)];
  map.canvas.fill(left + inset, top + inset, width, height, color);
}
