import { describe, expect, test } from "vitest";
import { create, exported, exportTail, run } from "../support/app/app.ts";
import { octreeValues } from "../support/octree/octree-folder.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

const EXPORT = "/api/pointcloud/export";
const made = sessionTest();
/** Three hits and a miss, shifted, with colour, intensity, a clock and two columns. */
const ROWS = [
  "x y z r g b intensity time height class is_miss",
  "500000.25 0 1 255 0 51 -4 350000000.5 0.5 2 0",
  "500001.5 1 2 0 128 0 -2 350000000.25 1.25 5 0",
  "500002 2 3.1234567 0 0 0 0 350000000.75 2 2 0",
  "500900 0 900 1 1 1 -4 350000001 0 0 1",
];
const shared = made.shared(ROWS, { world_shift: [500000, 0, 0] });
const text = async (format: string, more: object = {}) =>
  (await exported(made, shared.session_id, format, more)).toString();
const INLINE = {
  points: [
    [1, 2, 3],
    [4.5, 5, 6],
  ],
  colors: [
    [1, 0, 0.5],
    [0, 2, -1],
  ],
};

describe("text formats, byte by byte", () => {
  test("xyz: positions only, six decimals, true world, misses included, no line end at the end", async () => {
    expect(await text("xyz")).toBe(
      "500000.250000 0.000000 1.000000\n500001.500000 1.000000 2.000000\n500002.000000 2.000000 3.123457\n500900.000000 0.000000 900.000000",
    );
  });

  test.each([
    ["txt", " "],
    ["csv", ","],
  ])("%s: header, colours 0..255, intensity with four decimals", async (format, separator) => {
    const lines = (await text(format)).split("\n");
    expect(lines[0]).toBe(["X", "Y", "Z", "R", "G", "B", "Intensity"].join(separator));
    expect(lines[1]).toBe(["500000.250000", "0.000000", "1.000000", "255", "0", "51", "0.0000"].join(separator));
    expect(lines[2]?.endsWith(["0", "128", "0", "0.5000"].join(separator))).toBe(true);
    expect(lines).toHaveLength(5);
  });

  test("columns in the requested order, whole numbers without decimals; absent columns are dropped, omitted ones named in the warnings", async () => {
    const [header, first] = (await text("csv", { columns: ["class", "nothing", "height"] })).split("\n");
    expect([header, first]).toEqual([
      "X,Y,Z,R,G,B,Intensity,class,height",
      "500000.250000,0.000000,1.000000,255,0,51,0.0000,2,0.500000",
    ]);
    const tail = await exportTail(made, { source: { session_id: shared.session_id }, format: "csv" });
    expect(tail.warnings).toEqual([
      expect.stringMatching(/Left out: height, class, is_miss/),
      expect.stringMatching(/^1 sky points \(misses\) are in the file, but not marked/),
    ]);
    const marked = await exportTail(made, {
      source: { session_id: shared.session_id },
      format: "csv",
      columns: ["is_miss"],
    });
    expect(marked.warnings).toBeUndefined();
  });

  test("ply: float, or double if float32 steps exceed a millimetre; obj", async () => {
    const ply = async (session_id: string, more: object = {}) => {
      const tail = await exportTail(made, { source: { session_id, ...more }, format: "ply" });
      return Buffer.from(tail.data ?? "", "base64")
        .toString()
        .split("end_header\n");
    };
    const header = (type: string) => {
      const axes = ["x", "y", "z"].map((axis) => `property ${type} ${axis}`);
      const colors = ["red", "green", "blue"].map((channel) => `property uchar ${channel}`);
      return ["ply", "format ascii 1.0", "element vertex 4", ...axes, ...colors, ""].join("\n");
    };
    const [far, body] = await ply(shared.session_id);
    expect(far?.replace(/comment .*\n/g, "")).toBe(header("double"));
    expect(body?.split("\n")[0]).toBe("500000.250000 0.000000 1.000000 255 0 51");
    const [near] = await ply(shared.session_id, { translation: [-500000, 0, 0] });
    expect(near?.replace(/comment .*\n/g, "")).toBe(header("float"));
    const obj = (await text("obj")).split("\n");
    expect(obj.slice(0, 2).every((line) => line.startsWith("# "))).toBe(true);
    expect(obj.slice(2, 4)).toEqual(["v 500000.250000 0.000000 1.000000", "v 500001.500000 1.000000 2.000000"]);
    expect(obj).toHaveLength(6);
  });

  test("ply: every row has its line end, without which VTK reads the last point wrong", async () => {
    for (const max_points of [null, 2]) {
      const source = { session_id: shared.session_id, max_points };
      const tail = await exportTail(made, { source, format: "ply" });
      const body = Buffer.from(tail.data ?? "", "base64").toString();
      expect(body.endsWith("\n")).toBe(true);
      expect(body.split("end_header\n")[1]?.split("\n")).toHaveLength(tail.point_count + 1);
    }
  });

  test("translation is added last, max_points keeps every ceil(n / max)-th row", async () => {
    const source = { session_id: shared.session_id, translation: [-500000, 1, 0.5], max_points: 2 };
    const tail = await exportTail(made, { source, format: "xyz" });
    expect(tail.point_count).toBe(2);
    expect(Buffer.from(tail.data ?? "", "base64").toString()).toBe(
      "0.250000 1.000000 1.500000\n2.000000 3.000000 3.623457",
    );
  });
});

