type Body = Readonly<Record<string, unknown>>;

const each = (key: string, values: readonly unknown[], more: Body = {}): Record<string, Body> =>
  Object.fromEntries(values.map((value) => [String(value), { [key]: value, ...more }]));

const pose = (t: number) => ({ t, x: 5 + t, y: 5, z: 4, qx: 0, qy: 0, qz: 0, qw: 1 });
const PATH = { poses: [pose(0), pose(1)], lever_arm: [0, 0, 0], boresight_rpy: [0, 0, 0] };
const scanner = (more: Body) => ({
  scanners: [
    {
      id: "a",
      origin: [5, 5, 4],
      n_theta: 20,
      n_phi: 20,
      theta_min_deg: 100,
      theta_max_deg: 170,
      phi_min_deg: 0,
      phi_max_deg: 360,
      ...more,
    },
  ],
});
const DENOISE = each("method", ["voxel_count", "ror", "auto"]);
const GROUND = each("method", ["cloth", "smrf", "auto"]);
const DEM = { ...each("surface_type", ["dsm", "chm"]), holes: { cell_size: 0.3, fill_voids: false } };
const WOOD = each("method", ["connectivity", "geometric"]);
const PARTS = { write_xml: false };

/** Other requests of an endpoint, in which fields work that mean nothing in the first one: what they add to it. */
const VARIANTS: Readonly<Record<string, Readonly<Record<string, Body>>>> = {
  "/api/pointcloud/denoise": DENOISE,
  "/api/cloud/session/{id}/denoise": DENOISE,
  "/api/segment/ground": GROUND,
  "/api/cloud/session/{id}/segment_ground": GROUND,
  "/api/segment/trees": each("method", ["default", "chm"]),
  "/api/cloud/session/{id}/segment_trees": { ...each("method", ["default", "chm"]), tiled: { tiling: "on" } },
  "/api/segment/wood": WOOD,
  "/api/cloud/session/{id}/segment_wood": WOOD,
  "/api/cloud/session/{id}/dem": DEM,
  "/api/dem": DEM,
  "/api/triangulate": each("method", ["ball_pivoting", "poisson", "alpha_shape"]),
  "/api/fit/crown": each("shape", ["prism", "cone", "alpha"]),
  "/api/pointcloud/export": each("format", ["las", "laz", "ply", "e57", "ptx", "pts", "pcd", "obj", "xyz"]),
  "/api/scan/export-xml": { ...each("data_format", ["las", "ptx", "txt"], PARTS) },
  "/api/dem/export-raster": each("format", ["tif"], { crs_epsg: 32632 }),
  "/api/export": each("format", ["csv", "json"]),
  "/api/plant/generate/stream": { canopy: { mode: "canopy" } },
  "/api/qsm/build": each("radius_model", ["tapered"]),
  "/api/cloud/session/{id}/tree_qsm": each("radius_model", ["tapered"]),
  "/api/cloud/session/{id}/tree_inventory": each("fit_method", ["hough"]),
  "/api/lidar/scan": {
    multi: scanner({ return_mode: "multi", beam_divergence_mrad: 5, exit_diameter_m: 0.01 }),
    moving: scanner({ trajectory: PATH, pulse_rate_hz: 200 }),
    spinning: scanner({
      trajectory: PATH,
      pulse_rate_hz: 200,
      scan_pattern: "spinning_multibeam",
      beam_elevation_angles_deg: [-60, -30],
    }),
    boxed: { scan_grid_only: true, grid: { center: [5, 5, 1], size: [4, 4, 4] } },
  },
  "/api/lad/compute": { traced: { gtheta_override: false, gtheta: null } },
  "/api/c2m/icp-register": each("method", ["point_to_plane", "point_to_point"]),
  "/api/c2c/icp-register": each("method", ["point_to_plane", "point_to_point"]),
};

/** Endpoints that take points of a session instead of inline ones. */
const SOURCES: readonly string[] = [
  "/api/pointcloud/export",
  "/api/pointcloud/denoise",
  "/api/segment/ground",
  "/api/segment/trees",
  "/api/segment/wood",
  "/api/dem",
  "/api/triangulate",
  "/api/skeleton/extract",
  "/api/qsm/build",
];

/** The valid request of an endpoint and its variants, by name. */
export const variantsOf = (path: string, base: Body, session: string): Record<string, Body> => ({
  first: base,
  ...(SOURCES.includes(path)
    ? { source: { ...base, points: null, sources: null, source: { session_id: session } } }
    : {}),
  ...Object.fromEntries(Object.entries(VARIANTS[path] ?? {}).map(([name, more]) => [name, { ...base, ...more }])),
});
