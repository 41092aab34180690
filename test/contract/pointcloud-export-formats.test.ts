import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, exported, exportTail, refused } from "../support/app/app.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences, storedColumns } from "../support/session/session-values.ts";

const EXPORT = "/api/pointcloud/export";
const made = sessionTest();
/** Three hits and a miss, shifted, with colour, intensity, a clock and columns of several types. */
const ROWS = [
  "x y z r255 g255 b255 intensity time height class big is_miss",
  "500000.25 0 1 255 0 51 -4 350000000.1234567 0.1234567 2 -70000 0",
  "500001.5 1 2 0 128 0 -2 350000000.25 1.25 5 1 0",
  "500002 2 3.1234567 0 0 0 0 350000000.75 2 2 70000 0",
  "500900 0 900 1 1 1 -4 350000001 0 0 0 1",
];
/** Two scans on rasters of two rows, with an empty cell, a second echo and a miss. */
const RASTER = [
  "x y z intensity row_index column_index scan_index target_index is_miss",
  "1 0 0 0 0 0 0 0 0",
  "2 0 0 1 1 0 0 0 0",
  "3 0 0 2 1 0 0 1 0",
  "4 0 0 3 0 1 0 0 0",
  "90 0 0 4 1 1 0 0 1",
  "5 5 5 5 3 7 2 0 0",
  "6 5 5 6 4 7 2 0 0",
  "7 5 5 7 -1 7 2 0 0",
];
const shared = made.shared(ROWS, { world_shift: [500000, 0, 0] });
const rastered = made.shared(RASTER);

const source = (session_id = shared.session_id, more: object = {}) => ({ session_id, want_colors: true, ...more });
const bytesOf = (tail: { data: string | null }) => Buffer.from(tail.data ?? "", "base64");
const textOf = (tail: { data: string | null }) => bytesOf(tail).toString("latin1");
const INLINE = {
  points: [
    [1, 2, 3],
    [4.5, 5, 6],
  ],
  colors: [
    [1, 0, 0.5],
    [0, 1, 0],
  ],
};

describe("asc", () => {
  test("has the layout of txt, including columns and warnings", async () => {
    const columns = ["height", "class"];
    expect(await exported(made, shared.session_id, "asc", { columns })).toEqual(
      await exported(made, shared.session_id, "txt", { columns }),
    );
    const tail = await exportTail(made, { source: source(), format: "ASC" });
    expect(tail).toMatchObject({ success: true, filename: "pointcloud.asc", point_count: 4, has_colors: true });
    expect(tail.warnings?.join(" ")).toMatch(/Left out: height, class, big, is_miss, timestamp\. List them/);
  });

  test("columns whose values change with six decimals are named, the others are not", async () => {
    const warnings = async (columns: readonly string[]) =>
      (await exportTail(made, { source: source(), format: "asc", columns })).warnings ?? [];
    expect(await warnings(["height", "timestamp", "class", "is_miss"])).toEqual([
      "timestamp, height: written with 6 decimals, which changes some values.",
    ]);
    expect(await warnings(["class", "big", "is_miss"])).toEqual([]);
  });
});

