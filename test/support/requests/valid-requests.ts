import { join } from "node:path";
import { create, scanFile, type TestApp } from "../app/app.ts";

type Body = Record<string, unknown>;

/** A request that the service accepts, by the path of its endpoint as the OpenAPI document writes it. */
export type ValidRequests = Readonly<Record<string, Body>>;

/** What requests refer to. */
export interface Stage {
  readonly session: string;
  readonly requests: ValidRequests;
}

const hash = (i: number) => {
  const x = Math.sin(i * 12.9898) * 43758.5453;
  return x - Math.floor(x);
};

const GROUND = 600;

/** Ground of 10 x 10 m with a stem of 20 cm: 1,200 points. */
export const stagePoints = (): [number, number, number][] =>
  Array.from({ length: 1200 }, (_, i) => {
    if (i < GROUND) return [10 * hash(3 * i), 10 * hash(3 * i + 1), 0.02 * hash(3 * i + 2)];
    const turn = 2 * Math.PI * hash(5 * i);
    return [5 + 0.1 * Math.cos(turn), 5 + 0.1 * Math.sin(turn), 6 * hash(5 * i + 1)];
  });

/** Two records of a trajectory: seconds, latitude, longitude, height, and 13 values of 0. */
const sbet = new Float64Array(34);
sbet.set([1, 0.8, 0.1, 100], 0);
sbet.set([2, 0.8, 0.1001, 100], 17);

const corners = [
  [0, 0, 0],
  [10, 0, 0],
  [0, 10, 0],
  [10, 10, 1],
  [5, 5, 3],
];
const faces = [
  [0, 1, 2],
  [1, 3, 2],
  [0, 1, 4],
];
const mesh = { vertices: corners.flat(), indices: faces.flat() };
const model = {
  cylinders: [0, 1, 2].map((i) => ({
    cyl_id: i,
    start: [0, 0, i],
    end: [0, 0, i + 1],
    radius: 0.1,
    parent_id: i - 1,
    shoot_id: 0,
    rank: 0,
  })),
  shoots: [{ shoot_id: 0, rank: 0, cylinder_ids: [0, 1, 2], child_shoot_ids: [], parent_shoot_id: -1 }],
};
const grid = { center: [5, 5, 3], size: [10, 10, 6], nx: 2, ny: 2, nz: 2 };
const heights = { grid_z: [0, 0, 0, 0], nx: 2, ny: 2, origin: [0, 0] };
const dem = { ...heights, cell: 5 };