describe("las", () => {
  test("a round trip keeps columns, times, colours and shift", async () => {
    const file = made.file("back.las", await exported(made, shared.session_id, "las"));
    const tail = await create(made, file, { world_shift: [500000, 0, 0] });
    expect(tail).toMatchObject({ total_count: 4, miss_count: 1, point_count: 3 });
    const names = tail.attributes.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["rgb", "intensity", "gps-time", "height", "class", "is_miss"]));
    expect(octreeValues(made.octrees, tail.cache_id, "gps-time")).toEqual([350000000.25, 350000000.5, 350000000.75]);
    expect(octreeValues(made.octrees, tail.cache_id, "height")).toEqual([0.5, 1.25, 2]);
    expect(octreeValues(made.octrees, tail.cache_id, "rgb").at(-1)).toBe(255 * 256);
    expect(tail.tight_bounds?.max.map((value) => Math.round(value * 1000) / 1000)).toEqual([2, 2, 3.123]);
  });

  test("columns selects the dimensions, including time", async () => {
    const chosen = async (columns: readonly string[]) => {
      const file = made.file("chosen.las", await exported(made, shared.session_id, "las", { columns }));
      const { attributes } = await create(made, file, { world_shift: [500000, 0, 0] });
      return attributes.map(({ name }) => name);
    };
    expect(await chosen(["height"])).toEqual(["position", "intensity", "rgb", "height"]);
    expect(await chosen(["timestamp", "nothing"])).toEqual(["position", "intensity", "gps-time", "rgb"]);
  });

  test("inline points: version 1.2, format 2 with colours, 0 without", async () => {
    const tail = await exportTail(made, { ...INLINE, format: "LAS" });
    expect(tail).toMatchObject({
      success: true,
      point_count: 2,
      has_colors: true,
      filename: "pointcloud.las",
      format: "LAS",
      error: null,
    });
    const bytes = Buffer.from(tail.data ?? "", "base64");
    expect([bytes.toString("latin1", 0, 4), bytes[24], bytes[25], bytes[104], bytes.readUInt32LE(107)]).toEqual([
      "LASF",
      1,
      2,
      2,
      2,
    ]);
    const plain = await exportTail(made, { points: INLINE.points, format: "las" });
    expect([plain.has_colors, Buffer.from(plain.data ?? "", "base64")[104]]).toEqual([false, 0]);
    const back = await create(made, made.file("inline.las", bytes));
    expect(octreeValues(made.octrees, back.cache_id, "rgb")).toEqual([0, 0, 0, 32768, 65535, 65535]); // clipped to 0..1
  });

  test("no points: success false with the sentence of the contract", async () => {
    const nothing = {
      success: false,
      error: "No points provided",
      code: "invalid_argument",
      data: null,
      filename: "",
      point_count: 0,
      has_colors: false,
    };
    expect(await exportTail(made, { format: "las" })).toMatchObject(nothing);
    expect(await exportTail(made, { format: "xyz", points: [] })).toMatchObject(nothing);
    const misspelt = await exportTail(made, { format: "las", session_id: "12345678" } as never);
    expect(misspelt).toMatchObject({ ...nothing, warnings: [expect.stringContaining('"session_id"')] });
  });
});

