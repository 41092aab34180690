import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { failedImport, importedMesh } from "../support/session/mesh.ts";
import { refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const URL_ = "/api/mesh/import";
const PNG = Buffer.from("\x89PNG\r\n\x1a\n and the rest", "latin1");
const SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0.25\nvt 1 1\n";
const rounded = (list: readonly number[]) => list.map((value) => Math.round(value * 1e6) / 1e6);

/** A folder of its own with these files; the path of the first. */
let serial = 0;
function folder(files: Readonly<Record<string, string | Buffer>>): string {
  serial += 1;
  const root = join(made.folder, `mesh ${serial}`);
  for (const [name, contents] of Object.entries(files)) {
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), contents);
  }
  return join(root, Object.keys(files)[0] ?? "");
}

describe("units that comments state", () => {
  const obj = (comment: string) => `${comment}\nv 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n`;
  const ply = (comment: string) =>
    `ply\nformat ascii 1.0\n${comment}\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n3 0 1 2\n`;
  const facet =
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nendloop\nendfacet\nendsolid a\n";
  const told = (unit: string) => [
    `The file states that its unit is ${unit}; meshes are read as metres: scale it first.`,
  ];
  test.each<[string, string, string[] | undefined]>([
    ["a.obj", obj("# File units = millimeters"), told("millimetres")],
    ["a.obj", obj("# Units: in"), told("inches")],
    ["a.obj", obj("# units: meters"), undefined],
    ["a.obj", obj("# 3 vertices, 1 triangles; coordinates in metres"), undefined],
    ["a.obj", obj("# made of units in two parts"), undefined],
    ["a.ply", ply("comment unit mm"), told("millimetres")],
    ["a.ply", ply("comment no word of it"), undefined],
    ["a.stl", `solid part units=mm\n${facet}`, told("millimetres")],
    ["a.stl", `solid part\n${facet}`, undefined],
  ])("%s %#", async (name, text, warnings) => {
    const { meta } = await importedMesh(made, folder({ [name]: text }));
    expect(meta.warnings).toEqual(warnings);
  });
});

