/* Workflows on clouds: files, sessions, trees and their models. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { frameOf } from "./frame.ts";
import { many, ok, opened, type Place, random, type Triple, turned } from "./place.ts";

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

export async function files(place: Place): Promise<void> {
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

export async function sessions(place: Place): Promise<void> {
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

export async function trees(place: Place): Promise<void> {
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

export async function models({ client }: Place): Promise<void> {
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
