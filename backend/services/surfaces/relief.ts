import type { FarArea, MeshRelief } from "../../native/surfaces.ts";

/** Share of the places that have to show a surface, for anything to be said of it. */
const LEAST_FLAT = 0.25;
/** Area of the triangles over that of the surface, and share of it on both faces of something, that are told. */
const TOLD_RATIO = 1.1;
const TOLD_SHARE = 0.5;
/** Scatter over spacing at which ball pivoting has 4 % too much area. */
const SMOOTH = 0.3;

const millimetres = (value: number) => `${Number((1000 * value).toPrecision(2))} mm`;

/** What of surface_area is noise, or both faces of something thin. */
export function reliefWarnings(relief: MeshRelief, method: string, points: number): string[] {
  const { flat_share, area_ratio, two_faced_share, scatter_m, spacing_m } = relief;
  if (flat_share < LEAST_FLAT) return [];
  const warnings: string[] = [];
  if (area_ratio >= TOLD_RATIO) {
    const rough = `The triangles are rough: points scatter ${millimetres(scatter_m)} about the surface and are ${millimetres(spacing_m)} apart on it, which makes them about ${Math.round(100 * (area_ratio - 1))} % larger than the surface under them, and surface_area with them (relief).`;
    const fewer = Math.round(points * Math.min(1, ((SMOOTH * spacing_m) / scatter_m) ** 2));
    const smooth = method === "poisson" ? "" : " or use method poisson";
    warnings.push(
      scatter_m > SMOOTH * spacing_m
        ? `${rough} Thin the points (max_points ${Number(fewer.toPrecision(2))})${smooth}.`
        : rough,
    );
  }
  if (two_faced_share >= TOLD_SHARE)
    warnings.push(
      `${Math.round(100 * two_faced_share)} % of the surface is thin, and both of its faces are part of surface_area: a leaf counts twice${method === "alpha_shape" ? ", and so does a surface with noise" : ""} (relief).`,
    );
  return warnings;
}

/** Share of the area that is told: reconstructions of whole plants and rooms have less. */
const TOLD_FAR = 0.25;

const SPARSE_WAYS: Readonly<Record<string, string>> = {
  poisson: "Delete the sparse part first, or use method ball_pivoting with small radii, which leaves it open.",
  ball_pivoting: "Delete the sparse part first, or give smaller radii.",
  alpha_shape: "Delete the sparse part first, or give a smaller alpha.",
  delaunay: "Method delaunay closes all between points in x and y; for what is no terrain use another method.",
};

/** What of surface_area a method has drawn where no points are. */
export function farWarnings({ share, reach_m }: FarArea, method: string): string[] {
  if (!(share >= TOLD_FAR)) return [];
  return [
    `${Math.round(100 * share)} % of the surface lies more than ${millimetres(reach_m)} from every point, twice as far as most points are from those around them: there it is drawn between sparse points, and surface_area with it (relief). ${SPARSE_WAYS[method] ?? ""}`.trim(),
  ];
}