describe("OBJ", () => {
  test("materials, textures with blanks in their names, colours, V flip and groups", async () => {
    const path = folder({
      "my tree.obj": `mtllib my lib.mtl\n${SQUARE}usemtl bark 1\nf 1/1 2/2 3/2 4/1\nusemtl leaf\nf 1/1 2 3/1\nusemtl bark 1\nf -4 -3 -1\nusemtl none\nf 1 2 3\nusemtl\nf 1 3 4\n`,
      "my lib.mtl":
        "newmtl leaf\nKd 0 0.5 0.25\nmap_Kd -clamp on sub\\my leaf.png\nnewmtl bark 1\nmap_Kd Bark.JPG\nnewmtl leaf\nKd 1 1 1\nnewmtl unused\nmap_Kd nowhere.png\n",
      "sub/my leaf.png": PNG,
      "Bark.JPG": Buffer.from("\xff\xd8\xff and so on", "latin1"),
    });
    const answer = await importedMesh(made, path);
    expect(answer.meta).toEqual({
      success: true,
      error: null,
      filename: "my tree.obj",
      vertex_count: 18,
      triangle_count: 6,
      materials: [
        { name: "bark 1", color: null, texture_name: "Bark.JPG", has_alpha: false },
        { name: "leaf", color: [0, 0.5, 0.25], texture_name: "my leaf.png", has_alpha: true },
        { name: "none", color: null, texture_name: null, has_alpha: false },
      ],
      material_groups: [
        { material_name: "bark 1", triangle_indices: [0, 1, 3] },
        { material_name: "leaf", triangle_indices: [2] },
        { material_name: "none", triangle_indices: [4] },
      ],
      textures: { "Bark.JPG": expect.any(String), "my leaf.png": PNG.toString("base64") },
      has_textures: true,
      bounds: { min: [0, 0, 0], max: [1, 1, 0] },
      world_shift: [0, 0, 0],
      warnings: ['No material library defines the material "none".'],
    });
    expect(answer.names).toEqual(["vertices", "indices", "normals", "colors", "uv_coordinates", "triangle_materials"]);
    expect(answer.u32("indices")).toEqual(Array.from({ length: 18 }, (_, i) => i));
    expect(answer.f32("vertices").slice(0, 18)).toEqual([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0]);
    expect(answer.f32("uv_coordinates").slice(0, 6)).toEqual([0, 0.75, 1, 0, 1, 0]);
    expect(answer.f32("uv_coordinates").slice(12, 18)).toEqual([0, 0.75, 0, 0, 0, 0.75]);
    expect(answer.f32("normals").slice(0, 3)).toEqual([0, 0, 1]);
    expect(rounded(answer.f32("colors").slice(0, 3))).toEqual([0.8, 0.8, 0.8]);
    expect(rounded(answer.f32("colors").slice(18, 21))).toEqual([0, 0.5, 0.25]);
    expect(answer.u32("triangle_materials")).toEqual([0, 0, 1, 0, 2, 0xffffffff]);
    const fractions = answer.stages.flatMap(([progress]) => progress ?? []);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    const labels = answer.stages.map(([, label]) => label);
    expect(labels).toEqual(expect.arrayContaining(["Reading mesh", "Loading textures", "Packing geometry"]));
  });

  test("missing libraries and textures, and what is no image, are warnings", async () => {
    const path = folder({
      "a.obj": `mtllib gone.mtl\nmtllib a.mtl b.mtl\n${SQUARE}usemtl a\nf 1/1 2/1 3/1\nusemtl b\nf 1 2 3\nusemtl c\nf 1 2 3\n`,
      "a.mtl": "newmtl a\nmap_Kd no such.png\nnewmtl c\nKd x\nmap_Kd a.obj\n",
      "b.mtl": "newmtl b\nmap_Kd -unknown 3 b.png\n",
      "b.png": PNG,
    });
    const { meta } = await importedMesh(made, path);
    expect(meta.textures).toEqual({ "b.png": PNG.toString("base64") });
    expect(meta.materials?.map(({ texture_name }) => texture_name)).toEqual([null, "b.png", null]);
    expect(meta.warnings).toEqual([
      'Material library "gone.mtl" was not found in the folder of the mesh.',
      'a.mtl, line 4: the colour "x" is not three numbers.',
      'Texture "no such.png" of material "a" was not found in the folder of the mesh.',
      'Texture "a.obj" of material "c" is not an image (PNG, JPEG, GIF, BMP, TIFF, WebP, DDS or TGA).',
    ]);
  });

  test("references that leave the folder of the mesh are refused", async () => {
    const secret = folder({ "secret.png": PNG, "secret.mtl": "newmtl m\nKd 1 0 0\n" });
    const away = `../${join(secret, "..").split("/").at(-1)}`;
    const names = [secret, `${away}/secret.png`, "link.png", "/etc/passwd", "C:\\x\\y.png", "..", "sub"];
    const path = folder({
      "a.obj": `mtllib ${away}/secret.mtl\nmtllib a.mtl\n${SQUARE}${names.map((_, i) => `usemtl m${i}\nf 1/1 2/1 3/1\n`).join("")}`,
      "a.mtl": names.map((name, i) => `newmtl m${i}\nmap_Kd ${name}\n`).join(""),
      "sub/x.txt": "",
    });
    symlinkSync(secret, join(path, "..", "link.png"));
    const { meta, names: buffers } = await importedMesh(made, path);
    expect(meta.textures).toBeNull();
    expect([meta.has_textures, buffers.includes("uv_coordinates")]).toEqual([false, false]);
    const lost = "was not found in the folder of the mesh";
    const outside = "lies outside of the folder of the mesh";
    expect(meta.warnings).toEqual([
      `Material library "${away}/secret.mtl" ${outside}.`,
      ...[lost, outside, outside, lost, lost, "is not a file name", "is not a regular file"].map(
        (why, i) => `Texture "${names[i]}" of material "m${i}" ${why}.`,
      ),
    ]);
  });

  test("warnings about many references are cut off, and images beyond the limit are left out", async () => {
    const names = Array.from({ length: 25 }, (_, i) => `m${i}`);
    const path = folder({
      "a.obj": `mtllib a.mtl\n${SQUARE}${[...names, "big"].map((name) => `usemtl ${name}\nf 1/1 2/1 3/1\n`).join("")}`,
      "a.mtl": [...names, "big"].map((name) => `newmtl ${name}\nmap_Kd ${name}.png\n`).join(""),
    });
    const big = join(path, "..", "big.png");
    writeFileSync(big, PNG);
    truncateSync(big, 33 * 2 ** 20);
    const { meta } = await importedMesh(made, path);
    expect(meta.textures).toBeNull();
    expect(meta.warnings?.length).toBe(21);
    expect(meta.warnings?.at(-1)).toBe("6 more warnings about textures.");
    writeFileSync(path, `mtllib a.mtl\n${SQUARE}usemtl big\nf 1/1 2/1 3/1\n`);
    expect((await importedMesh(made, path)).meta.warnings).toEqual([
      'Texture "big.png" of material "big" is left out: it has 33.0 MiB, and the images of a mesh may have 32 MiB in total.',
    ]);
  });

  test("two images of one name, and one image of two materials", async () => {
    const path = folder({
      "a.obj": `mtllib a.mtl\n${SQUARE}${[0, 1, 2].map((i) => `usemtl m${i}\nf 1/1 2/1 3/1\n`).join("")}`,
      "a.mtl": "newmtl m0\nmap_Kd a/x.png\nnewmtl m1\nmap_Kd b/x.png\nnewmtl m2\nmap_Kd a/x.png\n",
      "a/x.png": PNG,
      "b/x.png": Buffer.concat([PNG, PNG]),
    });
    const { meta } = await importedMesh(made, path);
    expect(meta.materials?.map(({ texture_name }) => texture_name)).toEqual(["x.png", "x (2).png", "x.png"]);
    expect(meta.textures?.["x (2).png"]).toBe(Buffer.concat([PNG, PNG]).toString("base64"));
  });

  test("vertex colours, wrong indices, degenerate and concave faces, world_shift", async () => {
    const path = folder({
      "a.obj":
        "v 500000 0 0 1 0.5 0\nv 500004 2 0\nv 500000 4 0\nv 500001 2 0\nf 1 2 3 4\nf 1 1 2\nf 1 2 9\nf 1 2\nf 1 2 1 2\n",
    });
    const far = await importedMesh(made, path);
    expect(far.meta.warnings?.at(-1)).toMatch(/^Coordinates reach 5.00e\+5: float32 holds them in steps of 0.031\./);
    const { meta, f32 } = await importedMesh(made, path, { world_shift: [500_000, 0, 0] });
    expect(meta.bounds).toEqual({ min: [0, 0, 0], max: [4, 4, 0] });
    expect(meta.world_shift).toEqual([500_000, 0, 0]);
    expect([meta.materials, meta.material_groups, meta.textures]).toEqual([null, null, null]);
    expect(meta.triangle_count).toBe(5);
    const [v = [], ...others] = [0, 1].map((t) => f32("vertices").slice(9 * t, 9 * t + 9));
    expect([v, ...others].map((t) => t.includes(4) && t.includes(1))).toEqual([true, true]); // cut along 2-4, inside
    expect(rounded(f32("colors").slice(0, 18))).toContain(0.5);
    expect(meta.warnings).toEqual([
      "1 face(s) have fewer than three corners and are left out (first: line 8)",
      "1 face(s) name a vertex that does not exist; their triangles with it are left out (first: line 7)",
      "1 triangles have a vertex that is missing or not finite and were left out.",
      "1 polygons enclose no area: they were cut from their first corner.",
      "3 triangles have no area.",
    ]);
  });

  test("a file without triangles fails in the frame", async () => {
    const meta = await failedImport(made, folder({ "a.obj": "v 0 0 0\nfoo\n" }));
    expect(meta).toMatchObject({ success: false, code: "invalid_file", filename: "a.obj", triangle_count: 0 });
    expect(meta.error).toMatch(/^No triangles found in .*a\.obj; 1 line\(s\) with statements that are not read/);
  });
});

