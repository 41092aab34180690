/*
 * A workflow of each domain through a client that is generated from the OpenAPI document: `schema.ts` beside this file is
 * what openapi-typescript makes of it. The test copies the folder, generates, compiles it strictly and runs it.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import createClient from "openapi-fetch";
import { frameOf } from "./frame.ts";
import type { components, paths } from "./schema.ts";

type Triple = [number, number, number];
type Client = ReturnType<typeof clientOf>;
/** Where a workflow works: the generated client, and a folder for the files that the service reads. */
interface Place {
  readonly client: Client;
  readonly folder: string;
}

const clientOf = (baseUrl: string) => createClient<paths>({ baseUrl, headers: { accept: "application/json" } });

/** The result in an answer. Errors: the answer is a refusal or tells a failure, with its text. */
function ok<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }) {
  if (data === undefined) throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  const { success = true } = data as { success?: boolean };
  if (!success) throw new Error(`${response.url}: ${JSON.stringify(data)}`);
  return data as Exclude<T, { success: false }>;
}

let state = 7;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const turned = (x: number, y: number, radius: number, z: number): Triple => {
  const turn = 2 * Math.PI * random();
  return [x + radius * Math.cos(turn), y + radius * Math.sin(turn), z];
};
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** A session of a text table of points. */
async function opened({ client, folder }: Place, name: string, rows: readonly Triple[]): Promise<string> {
  const source_path = join(folder, name);
  writeFileSync(source_path, `x y z\n${rows.map((row) => row.map((v) => v.toFixed(4)).join(" ")).join("\n")}\n`);
  return ok(await client.POST("/api/cloud/session/create", { body: { source_path } })).session_id;
}

/** Four trees of known diameter on level ground. */
const DIAMETERS = [0.2, 0.24, 0.3, 0.4];
const plot = (): Triple[] => [
  ...many(81 * 81, (i): Triple => [0.2 * (i % 81), 0.2 * Math.floor(i / 81), 0.01 * random()]),
  ...DIAMETERS.flatMap((diameter, i) => {
    const [x, y] = [4 + 8 * (i % 2), 4 + 8 * Math.floor(i / 2)];
    const crown = () => turned(x, y, 1.5 * Math.sqrt(random()), 4 + 4 * random());
    return [...many(3000, () => turned(x, y, diameter / 2, 5 * random())), ...many(3000, crown)];
  }),
];
const pole = (count: number, radius: number, height: number): Triple[] =>
  many(count, () => turned(0, 0, radius, height * random()));

async function files(place: Place): Promise<void> {
  const { client, folder } = place;
  const upload = ok(
    await client.POST("/app/upload", {
      params: { query: { name: "three.txt" } },
      body: "x y z\n0 0 0\n1 0 0\n0 1 2\n",
      bodySerializer: (text) => text,
      headers: { "content-type": "application/octet-stream" },
    }),
  );
  const preview = ok(await client.POST("/api/pointcloud/preview", { body: { file_path: upload.path } }));
  assert.equal(preview.sample_rows.length, 3);
  const { session_id } = ok(await client.POST("/api/cloud/session/create", { body: { source_path: upload.path } }));
  const dest_path = join(folder, "three.laz");
  ok(await client.POST("/api/pointcloud/export", { body: { source: { session_id }, format: "laz", dest_path } }));
  const again = ok(await client.POST("/api/cloud/session/create", { body: { source_path: dest_path } }));
  assert.equal(again.point_count, 3);
  const path = { upload_id: upload.upload_id };
  assert.equal(ok(await client.DELETE("/app/upload/{upload_id}", { params: { path } })).deleted, true);
}

async function sessions(place: Place): Promise<void> {
  const { client } = place;
  const id = await opened(
    place,
    "line.txt",
    many(100, (i): Triple => [i, 0, 0]),
  );
  const params = { path: { id } };
  const region = { kind: "box" as const, min: [-1, -1, -1], max: [9.5, 1, 1] };
  const gone = ok(await client.POST("/api/cloud/session/{id}/delete_region", { params, body: { region } }));
  assert.equal(gone.deleted_count, 10);
  assert.equal(ok(await client.POST("/api/cloud/session/{id}/reset_edits", { params, body: {} })).deleted_count, 0);
  const strokes = [{ stroke_id: "one", to_class: 3, region }];
  ok(
    await client.POST("/api/cloud/session/{id}/label_region", {
      params,
      body: { slug: "species", create_if_missing: true, strokes },
    }),
  );
  const counts = ok(
    await client.GET("/api/cloud/session/{id}/label_summary", { params: { path: { id }, query: { slug: "species" } } }),
  );
  assert.equal(counts.class_counts["3"], 10);
  const refused = await client.GET("/api/cloud/session/{id}/label_summary", {
    params: { path: { id: "0".repeat(32) }, query: { slug: "species" } },
  });
  assert.equal(refused.error?.code, "not_found");
  const built = ok(await client.POST("/api/cloud/session/{id}/rebuild_octree", { params }));
  const octree = await client.GET("/octree/{cache_id}/{file}", {
    params: { path: { cache_id: built.cache_id, file: "metadata.json" } },
    parseAs: "json",
  });
  assert.equal((ok(octree) as unknown as { points: number }).points, 100);
  assert.equal(ok(await client.DELETE("/api/cloud/session/{id}", { params })).deleted, true);
}

