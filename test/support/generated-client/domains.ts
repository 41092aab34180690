/* Workflows of the other domains. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { frameOf } from "./frame.ts";
import { many, ok, opened, type Place, random, type Triple } from "./place.ts";
import type { components } from "./schema.ts";

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

export async function leafArea(place: Place): Promise<void> {
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

export async function surfaces(place: Place): Promise<void> {
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

export async function fits({ client }: Place): Promise<void> {
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

export async function plants({ client }: Place): Promise<void> {
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

export async function projects(place: Place): Promise<void> {
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

export async function service({ client }: Place): Promise<void> {
  const { version } = ok(await client.GET("/version"));
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.equal(typeof ok(await client.GET("/api/device-info")), "object");
  const params = { path: { run_id: "0".repeat(32) } };
  assert.equal(ok(await client.POST("/api/cancel/{run_id}", { params })).canceled, false);
}