describe("PLY", () => {
  const header = (face: string) =>
    `ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n${face}end_header\n`;
  const vertices = "0 0 0 255 0 51\n1 0 0 0 0 0\n1 1 0 0 0 0\n0 1 0 0 0 0\n";
  test("vertices stay shared; normals are computed, colours are 0..1", async () => {
    const text = `${header("element face 1\nproperty list uchar int vertex_indices\n")}${vertices}4 0 1 2 3\n`;
    const answer = await importedMesh(made, folder({ "a.PLY": text }));
    expect(answer.meta).toMatchObject({ vertex_count: 4, triangle_count: 2, materials: null, has_textures: false });
    expect(answer.names).toEqual(["vertices", "indices", "normals", "colors"]);
    expect(answer.u32("indices")).toEqual([0, 1, 2, 0, 2, 3]);
    expect(answer.f32("normals")).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
    expect(rounded(answer.f32("colors").slice(0, 3))).toEqual([1, 0, 0.2]);
  });

  test.each<[string, string, RegExp]>([
    ["a cloud", `${header("")}${vertices}`, /no faces were found; the file looks like a point cloud/],
    ["no face", `${header("element face 0\n")}${vertices}`, /no faces were found/],
    ["no PLY", "obj\n", /starts with/],
    ["a header of 10,001 lines", header(`${"comment\n".repeat(9990)}element face 1\n`), /has 10001 lines/],
  ])("%s is refused before the stream", async (_name, text, why) => {
    expect(await refusal(made, URL_, { path: folder({ "a.ply": text }) })).toEqual([400, expect.stringMatching(why)]);
  });
});