test("progress names its stages and ends at one; unknown keys are named in the warnings", async () => {
  const { markers, outcome } = await run(made, EXPORT, { ...INLINE, format: "las", colour: 1 });
  expect(markers[0]?.run_id).toMatch(/^[0-9a-f]{32}$/);
  expect(markers.map(({ message }) => message)).toEqual(expect.arrayContaining(["Writing points", "Finalizing"]));
  expect(markers.at(-1)?.progress).toBe(1);
  expect(outcome.kind === "json" && (outcome.value as { warnings: string[] }).warnings).toEqual([
    expect.stringContaining('"colour"'),
  ]);
});

test("the points of two formats agree, and a session takes precedence over inline points", async () => {
  const both = await exportTail(made, { ...INLINE, source: { session_id: shared.session_id }, format: "xyz" });
  expect(both.point_count).toBe(4);
  const csv = (await text("csv"))
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").slice(0, 3).join(" "));
  expect((await text("xyz")).split("\n")).toEqual(csv);
});

test("a round trip keeps scan angles in whole degrees", async () => {
  const bytes = lasBytes([
    { x: 1, y: 2, z: 3 },
    { x: 2, y: 2, z: 3 },
    { x: 3, y: 2, z: 3 },
  ]);
  for (const [row, degrees] of [-90, 0, 37].entries()) bytes.writeInt8(degrees, 227 + 34 * row + 16);
  const tail = await create(made, made.file("angles.las", bytes));
  const again = await create(made, made.file("angles-2.las", await exported(made, tail.session_id, "las")));
  const angle = again.attributes.find(({ name }) => name === "las_scan_angle_rank");
  expect([angle?.type, angle?.min, angle?.max]).toEqual(["int8", [-90], [37]]);
});

test("formats with positions only have no colours", async () => {
  for (const format of ["xyz", "obj"]) expect((await exportTail(made, { ...INLINE, format })).has_colors).toBe(false);
  expect((await exportTail(made, { ...INLINE, format: "ply" })).has_colors).toBe(true);
});

describe("LAZ", () => {
  test("is the default, smaller than LAS, and a round trip is bit-identical", async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({
      x: 500000 + i * 0.013,
      y: 5000000 + Math.sin(i / 50),
      z: (i * 7919) % 31,
      intensity: (i * 31) % 65536,
      gps_time: 3.5e8 + i * 1e-4,
      classification: i % 5,
      rgb: [i % 256, 256 * (i % 200), 65535 - i] as const,
      extra: { amplitude: Math.fround(i / 7), counter: i % 251 },
    }));
    const extras = [
      { name: "amplitude", type: "f32" as const },
      { name: "counter", type: "u8" as const },
    ];
    const first = await create(made, made.file("a.las", lasBytes(rows, { extras, offset: [500000, 5000000, 0] })));
    const las = await exported(made, first.session_id, "las");
    const laz = await exported(made, first.session_id, "laz");
    expect(laz.length).toBeLessThan(0.8 * las.length);
    const again = await create(made, made.file("b.laz", laz));
    expect(await exported(made, again.session_id, "las")).toEqual(las);
    const inline = await exportTail(made, { points: [[1, 2, 3]] });
    expect([inline.success, inline.format, inline.filename]).toEqual([true, "laz", "pointcloud.laz"]);
    expect(Buffer.from(inline.data ?? "", "base64").toString("latin1", 0, 4)).toBe("LASF");
  });
});
