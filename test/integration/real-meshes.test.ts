import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DATA } from "../support/scans/data-folder.ts";
import { importedMesh } from "../support/session/mesh.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const present = existsSync(join(DATA, "mesh_obj"));
if (!present) console.warn(`real meshes are absent from ${DATA}: set APP_TEST_DATA`);
const made = sessionTest();

/** Triangles, area, smallest and largest x, y, z: as assimp 5.2.5 (OBJ) and trimesh 5.1.0 (PLY) read the files. */
const MESHES: Record<string, [number, number, number[], number[]]> = {
  "mesh_obj/crate/crate.obj": [12, 24, [-1, -1, -1], [1, 1, 1]],
  "mesh_obj/fuze/fuze.obj": [1000, 0.04472226, [-0.036391, -0.036711, 0.004016], [0.036221, 0.036803, 0.219144]],
  "mesh_obj/odd/assimp_concave_polygon.obj": [64, 0.24549669, [-1.146, 1.6575, 1.6055], [-1.146, 3.1425, 3.0905]],
  "mesh_obj/odd/assimp_cube_with_vertexcolors.obj": [12, 6, [0, 0, 0], [1, 1, 1]],
  "mesh_obj/odd/assimp_malformed2.obj": [10, 5, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]],
  "mesh_obj/odd/assimp_number_formats.obj": [1, 0, [-1, -2, -3], [1, 2, 3]],
  "mesh_obj/odd/tinyobj_missing_material_file.obj": [36, 1989605.198, [0, 0, 0], [556, 548.8, 559.2]],
  "mesh_obj/odd/trimesh_nancolor.obj": [12, 6, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]],
  "mesh_obj/odd/trimesh_negative_indices.obj": [12, 24, [-1, -1, -1], [1, 1, 1]],
  "mesh_obj/odd/trimesh_notenoughindices.obj": [1, 250_000, [-500, 0, 500], [500, 500, 500]],
  "mesh_plants/Birch_1.obj": [2314, 129.853988, [-2.878983, -0.001098, -2.501204], [2.014409, 9.475346, 1.960943]],
  "mesh_plants/Pine_1.obj": [664, 228.00167, [-4.134016, -0.00091, -3.509134], [3.600543, 7.5814, 3.254549]],
  "ply/platonic_shelf.ply": [80, 43.0602082, [-6.524307, -1.158087, -1.158087], [6.963232, 1.158087, 1.158086]],
  "ply/platonic_shelf_ascii.ply": [80, 43.0602082, [-6.524307, -1.158087, -1.158087], [6.963232, 1.158087, 1.158086]],
  "ply/platonic_shelf_big_endian.ply": [
    80,
    43.0602082,
    [-6.524307, -1.158087, -1.158087],
    [6.963232, 1.158087, 1.158086],
  ],
  "ply/trimesh_BoxTextured.ply": [12, 6, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]],
  "ply/trimesh_cube_blender_uv.ply": [12, 6, [-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]],
  "ply/trimesh_metadata.ply": [2, 64, [-4, -4, 0], [4, 4, 0]],
};

/** Area of the triangles of a frame. */
function areaOf(vertices: readonly number[], indices: readonly number[]): number {
  const corner = (i: number, c: number) => vertices[3 * (indices[i] ?? 0) + c] ?? Number.NaN;
  let area = 0;
  for (let i = 0; i < indices.length; i += 3) {
    const [ax, ay, az] = [0, 1, 2].map((c) => corner(i + 1, c) - corner(i, c)) as [number, number, number];
    const [bx, by, bz] = [0, 1, 2].map((c) => corner(i + 2, c) - corner(i, c)) as [number, number, number];
    area += Math.hypot(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx) / 2;
  }
  return area;
}

interface ThreeMesh {
  readonly isMesh?: boolean;
}
interface Three {
  readonly OBJLoader: new () => { parse(text: string): ThreeMesh };
  readonly PLYLoader: new () => { parse(bytes: ArrayBuffer): object };
  readonly STLExporter: new () => { parse(mesh: ThreeMesh, options: { binary: boolean }): string | DataView };
  readonly Mesh: new (geometry: object) => ThreeMesh;
}

/** The parts of three.js, which has no types. */
async function three(): Promise<Three> {
  const parts = [
    "three",
    ...["loaders/OBJLoader", "loaders/PLYLoader", "exporters/STLExporter"].map(
      (name) => `three/examples/jsm/${name}.js`,
    ),
  ];
  return Object.assign({}, ...(await Promise.all(parts.map((part) => import(part))))) as Three;
}