describe("STL", () => {
  /** A binary file; each triangle is nine coordinates. */
  function binary(triangles: readonly (readonly number[])[], header = "solid in binary", declared = triangles.length) {
    const bytes = Buffer.alloc(84 + 50 * triangles.length);
    bytes.write(header, "latin1");
    bytes.writeUInt32LE(declared, 80);
    for (const [t, corners] of triangles.entries())
      for (const [k, value] of corners.entries()) bytes.writeFloatLE(value, 84 + 50 * t + 12 + 4 * k);
    return bytes;
  }

  test("three vertices a triangle, normals from the winding, world_shift", async () => {
    const path = folder({
      "part.STL": binary([
        [0, 0, 0, 2, 0, 0, 0, 2, 0],
        [0, 0, 0, 0, 2, 0, 0, 0, 1],
      ]),
    });
    const answer = await importedMesh(made, path, { world_shift: [10, 0, -1] });
    expect(answer.meta).toEqual({
      success: true,
      error: null,
      filename: "part.STL",
      vertex_count: 6,
      triangle_count: 2,
      materials: null,
      material_groups: null,
      textures: null,
      has_textures: false,
      bounds: { min: [-10, 0, 1], max: [-8, 2, 2] },
      world_shift: [10, 0, -1],
    });
    expect(answer.names).toEqual(["vertices", "indices", "normals"]);
    expect(answer.u32("indices")).toEqual([0, 1, 2, 3, 4, 5]);
    expect(answer.f32("vertices").slice(9)).toEqual([-10, 0, 1, -10, 2, 1, -10, 0, 2]);
    expect(answer.f32("normals")).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0]);
  });

  test("what a damaged file lacks is said", async () => {
    const triangle = [0, 0, 0, 1, 0, 0, 0, 1, 0];
    const cut = folder({ "a.stl": binary([triangle, triangle], "cut", 4_000_000_000).subarray(0, 184 - 7) });
    const { meta } = await importedMesh(made, cut);
    expect([meta.triangle_count, meta.warnings]).toEqual([
      1,
      ["the header declares 4000000000 triangles, the file holds 1 complete ones: the rest is missing"],
    ]);
    const wild = folder({ "a.stl": binary([triangle, [0, 0, 0, Number.NaN, 0, 0, 0, 1, 0]]) });
    expect((await importedMesh(made, wild)).meta.warnings).toEqual([
      "1 triangles have a vertex that is missing or not finite and were left out.",
    ]);
    const none = folder({ "a.stl": binary([[Number.NaN, 0, 0, 0, 0, 0, 0, 1, 0]]) });
    expect(await failedImport(made, none)).toMatchObject({ success: false, code: "invalid_file" });
    expect((await failedImport(made, folder({ "a.stl": "hello" }))).error).toMatch(/no STL file/);
  });

  test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
    const facet = "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet\n";
    const path = folder({ "big.stl": `solid\n${facet.repeat(200_000)}endsolid\n` });
    const before = addon.bulkBytesInUse();
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "readStl", phase: "Reading mesh" }, stop, async () => {
      const started = await openRun(made.base, URL_, { path });
      return started.outcome;
    });
    expect([reached, value.kind]).toEqual([true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  });
});

test.each<[string, object, number, RegExp]>([
  ["a missing file", { path: "/data/missing.obj" }, 404, /File not found/],
  ["another extension", { path: "FOLDER/a.off" }, 400, /\.off\W+ is not a mesh format; use .obj, .ply or .stl/],
  ["a relative path", { path: "a.obj" }, 400, /not an absolute path/],
  ["a shift of two", { path: "FOLDER/a.obj", world_shift: [1, 2] }, 400, /world_shift/],
  ["no path", {}, 422, /path/],
])("%s is refused before the stream", async (_name, payload, status, why) => {
  const root = join(folder({ "a.obj": SQUARE, "a.off": "" }), "..");
  const body = JSON.parse(JSON.stringify(payload).replace("FOLDER", root)) as object;
  const [got, detail] = await refusal(made, URL_, body);
  expect([got, JSON.stringify(detail)]).toEqual([status, expect.stringMatching(why)]);
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const path = folder({ "big.obj": `${SQUARE}${"f 1/1 2/2 3/1 4/2 1/1 2/2 3/1\n".repeat(300_000)}` });
  const before = addon.bulkBytesInUse();
  for (const phase of ["Reading mesh", "Triangulating faces"]) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "readObj", phase }, stop, async () => {
      const started = await openRun(made.base, URL_, { path });
      return started.outcome;
    });
    expect([phase, reached, value.kind]).toEqual([phase, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
});