/** A session and a valid request of every endpoint with a JSON body, small enough to run in milliseconds. */
export async function stageOf(made: TestApp): Promise<Stage> {
  const points = stagePoints();
  const rows = points.map(
    ([x, y, z], i) => `${x} ${y} ${z} ${100 * hash(i)} ${i < GROUND ? 1 : 2} ${i < GROUND ? 0 : 1} ${z.toFixed(3)}`,
  );
  const path = scanFile(made, ["x y z intensity ground_class tree_instance height_above_ground", ...rows]);
  const { session_id: session } = await create(made, path);
  const { session_id: other } = await create(made, path);
  const obj = made.file("one.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const csv = made.file(
    "one.csv",
    "ID,parentID,branchOrder,startX,startY,startZ,endX,endY,endZ,radius\n0,-1,0,0,0,0,0,0,1,0.1\n",
  );
  const flight = made.file("path.sbet", new Uint8Array(sbet.buffer));
  const source = { session_id: session };
  const matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const box = { kind: "box", min: [0, 0, 0], max: [1, 1, 1] };
  const scans = [{ session_id: session, origin: [5, 5, 2] }];
  const isMiss = points.map((_, i) => Number(i % 3 === 0));
  const spectrum = Array.from({ length: 21 }, (_, i) => 450 + 50 * i);
  const grown = await made.app.inject({
    method: "POST",
    url: "/api/plant/generate",
    payload: { plant_type: "bean", age: 5 },
  });
  const { sim_xml } = grown.json() as { sim_xml: string };
  const requests: ValidRequests = {
    "/api/pointcloud/preview": { file_path: path },
    "/api/pointcloud/import_by_path": { file_path: path },
    "/api/pointcloud/export": { points, format: "txt" },
    "/api/pointcloud/denoise": { points, method: "sor" },
    "/api/scan/export-xml": { scans, dest_dir: made.folder },
    "/api/cloud/session/create": { source_path: path },
    "/api/cloud/session/{id}/delete_region": { region: box },
    "/api/cloud/session/{id}/reset_edits": {},
    "/api/cloud/session/{id}/label_region": {
      slug: "ground_class",
      strokes: [{ stroke_id: "a", to_class: 1, region: box }],
    },
    "/api/cloud/session/{id}/reset_label_edits": { slug: "ground_class" },
    "/api/cloud/session/{id}/commit_labels": { slug: "ground_class" },
    "/api/cloud/session/{id}/backfill-misses": { origin: [5, 5, 2], n_theta: 40, n_phi: 60 },
    "/api/cloud/session/{id}/filter": { region: box },
    "/api/cloud/session/{id}/split": { region: box },
    "/api/cloud/session/{id}/extract": { region: box },
    "/api/cloud/session/{id}/extract_by_column": { slug: "tree_instance" },
    "/api/cloud/session/merge": { session_ids: [session, other] },
    "/api/cloud/session/{id}/transform": { matrix },
    "/api/cloud/session/{id}/tree_inventory": {},
    "/api/cloud/session/{id}/tree_qsm": {},
    "/api/cloud/session/{id}/dem": { cell_size: 1 },
    "/api/dem": { points, cell_size: 1 },
    "/api/dem/export-raster": { ...heights, cell_size: 5 },
    "/api/triangulate": { sources: [source], method: "delaunay" },
    "/api/triangulate/lidar": { scans },
    "/api/triangulate/check-spacing": { scans },
    "/api/lidar/scan": {
      meshes: [{ vertices: corners, indices: faces.flat() }],
      scanners: [
        {
          id: "a",
          origin: [5, 5, 2],
          n_theta: 10,
          n_phi: 10,
          theta_min_deg: 100,
          theta_max_deg: 150,
          phi_min_deg: 0,
          phi_max_deg: 360,
        },
      ],
    },
    "/api/trajectory/parse": { path: flight, format: "sbet" },
    "/api/c2m/distance": { source, mesh_vertices: mesh.vertices, mesh_indices: mesh.indices },
    "/api/c2m/icp-register": { source, mesh_vertices: mesh.vertices, mesh_indices: mesh.indices },
    "/api/c2c/icp-register": { source_points: points.flat(), target_points: points.flat() },
    "/api/m2m/icp-register": {
      target_vertices: mesh.vertices,
      target_indices: mesh.indices,
      source_vertices: mesh.vertices,
      source_indices: mesh.indices,
    },
    "/api/skeleton/extract": { points: points.slice(GROUND), search_radius: 0.3 },
    "/api/qsm/build": { points: points.slice(GROUND) },
    "/api/qsm/import": { path: csv },
    "/api/qsm/phyllotaxis": model,
    "/api/qsm/leaves": { ...model, builtin_texture_name: "AlmondLeaf.png" },
    "/api/qsm/adjust-leaf-angles": {
      ...model,
      builtin_texture_name: "AlmondLeaf.png",
      cell_targets: [{ cell_id: 0, beta_mu: 2, beta_nu: 2, ecc: 0, phi0_deg: 0 }],
      grid: { center: [0, 0, 1.5], size: [4, 4, 4], nx: 1, ny: 1, nz: 1 },
    },
    "/api/fit/crown": { source, shape: "ellipsoid" },
    "/api/fit/prospect": { wavelengths: spectrum, reflectance: spectrum.map((nm) => (nm < 700 ? 0.08 : 0.45)) },
    "/api/latex": { equation: "a * x + b" },
    "/api/export": { model_name: "line", parameters: { a: 1 } },
    "/api/mesh/import": { path: obj },
    "/api/ml/models/import": { path: made.folder },
    "/api/project/open": { path: join(made.folder, "none.zip") },
    "/api/plant/generate": { plant_type: "bean", age: 5 },
    "/api/plant/canopy/generate": { plant_type: "bean", age: 5 },
    "/api/plant/generate/stream": { plant_type: "bean", age: 5 },
    "/api/plant/session/create": { plant_type: "bean", age: 5 },
    "/api/plant/morph/parse": { sim_xml, plant_type: "bean" },
    "/api/plant/morph": { plant_type: "bean", sim_xml },
    "/api/lad/snap-grid": { grid, dem },
    "/api/lad/compute": {
      scans: [{ points, origin: [5, 5, 2], scalar_columns: { is_miss: isMiss } }],
      grid,
      gtheta_override: true,
      gtheta: 0.5,
    },
    "/api/cloud/session/{id}/denoise": { method: "sor" },
    "/api/segment/ground": { points },
    "/api/segment/trees": { points: points.slice(GROUND), method: "auto" },
    "/api/segment/wood": { points: points.slice(GROUND) },
    "/api/cloud/session/{id}/segment_ground": {},
    "/api/cloud/session/{id}/segment_trees": { method: "auto" },
    "/api/cloud/session/{id}/segment_wood": {},
    "/api/cloud/session/{id}/detect_stems": {},
  };
  return { session, requests };
}