describe.skipIf(!present)("real meshes", () => {
  test.each(Object.keys(MESHES).filter((file) => !/odd|platonic/.test(file)))(
    "%s, written as STL by three.js",
    async (file) => {
      const { OBJLoader, PLYLoader, STLExporter, Mesh } = await three();
      const bytes = readFileSync(join(DATA, file));
      const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
      const mesh = file.endsWith(".obj")
        ? new OBJLoader().parse(bytes.toString())
        : new Mesh(new PLYLoader().parse(whole));
      const [triangles, area, min, max] = MESHES[file] ?? [0, 0, [], []];
      for (const binary of [true, false]) {
        const stl = new STLExporter().parse(mesh, { binary });
        const path = join(made.folder, `three ${binary}.stl`);
        writeFileSync(path, typeof stl === "string" ? stl : new Uint8Array(stl.buffer));
        const { meta, f32, u32 } = await importedMesh(made, path);
        expect([binary, meta.triangle_count]).toEqual([binary, triangles]);
        expect(Math.abs(areaOf(f32("vertices"), u32("indices")) - area)).toBeLessThanOrEqual(1e-6 * area); // float32
        for (const [k, value] of [...meta.bounds.min, ...meta.bounds.max].entries())
          expect(Math.abs(value - ([...min, ...max][k] ?? Number.NaN))).toBeLessThanOrEqual(1.5e-6);
      }
    },
  );

  test.each(Object.entries(MESHES))("%s", async (file, [triangles, area, min, max]) => {
    const { meta, f32, u32 } = await importedMesh(made, join(DATA, file));
    expect(meta.triangle_count).toBe(triangles);
    expect(Math.abs(areaOf(f32("vertices"), u32("indices")) - area)).toBeLessThanOrEqual(1e-6 * area); // float32
    const near = (values: readonly number[]) => values.map((value) => Math.round(value * 1e6) / 1e6);
    expect([near(meta.bounds.min), near(meta.bounds.max)]).toEqual([min, max]);
  });

  test("materials and textures of their libraries", async () => {
    const crate = await importedMesh(made, join(DATA, "mesh_obj/crate/crate.obj"));
    const wood = { name: "Material.001", color: [0.64, 0.64, 0.64], texture_name: "crate.jpg", has_alpha: false };
    expect(crate.meta.materials).toEqual([wood]);
    expect(Buffer.from(crate.meta.textures?.["crate.jpg"] ?? "", "base64").length).toBe(29_819);
    const fuze = await importedMesh(made, join(DATA, "mesh_obj/fuze/fuze.obj"));
    expect(Buffer.from(fuze.meta.textures?.["fuze uv.jpg"] ?? "", "base64").length).toBe(88_711);
    expect(fuze.meta.materials?.map(({ name }) => name)).toEqual(["a-super-duper-material"]);
    expect([crate, fuze].map(({ meta }) => [meta.has_textures, meta.warnings])).toEqual([
      [true, undefined],
      [true, undefined],
    ]);
    const birch = await importedMesh(made, join(DATA, "mesh_plants/Birch_1.obj"));
    expect(birch.meta.materials?.map(({ name, texture_name }) => [name, texture_name])).toEqual([
      ["Birch_Bark", null],
      ["Birch_Leaves", null],
    ]);
    expect(birch.meta.material_groups?.map(({ triangle_indices }) => triangle_indices.length)).toEqual([1210, 1104]);
  });

  test("a face of five corners that lie on no plane has three triangles", async () => {
    const { meta } = await importedMesh(made, join(DATA, "mesh_obj/odd/trimesh_polygonfaces.obj"));
    expect(meta.triangle_count).toBe(3);
    expect(meta.bounds).toMatchObject({ min: [-500, 0, -500], max: [500, 500, 500] });
  });

  test("wrong indices and vertices are left out and named", async () => {
    const malformed = await importedMesh(made, join(DATA, "mesh_obj/odd/assimp_malformed.obj"));
    expect(malformed.meta.triangle_count).toBe(9);
    expect(malformed.meta.warnings).toEqual([
      "2 face(s) name a vertex that does not exist; their triangles with it are left out (first: line 23)",
      "3 triangles have a vertex that is missing or not finite and were left out.",
      "1 triangles have no area.",
      'No material library defines the material "Default".',
    ]);
    const nan = await importedMesh(made, join(DATA, "mesh_obj/odd/tinyobj_test-nan.obj"));
    expect(nan.meta.triangle_count).toBe(34); // 36, without the two of the vertex that is no number
    expect(nan.meta.warnings?.[0]).toBe("2 triangles have a vertex that is missing or not finite and were left out.");
  });

  test.each([
    ["ply/assimp_issue623.ply", /no faces were found/],
    ["ply/trimesh_points_bin.ply", /no faces were found/],
    ["ply/trimesh_empty.ply", /no faces were found/],
    ["ply/pdal_issue_2421.ply", /no faces were found/],
    ["ply/pdal_sized_dims.ply", /z/],
    ["ply/trimesh_ply_empty_header.ply", /no faces were found/],
    ["ply/trimesh_points_ascii_with_lists.ply", /no faces were found/],
    ["ply/assimp_crash-30d6d0f7c529b3b66b4131700b7a4580cd7082df.ply", /line 7: expected: property/],
  ])("%s is no mesh", async (file, why) => {
    expect(await refusal(made, "/api/mesh/import", { path: join(DATA, file) })).toEqual([
      400,
      expect.stringMatching(why),
    ]);
  });
});
