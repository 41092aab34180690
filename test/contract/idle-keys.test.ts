import { beforeAll, expect, test } from "vitest";
import { documentOf, operationsOf } from "../support/app/openapi.ts";
import { readRun } from "../support/app/run-body.ts";
import { stageOf, type ValidRequests } from "../support/requests/valid-requests.ts";
import { sessionTest } from "../support/session/session-test.ts";

/* Fields that mean nothing beside the others of a request are named in the answer, like keys that it does not have. */

const made = sessionTest({ closeSessions: "at the end" });
let requests: ValidRequests;
let session = "";
beforeAll(async () => {
  ({ requests, session } = await stageOf(made));
});

/** The keys that an answer calls meaningless. */
async function namedBy(path: string, body: object): Promise<string[]> {
  const answer = await made.app.inject({ method: "POST", url: path.replace("{id}", session), payload: body });
  expect([answer.statusCode, answer.statusCode === 200 ? "" : answer.body]).toEqual([200, ""]);
  const text = answer.rawPayload.toString("latin1");
  const said = /The request has keys that mean nothing here and were ignored: ((?:[^.]|\.(?! |"|$))*)\./.exec(
    text.replaceAll('\\"', "'"),
  )?.[1];
  return [...(said ?? "").matchAll(/'([^']*)'/g)].map(([, key]) => key ?? "").sort();
}

const source = () => ({ session_id: session });
const pose = (t: number) => ({ t, x: 5 + t, y: 5, z: 4, qx: 0, qy: 0, qz: 0, qw: 1 });
const scanner = () => (requests["/api/lidar/scan"] as { scanners: object[] }).scanners[0];
const scanned = (more: object) => ({ scanners: [{ ...scanner(), ...more }] });
const camera = { projection: new Array(16).fill(0), view: new Array(16).fill(0), canvas: { width: 1, height: 1 } };
const box = { kind: "box", min: [0, 0, 0], max: [1, 1, 1] };

const CASES: readonly (readonly [path: string, more: () => object, named: readonly string[]])[] = [
  ["/api/triangulate", () => ({ radii: [0.5], depth: 6, alpha: 1 }), ["alpha", "depth", "radii"]],
  ["/api/triangulate", () => ({ method: "alpha_shape", alpha: 2, normal_max_nn: 9 }), ["normal_max_nn"]],
  ["/api/triangulate", () => ({ crop_box_rotation_deg: 5, source: source() }), ["crop_box_rotation_deg", "source"]],
  ["/api/skeleton/extract", () => ({ dominant_axis: "x" }), ["dominant_axis"]],
  [
    "/api/skeleton/extract",
    () => ({ remove_outliers: false, outlier_std_ratio: 3, smooth_skeleton: false, smoothing_iterations: 5 }),
    ["outlier_std_ratio", "smoothing_iterations"],
  ],
  ["/api/dem", () => ({ cloth_resolution: 1, rigidness: 1, bbox: [0, 1] }), ["bbox", "cloth_resolution", "rigidness"]],
  ["/api/dem", () => ({ source: { ...source(), max_points: 9 } }), ["points", "source.max_points"]],
  ["/api/cloud/session/{id}/dem", () => ({ surface_type: "DSM", ground_percentile: 9 }), ["ground_percentile"]],
  ["/api/pointcloud/denoise", () => ({ source: { ...source(), max_points: 9 } }), ["points", "source.max_points"]],
  ["/api/segment/ground", () => ({ source: { ...source(), max_points: 9 } }), ["points", "source.max_points"]],
  ["/api/segment/trees", () => ({ points: null, source: { ...source(), max_points: 9 } }), ["source.max_points"]],
  ["/api/segment/wood", () => ({ points: null, source: source(), reflectance: [1] }), ["reflectance"]],
  ["/api/qsm/build", () => ({ source: source() }), ["points"]],
  ["/api/pointcloud/export", () => ({ columns: ["a"] }), ["columns"]],
  ["/api/pointcloud/export", () => ({ system_of: "none", format: "las" }), ["system_of"]],
  ["/api/pointcloud/export", () => ({ source: source(), filename: "a.txt" }), ["points"]],
  ["/api/scan/export-xml", () => ({ data_format: "las" }), ["data_format"]],
  ["/api/lidar/scan", () => scanned({ max_returns: 2 }), ["scanners[0].max_returns"]],
  ["/api/lidar/scan", () => scanned({ return_mode: "multi", max_returns: 2 }), []],
  ["/api/lidar/scan", () => scanned({ return_selection: "weakest" }), ["scanners[0].return_selection"]],
  ["/api/lidar/scan", () => scanned({ return_type: "dual" }), ["scanners[0].return_type"]],
  [
    "/api/lidar/scan",
    () => scanned({ trajectory: { poses: [pose(0), pose(1)] }, pulse_rate_hz: 100, tilt_roll_deg: 3 }),
    ["scanners[0].tilt_roll_deg"],
  ],
  ["/api/lidar/scan", () => ({ grid: { center: [0, 0, 0], size: [1, 1, 1] } }), ["grid"]],
  [
    "/api/lad/compute",
    () => ({ dem: { grid_z: [0], nx: 1, ny: 1, cell: 1, origin: [0, 0] }, lmax: 1 }),
    ["dem", "lmax"],
  ],
  ["/api/lad/compute", () => ({ return_weights: "energy" }), ["return_weights"]],
  [
    "/api/lad/snap-grid",
    () => ({ grid: { ...(requests["/api/lad/snap-grid"] as { grid: object }).grid, column_offsets: [0, 0, 0, 0] } }),
    ["grid.column_offsets"],
  ],
  [
    "/api/cloud/session/{id}/segment_trees",
    () => ({ method: "chm", tile_buffer_m: 20, defer_octree: true }),
    ["tile_buffer_m"],
  ],
  ["/api/dem/export-raster", () => ({ crs_epsg: 32632 }), ["crs_epsg"]],
  ["/api/dem/export-raster", () => ({ crs_epsg: 32632, format: "GeoTIFF" }), []],
  ["/api/c2m/distance", () => ({ points: [0, 0, 0] }), ["points"]],
  ["/api/c2c/icp-register", () => ({ target_source: source() }), ["target_points"]],
  ["/api/plant/generate/stream", () => ({ count_x: 9, position_x: 1 }), ["count_x"]],
  [
    "/api/cloud/session/{id}/extract",
    () => ({ region: { ...box, ...camera } }),
    ["region.canvas", "region.projection", "region.view"],
  ],
  [
    "/api/cloud/session/{id}/extract",
    () => ({ scalar_filters: [{ slug: "ground_class", min: 5, values: [1, 2] }] }),
    ["scalar_filters[0].min"],
  ],
];

test.each(CASES.map(([path, more, named]) => [path, named, more] as const))(
  "%s names %j",
  async (path, named, more) => {
    expect(await namedBy(path, { ...requests[path], ...more() })).toEqual(named);
  },
);

test("a client that sends every field with its default is told of none", async () => {
  const document = await documentOf(made);
  const paths = [...new Set(CASES.map(([path]) => path))];
  for (const { path, op } of operationsOf(document).filter((one) => paths.includes(one.path))) {
    const schema = op.requestBody?.content["application/json"]?.schema;
    const fields = document.components.schemas[schema?.$ref?.split("/").at(-1) ?? ""]?.properties ?? {};
    const defaults = Object.entries(fields).flatMap(([name, field]) =>
      "default" in field ? [[name, field.default]] : [],
    );
    expect(defaults.length).toBeGreaterThan(0);
    expect([path, await namedBy(path, { ...Object.fromEntries(defaults), ...requests[path] })]).toEqual([path, []]);
  }
});

test("labels of another number than points, and columns that no cloud has, are told of", async () => {
  const warningsOf = async (path: string, body: object) => {
    const answer = await made.app.inject({ method: "POST", url: path, payload: body });
    const { outcome } = readRun(answer.rawPayload);
    const { warnings } = (outcome.kind === "frame" ? outcome.frame.meta : (outcome as { value: object }).value) as {
      warnings?: string[];
    };
    return (warnings ?? []).join(" ");
  };
  expect(await warningsOf("/api/dem", { ...requests["/api/dem"], ground_labels: [1, 1] })).toContain(
    "ground_labels has 2 values for 1200 points; it was ignored.",
  );
  const exported = { source: source(), format: "las", columns: ["ground_class", "grund"] };
  expect(await warningsOf("/api/pointcloud/export", exported)).toContain('The cloud has no column "grund"');
  const scan = { session_id: session, origin: [0, 0, 0], columns: ["grund"] };
  expect(await warningsOf("/api/scan/export-xml", { scans: [scan] })).toContain('The cloud has no column "grund"');
  const wood = { scalar_slug: "grund", method: "geometric", defer_octree: true };
  const labelled = await made.app.inject({
    method: "POST",
    url: `/api/cloud/session/${session}/segment_wood`,
    payload: wood,
  });
  expect(labelled.json().warnings.join(" ")).toContain('The cloud has no column "grund" (scalar_slug)');
});