describe("pts", () => {
  test("count, then x y z intensity r g b; true world, translated, with misses", async () => {
    const tail = await exportTail(made, {
      source: source(shared.session_id, { translation: [0, 10, 0] }),
      format: "pts",
    });
    expect(textOf(tail).split("\n")).toEqual([
      "4",
      "500000.250000 10.000000 1.000000 -2048 255 0 51",
      "500001.500000 11.000000 2.000000 0 0 128 0",
      "500002.000000 12.000000 3.123457 2047 0 0 0",
      "500900.000000 10.000000 900.000000 -2048 1 1 1",
      "",
    ]);
    expect(tail).toMatchObject({ point_count: 4, has_colors: true, filename: "pointcloud.pts" });
    expect(tail.warnings).toEqual([
      "Left out: height, class, big, is_miss, timestamp. PTS stores positions, intensity and colours; laz and pcd store every column.",
      expect.stringMatching(/^1 sky points \(misses\) are in the file, but not marked/),
      "intensity: PTS stores 12 bits; the lower 4 of 16 bits are lost.",
    ]);
  });

  test("inline points; the columns are fixed, whatever the request lists", async () => {
    const tail = await exportTail(made, { ...INLINE, format: "pts", columns: ["height"] });
    expect(textOf(tail)).toBe("2\n1.000000 2.000000 3.000000 0 255 0 128\n4.500000 5.000000 6.000000 0 0 255 0\n");
    expect(tail.warnings).toEqual(['The request has keys that mean nothing here and were ignored: "columns".']);
    const back = await create(made, made.file("inline.pts", bytesOf(tail)));
    expect(back).toMatchObject({ total_count: 2 });
  });
});

describe("pcd", () => {
  const header = (bytes: Buffer) => {
    const text = bytes.toString("latin1");
    const end = text.indexOf("DATA binary\n");
    return Object.fromEntries(
      text
        .slice(0, end)
        .split("\n")
        .map((line) => [line.split(" ")[0] ?? "", line.split(" ").slice(1).join(" ")]),
    );
  };

  test("every column keeps its type, coordinates are exact, and a round trip is bit-identical", async () => {
    const tail = await exportTail(made, { source: source(), format: "pcd" });
    expect(tail.warnings).toEqual([
      "x, y, z: 64-bit numbers, since 32 bits would move points; programs that read 32-bit coordinates only, those of PCL among them, find no points: export ply or laz for them.",
    ]);
    expect(header(bytesOf(tail))).toMatchObject({
      VERSION: "0.7",
      FIELDS: "x y z rgb intensity timestamp height class big is_miss",
      SIZE: expect.stringMatching(/^8 8 8 4 2 8 /),
      TYPE: expect.stringMatching(/^F F F F U F /),
      COUNT: "1 1 1 1 1 1 1 1 1 1",
      WIDTH: "4",
      HEIGHT: "1",
      VIEWPOINT: "0 0 0 1 0 0 0",
      POINTS: "4",
    });
    const back = await create(made, made.file("back.pcd", bytesOf(tail)), { world_shift: [500000, 0, 0] });
    expect(await differences(made, shared.session_id, back.session_id)).toEqual([]);
    expect(back).toMatchObject({ miss_count: 1, total_count: 4 });
    const offset = [1e7, -1e7, 0] as const;
    const rows = [100, 300].map((intensity) => ({ x: 1e7 + 0.011 * intensity, y: -1e7, z: 0, intensity }));
    const las = lasBytes(rows, { offset });
    const dim = await create(made, made.file("dim.las", las));
    const dim_back = await create(made, made.file("dim.pcd", await exported(made, dim.session_id, "pcd")));
    expect(await differences(made, dim.session_id, dim_back.session_id)).toEqual([]);
  });

  test("float32 if it holds every coordinate exactly, else float64; columns selects", async () => {
    const near = await exported(made, shared.session_id, "pcd", {
      source: source(shared.session_id, { translation: [-500000, 0, 0], max_points: 2 }),
      columns: ["class"],
    });
    expect(header(near)).toMatchObject({ FIELDS: "x y z rgb intensity class", SIZE: expect.stringMatching(/^8 8 8 /) });
    const of_floats = await exportTail(made, { ...INLINE, format: "pcd" });
    expect(of_floats.warnings).toBeUndefined();
    const inline = bytesOf(of_floats);
    expect(header(inline)).toMatchObject({ FIELDS: "x y z rgb", SIZE: "4 4 4 4", TYPE: "F F F F" });
    const body = inline.subarray(inline.indexOf("DATA binary\n") + 12);
    expect([0, 4, 8].map((at) => body.readFloatLE(at))).toEqual([1, 2, 3]);
    expect(body.readUInt32LE(12)).toBe(0xff0080);
    expect(body).toHaveLength(32);
  });

  test("VIEWPOINT is the scanner position, shifted and translated like the points", async () => {
    const wishes = { world_shift: [1000, 0, 0], origin: [1001.5, 2, 3] };
    const { session_id } = await create(made, made.file("origin.txt", "x y z\n1001 0 0\n1002 0 0\n"), wishes);
    const bytes = await exported(made, session_id, "pcd", { source: source(session_id, { translation: [0, 0, 5] }) });
    expect(header(bytes)).toMatchObject({ VIEWPOINT: "1001.5 2 8 1 0 0 0" });
  });

  test("16-bit colours are reduced to 8 bits with a warning", async () => {
    const { session_id } = await create(made, made.file("deep.txt", "x y z r g b\n0 0 0 0.3 0.3 0.3\n1 1 1 1 1 1\n"));
    const tail = await exportTail(made, { source: source(session_id), format: "pcd" });
    expect(tail.warnings).toEqual(["colors: PCD stores 8 bits per channel; the lower 8 of 16 bits are lost."]);
  });
});