async function trees(place: Place): Promise<void> {
  const { client } = place;
  const id = await opened(place, "plot.txt", plot());
  const params = { path: { id } };
  ok(await client.POST("/api/cloud/session/{id}/denoise", { params, body: { method: "auto" } }));
  const ground = ok(await client.POST("/api/cloud/session/{id}/segment_ground", { params, body: { method: "smrf" } }));
  assert(ground.num_ground > 0.95 * 81 * 81);
  const terrain = frameOf(
    ok(
      await client.POST("/api/cloud/session/{id}/dem", {
        params,
        body: { cell_size: 0.5, add_height_column: true },
        parseAs: "arrayBuffer",
      }),
    ),
  );
  const heights = terrain.arrays.get("grid_z") ?? [];
  assert(heights.length > 900 && heights.every((z) => Math.abs(z) < 0.05));
  assert.equal(ok(await client.POST("/api/cloud/session/{id}/detect_stems", { params, body: {} })).seeds.length, 4);
  ok(await client.POST("/api/cloud/session/{id}/segment_trees", { params, body: { method: "default" } }));
  const listed = ok(await client.POST("/api/cloud/session/{id}/tree_inventory", { params, body: {} }));
  const diameters = listed.trees.map(({ dbh_m }) => dbh_m ?? 0).sort((a, b) => a - b);
  for (const [i, diameter] of DIAMETERS.entries()) assert(Math.abs((diameters[i] ?? 0) - diameter) < 0.01);
  const tree_instance_ids = listed.trees.map(({ tree_id }) => tree_id);
  const crowns = await client.POST("/api/fit/crown", {
    body: { source: { session_id: id }, shape: "ellipsoid", tree_instance_ids },
  });
  assert.equal(ok(crowns).crowns.length, 4);
  const wood = await client.POST("/api/cloud/session/{id}/segment_wood", { params, body: { method: "connectivity" } });
  assert(ok(wood).num_leaf > 0);
}

async function models({ client }: Place): Promise<void> {
  const points = pole(4000, 0.1, 3);
  const line = ok(await client.POST("/api/skeleton/extract", { body: { points, search_radius: 0.2 } }));
  assert(line.success && Math.abs(line.total_length - 3) < 0.3);
  const model = ok(await client.POST("/api/qsm/build", { body: { points, radius_model: "tapered" } }));
  const volume = model.metrics?.total_woody_volume_m3 ?? 0;
  assert(Math.abs(volume / (Math.PI * 0.01 * 3) - 1) < 0.1, `volume ${volume}`);
  const { textures } = ok(await client.GET("/api/qsm/leaf-textures"));
  const { cylinders, shoots } = model;
  const leaves = await client.POST("/api/qsm/leaves", {
    body: { cylinders, shoots, builtin_texture_name: textures[0] ?? "" },
  });
  assert.equal(ok(leaves).success, true);
}

/** A scan of a level square of 4 x 4 m from 2 m above it. */
async function scanned({ client }: Place): Promise<{ session_id: string; hits: number }> {
  const sweep = { n_theta: 100, n_phi: 100, theta_min_deg: 120, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360 };
  const vertices: Triple[] = [
    [-2, -2, 0],
    [2, -2, 0],
    [2, 2, 0],
    [-2, 2, 0],
  ];
  const body = {
    meshes: [{ vertices, indices: [0, 1, 2, 0, 2, 3] }],
    scanners: [{ id: "above", origin: [0, 0, 2] as Triple, ...sweep }],
    record_misses: true,
    rays_per_pulse: 1,
  };
  const { meta, arrays } = frameOf(ok(await client.POST("/api/lidar/scan", { body, parseAs: "arrayBuffer" })));
  const points = arrays.get("s0.points") ?? [];
  assert(points.length > 0 && points.every((value, i) => i % 3 !== 2 || Math.abs(value) < 1e-5));
  const [scanner] = (meta as components["schemas"]["LidarScanSuccess"]).scanners;
  return { session_id: scanner?.session?.session_id ?? "", hits: points.length / 3 };
}

async function leafArea(place: Place): Promise<void> {
  const { session_id, hits } = await scanned(place);
  const measured = await place.client.POST("/api/lad/compute", {
    body: {
      scans: [{ session_id, origin: [0, 0, 2] }],
      grid: { center: [0, 0, 0.5], size: [2, 2, 1.5], nx: 1, ny: 1, nz: 1 },
      gtheta_override: true,
      gtheta: 0.5,
    },
  });
  const [cell] = ok(measured).cells;
  assert(cell && cell.leaf_area > 0 && hits > 0);
}

