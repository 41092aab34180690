import { describe, expect, test } from "vitest";
import { create, createError } from "../../support/app/app.ts";
import { octreePoints, octreeValues } from "../../support/octree/octree-folder.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
let files = 0;
const write = (extension: string, content: string | Uint8Array) => {
  files += 1;
  return made.file(`${files}.${extension}`, content);
};
const extras = async (id: string) => (await made.deps.sessions.get(id)).state.meta.extra_dims_meta;
/** An ASCII PLY of vertices with x y z and the `properties`. */
const ply = (properties: readonly string[], rows: readonly string[]) => {
  const list = ["float x", "float y", "float z", ...properties].map((property) => `property ${property}`);
  return write(
    "ply",
    ["ply", "format ascii 1.0", `element vertex ${rows.length}`, ...list, "end_header", ...rows, ""].join("\n"),
  );
};
/** An ASCII PCD with x y z and the `fields` (name, size, type). */
const pcd = (fields: readonly [string, number, string][], rows: readonly string[], viewpoint = "") => {
  const all: [string, number, string][] = [["x", 4, "F"], ["y", 4, "F"], ["z", 4, "F"], ...fields];
  const line = (word: string, values: readonly (string | number)[]) => `${word} ${values.join(" ")}`;
  const head = [
    "VERSION 0.7",
    line(
      "FIELDS",
      all.map(([name]) => name),
    ),
    line(
      "SIZE",
      all.map(([, size]) => size),
    ),
    line(
      "TYPE",
      all.map(([, , type]) => type),
    ),
    line(
      "COUNT",
      all.map(() => 1),
    ),
    `WIDTH ${rows.length}`,
    "HEIGHT 1",
    ...(viewpoint === "" ? [] : [`VIEWPOINT ${viewpoint}`]),
    `POINTS ${rows.length}`,
    "DATA ascii",
  ];
  return write("pcd", [...head, ...rows, ""].join("\n"));
};

describe("PLY", () => {
  test("all numeric properties are imported; colours are bytes; intensity is mapped from its range", async () => {
    const rows = ["0 0 0 255 0 0 1.5 -4 7", "1 2 3 0 128 0 3.5 -2 8"];
    const tail = await create(
      made,
      ply(["uchar red", "uchar green", "uchar blue", "float scalar_Intensity", "float Deviation", "int tree"], rows),
    );
    expect(await extras(tail.session_id)).toEqual([
      { slug: "Deviation", label: "Deviation" },
      { slug: "tree", label: "tree" },
    ]);
    expect(octreeValues(made.octrees, tail.cache_id, "rgb")).toEqual([0, 0, 0, 0, 128 * 256, 255 * 256]);
    expect(octreeValues(made.octrees, tail.cache_id, "intensity")).toEqual([0, 65535]);
    expect(octreeValues(made.octrees, tail.cache_id, "tree")).toEqual([7, 8]);
    expect(octreeValues(made.octrees, tail.cache_id, "Deviation")).toEqual([-4, -2]);
  });

  test("vertices without a finite position are omitted and counted", async () => {
    const tail = await create(made, ply([], ["0 0 0", "nan 0 0", "1 inf 1", "1 1 1"]));
    expect(tail).toMatchObject({ total_count: 2, tight_bounds: { min: [0, 0, 0], max: [1, 1, 1] } });
    expect(tail.warnings).toEqual([expect.stringMatching(/2 points had NaN or infinite coordinates/)]);
  });

  test("an incomplete colour becomes extra columns; a height in addition to z becomes an extra", async () => {
    const tail = await create(made, ply(["uchar red", "uchar green", "float height"], ["0 0 0 1 2 3.5"]));
    const slugs = (await extras(tail.session_id)).map(({ slug }) => slug);
    expect(slugs).toEqual(["red_field", "green_field", "height"]);
    expect(tail.attributes.map(({ name }) => name)).not.toContain("rgb");
  });

  test("the shift and the units are applied", async () => {
    const tail = await create(made, ply([], ["1000 2000 3000"]), { source_units: "mm", world_shift: [1, 1, 1] });
    expect(octreePoints(made.octrees, tail.cache_id)).toEqual([[0, 1, 2]]);
  });

  test("no vertices: an empty session; no vertex element: an error sentence", async () => {
    const tail = await create(made, ply(["uchar red"], []));
    expect(tail).toMatchObject({ total_count: 0, point_count: 0, ground_z: null, point_spacing: null });
    expect(await createError(made, write("ply", "ply\nformat ascii 1.0\nend_header\n"))).toMatch(/\.ply.*vertex/);
  });
});

describe("PCD", () => {
  test("the viewpoint is the scanner position in the true world", async () => {
    const tail = await create(made, pcd([], ["1 2 3", "2 3 4"], "10 20 30 1 0 0 0"), { world_shift: [1, 1, 1] });
    expect(tail.scan_origin).toEqual([10, 20, 30]);
    expect(tail.scan_params).toEqual({ origin: [10, 20, 30] });
    expect((await made.deps.sessions.get(tail.session_id)).state.meta.miss_octree_origin).toEqual([9, 19, 29]);
    expect(await create(made, pcd([], ["1 2 3"]))).not.toHaveProperty("scan_origin");
  });

  test("the pose in the file takes precedence over the origin of the request", async () => {
    const tail = await create(made, pcd([], ["1 2 3"], "10 20 30 1 0 0 0"), { origin: [7, 7, 7] });
    expect(tail.scan_origin).toEqual([10, 20, 30]);
  });

  test("packed colours are read; fields become columns", async () => {
    const packed = (0x10 << 16) | (0x20 << 8) | 0xff;
    const tail = await create(
      made,
      pcd(
        [
          ["rgb", 4, "U"],
          ["label", 4, "U"],
        ],
        [`0 0 0 ${packed} 3`, `1 0 0 ${packed} 4`],
      ),
    );
    expect(octreeValues(made.octrees, tail.cache_id, "rgb")).toEqual([0x1000, 0x1000, 0x2000, 0x2000, 0xff00, 0xff00]);
    expect(await extras(tail.session_id)).toEqual([{ slug: "label", label: "label" }]);
  });

  test("no points: an empty session", async () => {
    expect(await create(made, pcd([], []))).toMatchObject({ total_count: 0, point_count: 0, robust_bounds: null });
  });

  test.each([
    [
      "cut body",
      "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1000000\nHEIGHT 1000\nPOINTS 1000000000\nDATA binary\n",
    ],
    ["no z", "VERSION 0.7\nFIELDS x y\nSIZE 4 4\nTYPE F F\nCOUNT 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2\n"],
    ["no header", "1 2 3\n4 5 6\n"],
    ["empty", ""],
  ])("%s: the error names the file", async (_name, content) => {
    const file = write("pcd", content);
    expect(await createError(made, file)).toContain(file);
  });
});