describe("ptx", () => {
  test("one scan per scan_index, empty cells for misses, one point per cell", async () => {
    const tail = await exportTail(made, { source: source(rastered.session_id), format: "ptx" });
    const lines = textOf(tail).split("\n");
    expect(lines.slice(0, 2)).toEqual(["2", "2"]);
    expect(lines.slice(10, 14)).toEqual([
      "1.000000 0.000000 0.000000 0.000000",
      "2.000000 0.000000 0.000000 0.142855",
      "4.000000 0.000000 0.000000 0.428565",
      "0 0 0 0.5",
    ]);
    expect(lines.slice(14, 16)).toEqual(["1", "2"]);
    expect(lines).toHaveLength(14 + 12 + 1);
    expect(tail).toMatchObject({ point_count: 5, has_colors: false });
    expect(tail.warnings).toEqual([
      "1 point left out: a cell of a PTX raster holds one point, and others have the same scan, row and column; of several, the first echo is kept, else the first point.",
      "1 point left out: without row_index and column_index, or at the scanner itself, they have no cell.",
      "Misses are written as empty cells: PTX stores no direction for them.",
      "No scanner position is known; the file states the origin of the stored coordinates instead.",
      "The raster begins at the first row and column with points, and its indexes count from there: scan 2 at row 3, column 7.",
    ]);
  });

  test("a round trip keeps scans, positions, raster and misses, shifted and translated", async () => {
    const scan = (x: number, cells: readonly string[]) =>
      ["2", "2", `${x} 5 1`, "1 0 0", "0 1 0", "0 0 1", "1 0 0 0", "0 1 0 0", "0 0 1 0", `${x} 5 1 1`, ...cells].join(
        "\n",
      );
    const cells = ["1 0 0 0.25 255 0 1", "0 0 0 0.5 0 0 0", "0 1.25 0 1 0 9 0", "0 0 2.000001 0 0 0 8"];
    const text = `${scan(5e6, cells)}\n${scan(5e6 + 40, [...cells].reverse())}\n`;
    const wishes = { world_shift: [5e6, 0, 0] };
    const first = await create(made, made.file("two.ptx", text), wishes);
    const tail = await exportTail(made, { source: source(first.session_id), format: "ptx" });
    expect(tail.warnings).toEqual(["Misses are written as empty cells: PTX stores no direction for them."]);
    const again = await create(made, made.file("two-2.ptx", bytesOf(tail)), wishes);
    expect(await differences(made, first.session_id, again.session_id)).toEqual([]);
    const moved = await exportTail(made, {
      source: source(first.session_id, { translation: [1, 2, 3] }),
      format: "ptx",
    });
    expect(textOf(moved)).toContain("\n5000041.000000 7.000000 4.000000\n");
    expect(again).toMatchObject({ total_count: 8, miss_count: 2, unplaceable_miss_count: 2 });
    const { bytes } = (await storedColumns(made, again.session_id)).get("extra/scan_index") ?? {
      bytes: Buffer.alloc(0),
    };
    expect([bytes.readUInt16LE(0), bytes.readUInt16LE(14)]).toEqual([0, 1]);
  });

  test("all misses: cells without a point", async () => {
    const rows = ["x y z row_index column_index is_miss", "1 1 1 0 0 1", "2 2 2 1 0 1"];
    const { session_id } = await create(made, made.file("sky.txt", rows.join("\n")));
    const tail = await exportTail(made, { source: source(session_id), format: "ptx" });
    expect(tail).toMatchObject({ success: true, point_count: 0 });
    expect(textOf(tail).split("\n").slice(10)).toEqual(["0 0 0 0.5", "0 0 0 0.5", ""]);
  });

  test("a cloud without a raster is rejected before the stream with a remedy; so are sparse rasters beyond the limit", async () => {
    const no = await refused(made, EXPORT, { source: source(), format: "ptx" });
    expect([no.status, no.code]).toEqual([400, "invalid_argument"]);
    expect(no.detail).toMatch(/ptx needs a raster.* no row_index and no column_index.*column_plan.*pts, laz or pcd/);
    const inline = await refused(made, EXPORT, { ...INLINE, format: "ptx" });
    expect(inline.detail).toMatch(/inline points have none.*choose pts, laz or pcd/);
    const rows = ["x y z row_index column_index", "1 1 1 0 0", "2 2 2 60000 60000"];
    const { session_id } = await create(made, made.file("sparse.txt", rows.join("\n")));
    const folder = join(made.folder, "sparse");
    mkdirSync(folder);
    const tail = await exportTail(made, {
      source: source(session_id),
      format: "ptx",
      dest_path: join(folder, "a.ptx"),
    });
    expect(tail.error).toMatch(/a raster of 60001 rows and 60001 columns has more than 1000000000 cells/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("asc, pts, ptx and pcd", () => {
  const formats = ["asc", "pts", "pcd"];
  test("one distant point; no points; a folder without write permission", async () => {
    for (const format of formats) {
      const one = await exportTail(made, { points: [[1e7, -1e7, 1e7]], format });
      expect(one).toMatchObject({ success: true, point_count: 1, format });
      if (format !== "pcd") expect(textOf(one)).toContain("10000000.000000 -10000000.000000 10000000.000000");
      expect(await exportTail(made, { points: [], format })).toMatchObject({
        success: false,
        error: "No points provided",
        code: "invalid_argument",
      });
    }
    const infinite = `{"points": [[1, 2, 1e999]], "format": "pcd"}`;
    const headers = { "content-type": "application/json" };
    const refusal = await made.app.inject({ method: "POST", url: EXPORT, payload: infinite, headers });
    expect([refusal.statusCode, refusal.body.includes("finite")]).toEqual([422, true]);
  });

  test("dest_path is replaced as a whole, and read-only folders are reported", async () => {
    const folder = join(made.folder, "formats");
    mkdirSync(folder);
    for (const format of [...formats, "ptx"]) {
      const dest_path = join(folder, `cloud.${format}`);
      const session_id = format === "ptx" ? rastered.session_id : shared.session_id;
      expect(await exportTail(made, { source: source(session_id), format, dest_path })).toMatchObject({
        success: true,
      });
      expect(readFileSync(dest_path).equals(await exported(made, session_id, format))).toBe(true);
    }
    expect(readdirSync(folder)).toHaveLength(4);
    chmodSync(folder, 0o500);
    const tail = await exportTail(made, { ...INLINE, format: "pcd", dest_path: join(folder, "no.pcd") });
    chmodSync(folder, 0o700);
    if (process.getuid?.() !== 0)
      expect(tail).toMatchObject({ success: false, error: expect.stringMatching(/Export failed/) });
  });
});