async function surfaces(place: Place): Promise<void> {
  const { client } = place;
  const wave = (shift: number): Triple[] =>
    many(4000, () => {
      const [x, y] = [4 * random(), 4 * random()];
      return [x + shift, y, 0.3 * Math.sin(2 * x) + 0.2 * Math.cos(3 * y)];
    });
  const still = { session_id: await opened(place, "still.txt", wave(0)) };
  const moved = { session_id: await opened(place, "moved.txt", wave(0.05)) };
  const body = { sources: [still], method: "delaunay" as const };
  const mesh = frameOf(ok(await client.POST("/api/triangulate", { body, parseAs: "arrayBuffer" })));
  const triangles = {
    mesh_vertices: Array.from(mesh.arrays.get("vertices") ?? []),
    mesh_indices: Array.from(mesh.arrays.get("indices") ?? []),
  };
  const far = ok(await client.POST("/api/c2m/distance", { body: { source: moved, ...triangles } }));
  assert(far.mean_distance > 0.005);
  const pose = ok(await client.POST("/api/c2c/icp-register", { body: { source_source: moved, target_source: still } }));
  assert(Math.abs((pose.transformation_matrix[3] ?? 0) + 0.05) < 0.005, String(pose.transformation_matrix));
}

async function fits({ client }: Place): Promise<void> {
  const x = many(30, (i) => 0.2 * i);
  const fitted = await client.POST("/api/fit/custom", {
    body: {
      model_type: "user",
      equation: "a * exp(-b * x)",
      parameters: ["a", "b"].map((name) => ({ name, symbol: name, default: 1 })),
      inputs: [{ name: "x", symbol: "x" }],
      outputs: [{ name: "y", symbol: "y" }],
      column_mappings: { input_x: "x", output_y: "y" },
      data: { x, y: x.map((value) => 3 * Math.exp(-0.7 * value)) },
    },
  });
  assert(Math.abs((ok(fitted).parameters.b?.value ?? 0) - 0.7) < 1e-6);
  assert("hydraulics" in ok(await client.GET("/api/models")));
  const nm = many(21, (i) => 450 + 50 * i);
  const reflectance = nm.map((at) => (at < 700 ? 0.08 : 0.45));
  const leaf = ok(await client.POST("/api/fit/prospect", { body: { wavelengths: nm, reflectance } }));
  assert.equal(leaf.success, true);
  assert.match(ok(await client.POST("/api/latex", { body: { equation: "sqrt(x)" } })).latex, /sqrt/);
}

async function plants({ client }: Place): Promise<void> {
  const bean = { plant_type: "bean", age: 8, random_seed: 2 };
  const plant = ok(await client.POST("/api/plant/generate", { body: bean }));
  assert("sim_xml" in plant); // JSON, as it was asked for; the type has the frame too
  const frame = frameOf(
    ok(
      await client.POST("/api/plant/generate", {
        body: bean,
        headers: { accept: "application/octet-stream" },
        parseAs: "arrayBuffer",
      }),
    ),
  );
  assert.equal(frame.arrays.get("indices")?.length, 3 * plant.indices.length);
  const edited = await client.POST("/api/plant/morph", {
    body: { sim_xml: plant.sim_xml ?? "", plant_type: "bean", expression: "leaf_scale *= 2" },
  });
  assert.equal(ok(edited).success, true);
  const { session_id } = ok(await client.POST("/api/plant/session/create", { body: { plant_type: "bean" } }));
  const path = { session_id: session_id ?? "" };
  const grown = await client.POST("/api/plant/session/{session_id}/advance", { params: { path }, body: { dt: 3 } });
  assert.equal(ok(grown).success, true);
  ok(await client.DELETE("/api/plant/session/{session_id}", { params: { path } }));
}

async function projects(place: Place): Promise<void> {
  const { client, folder } = place;
  const id = await opened(
    place,
    "kept.txt",
    many(50, (i): Triple => [i, i, 0]),
  );
  const staged = await client.POST("/api/project/scene", {
    body: "a scene",
    bodySerializer: (text) => text,
    headers: { "content-type": "application/octet-stream" },
  });
  const path = join(folder, "one.proj");
  const body = { path, scene_token: ok(staged).token, session_ids: [id] };
  assert.equal(ok(await client.POST("/api/project/save", { body })).sessions, 1);
  const again = ok(await client.POST("/api/project/open", { body: { path } }));
  const params = { path: { token: again.scene_token } };
  const scene = await client.GET("/api/project/scene/{token}", { params, parseAs: "text" });
  assert.equal(ok(scene), "a scene");
  const listed = ok(await client.GET("/api/cloud/sessions"));
  assert(listed.sessions.some((one) => one.session_id === again.session_map[id]));
}

async function service({ client }: Place): Promise<void> {
  const { version } = ok(await client.GET("/version"));
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(typeof ok(await client.GET("/api/device-info")), "object");
  const params = { path: { run_id: "0".repeat(32) } };
  assert.equal(ok(await client.POST("/api/cancel/{run_id}", { params })).canceled, false);
}

const WORKFLOWS = { service, files, sessions, trees, models, leafArea, surfaces, fits, plants, projects };

/** Drives every workflow and tells which were. */
export async function driveAll(baseUrl: string, folder: string): Promise<string[]> {
  const place = { client: clientOf(baseUrl), folder };
  for (const drive of Object.values(WORKFLOWS)) await drive(place);
  return Object.keys(WORKFLOWS);
}
