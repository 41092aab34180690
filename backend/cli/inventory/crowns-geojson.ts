import type { TreeRow } from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";

/**
 * The crowns as GeoJSON, piece by piece: one polygon per tree with a crown. Coordinates are those of the cloud; `crs`
 * names their system as GeoJSON of 2008 did, which GDAL and QGIS read (RFC 7946 knows longitude and latitude only).
 */
export function* crownsGeojson(trees: readonly TreeRow[], epsg: number | null): Generator<string> {
  const crs = epsg === null ? "" : `"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::${epsg}"}},`;
  yield `{"type":"FeatureCollection",${crs}"features":[`;
  let separator = "";
  for (const { crown_hull_xy: hull, ...tree } of trees) {
    if (!hull) continue;
    const feature = {
      type: "Feature",
      id: tree.tree_id,
      properties: {
        tree_id: tree.tree_id,
        height_m: tree.height_m ?? null,
        dbh_m: tree.dbh_m ?? null,
        crown_base_height_m: tree.crown_base_height_m ?? null,
        crown_projected_area_m2: tree.crown_projected_area_m2 ?? null,
        n_points: tree.n_points,
        flags: tree.flags.join(";"),
      },
      geometry: { type: "Polygon", coordinates: [[...hull, hull[0]]] },
    };
    yield `${separator}${JSON.stringify(feature)}`;
    separator = ",\n";
  }
  yield "]}\n";
}
