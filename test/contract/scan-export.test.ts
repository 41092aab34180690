import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXPORT_FORMATS } from "../../shared/contract/pointcloud.ts";
import { ScanExportTail } from "../../shared/contract/scan-export.ts";
import { create, refused, run } from "../support/app/app.ts";
import { readByOthers } from "../support/scans/foreign-e57.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences, storedColumns } from "../support/session/session-values.ts";

const EXPORT = "/api/scan/export-xml";
const made = sessionTest();
const ROWS = [
  "x y z r255 g255 b255 intensity timestamp height target_index target_count is_miss",
  "1.25 0 1 255 0 51 0.5 1000000.5 0.25 0 2 0",
  "1.5 1 2 0 128 0 1 1000000.75 1.25 1 2 0",
  "2 2 3.123457 0 0 0 0 1000001 2 0 1 0",
  "900 0 900 0 0 0 0 1000002 0 0 1 1",
];
const shared = made.shared(ROWS);
const scan = (more: object = {}) => ({ origin: [0.5, 0, 2], session_id: shared.session_id, ...more });
let folders = 0;
const newFolder = () => {
  folders += 1;
  const path = join(made.folder, `bundle${folders}`);
  mkdirSync(path);
  return path;
};

async function tailOf(request: object): Promise<ScanExportTail> {
  const { outcome } = await run(made, EXPORT, request);
  if (outcome.kind === "json") return ScanExportTail.parse(outcome.value);
  if (outcome.kind === "failed") return ScanExportTail.parse(outcome.tail);
  throw new Error(`scan export: ${JSON.stringify(outcome)}`);
}
const textOf = (tail: ScanExportTail, i: number) => Buffer.from(tail.files[i]?.data ?? "", "base64").toString("utf8");
const tagOf = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

describe("bundle", () => {
  test("one scan in the answer: XML and data with their columns in order, misses marked first", async () => {
    const tail = await tailOf({ scans: [scan({ label: "oak", columns: ["height", "timestamp", "nonsense"] })] });
    expect(tail).toMatchObject({ success: true, point_count: 4, scan_count: 1, error: null });
    expect(tail.files.map(({ name, is_xml, written }) => [name, is_xml, written])).toEqual([
      ["scans.xml", true, false],
      ["oak.xyz", false, false],
    ]);
    expect(tail.files.map(({ bytes }) => bytes)).toEqual([0, 1].map((i) => Buffer.byteLength(textOf(tail, i))));
    const columns = "x y z r255 g255 b255 is_miss height timestamp";
    expect(tagOf(textOf(tail, 0), "ASCII_format")).toBe(columns);
    expect(textOf(tail, 1).split("\n").slice(0, 3)).toEqual([
      `# ${columns}`,
      "1.250000 0.000000 1.000000 255 0 51 0 0.250000 1000000.500000",
      "1.500000 1.000000 2.000000 0 128 0 0 1.250000 1000000.750000",
    ]);
  });

  test("sweep, optics, returns and grids; only what was said, and radians for the divergence", async () => {
    const grid = { center: [0, 0, 5], size: [10, 10, 10], nx: 2, ny: 1, nz: 4 };
    const tail = await tailOf({
      scans: [
        scan({
          ...{ n_theta: 20, n_phi: 40, theta_min: 30, theta_max: 130, phi_max: 180 },
          ...{ beam_exit_diameter: 0.007, beam_divergence: 0.35, tilt_roll_deg: 1, tilt_pitch_deg: -2 },
          ...{ scan_azimuth_offset: 12.5, scanner_model: "riegl_vz400i", return_mode: "multi", max_returns: 5 },
          return_selection: "first",
        }),
      ],
      grids: [
        { ...grid, rotation: 30, column_offsets: [0.5, 0], kept_columns: [true, false] },
        { ...grid, column_offsets: [1], kept_columns: [true, true] },
      ],
    });
    const [xml] = [textOf(tail, 0)];
    const values = (...names: string[]) => names.map((name) => tagOf(xml, name));
    expect(values("filename", "origin", "size", "thetaMin", "thetaMax", "phiMin", "phiMax")).toEqual([
      ...["scans_0.xyz", "0.5 0 2", "20 40", "30", "130", "0", "180"],
    ]);
    expect(values("exitDiameter", "beamDivergence", "scanTilt", "scanAzimuthOffset", "scannerModel")).toEqual([
      ...["0.007", "0.00035", "1 -2", "12.5", "riegl_vz400i"],
    ]);
    expect(values("returnMode", "returnSelection", "maxReturns", "scanPattern")).toEqual([
      "multi",
      undefined,
      "5",
      undefined,
    ]);
    const grids = xml.split("<grid>").slice(1);
    expect(grids).toHaveLength(2);
    const [first = "", second = ""] = grids;
    expect(
      ["center", "size", "Nx", "Ny", "Nz", "rotation", "columnOffsets", "keptColumns"].map((name) =>
        tagOf(first, name),
      ),
    ).toEqual(["0 0 5", "10 10 10", "2", "1", "4", "30", "0.5 0", "1 0"]);
    expect(["rotation", "columnOffsets", "keptColumns"].map((name) => tagOf(second, name))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(xml.trimEnd().endsWith("</scanBundle>")).toBe(true);
  });

  test("a spinning scan has a path of two equal poses with the heading; Risley prisms are refused", async () => {
    const angles = [-10, 0, 15];
    const spinning = { scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: angles, n_phi: 900 };
    const dest_dir = newFolder();
    const tail = await tailOf({ scans: [scan({ ...spinning, scan_azimuth_offset: 90 })], base_name: "car", dest_dir });
    expect(readdirSync(dest_dir).sort()).toEqual(["car.xml", "car_0.xyz", "car_0_traj.csv"]);
    expect(tail.files.every(({ written, data }) => written && data === null)).toBe(true);
    const xml = readFileSync(join(dest_dir, "car.xml"), "utf8");
    expect(
      ["size", "beamElevationAngles", "azimuthStep", "PRF", "trajectoryFile"].map((name) => tagOf(xml, name)),
    ).toEqual(["3 900", "-10 0 15", "0.4", "900", "car_0_traj.csv"]);
    const [header, ...poses] = readFileSync(join(dest_dir, "car_0_traj.csv"), "utf8").trimEnd().split("\n");
    expect(header).toBe("t,x,y,z,qx,qy,qz,qw");
    const numbers = poses.map((pose) => pose.split(",").map(Number));
    expect(numbers.map(([t]) => t)).toEqual([0, 1]);
    for (const [, x, y, z, qx, qy, qz = 0, qw = 0] of numbers) {
      expect([x, y, z, qx, qy]).toEqual([0.5, 0, 2, 0, 0]);
      expect([qz, qw].map((q) => q.toFixed(12))).toEqual([-Math.SQRT1_2, Math.SQRT1_2].map((q) => q.toFixed(12)));
    }
    expect((await tailOf({ scans: [scan({ ...spinning, beam_elevation_angles_deg: [] })] })).error).toMatch(
      /elevation of each beam/,
    );
    expect((await tailOf({ scans: [scan({ scan_pattern: "risley_prism" })] })).error).toMatch(/Risley/);
    expect((await tailOf({ scans: [scan({ scan_pattern: "risley_prism" })], write_xml: false })).success).toBe(true);
  });

  test("read again with the columns of the XML: the same columns and misses", async () => {
    const tail = await tailOf({
      scans: [scan({ columns: ["is_miss", "timestamp", "height", "target_index", "target_count", "intensity"] })],
    });
    const ascii_format = tagOf(textOf(tail, 0), "ASCII_format");
    const back = await create(made, made.file("again.xyz", textOf(tail, 1)), { ascii_format });
    expect(back).toMatchObject({ total_count: 4, miss_count: 1 });
    const changed = await differences(made, shared.session_id, back.session_id);
    expect(changed.filter((line) => !/then|intensity/.test(line))).toEqual([]); // intensity has four decimals
  });

  test("labels and base names: legal on every system, none twice, before or after", async () => {
    const names = async (request: object) => {
      const dest_dir = newFolder();
      const tail = await tailOf({ dest_dir, ...request });
      expect(tail.error).toBeNull();
      expect(readdirSync(dest_dir).sort()).toEqual(tail.files.map(({ name }) => name).sort());
      return tail.files.map(({ name }) => name);
    };
    const scans = ["../../etc/oak", "OAK*", "oak?", null, "con"].map((label) => scan({ label }));
    expect(await names({ scans, base_name: "/tmp/plot 7.xml" })).toEqual([
      "plot 7.xml",
      "plot 7_.._.._etc_oak.xyz".replace("plot 7_.._.._etc_oak", "plot 7_" + "_.._etc_oak"),
      "plot 7_OAK_.xyz",
      "plot 7_oak__2.xyz",
      "plot 7_3.xyz",
      "plot 7__con.xyz",
    ]);
    expect(await names({ scans: scans.slice(1, 2), base_name: "b", base_position: "suffix" })).toEqual([
      "b.xml",
      "OAK__b.xyz",
    ]);
    expect(await names({ scans: [scan()], write_xml: false, data_format: "las", base_name: "b.e57" })).toEqual([
      "b.las",
    ]);
  });
});

describe("data files", () => {
  test.each(EXPORT_FORMATS.filter((format) => format !== "ptx"))("%s: every object becomes a file", async (format) => {
    const dest_dir = newFolder();
    const scans = [scan({ label: "a" }), scan({ label: "b", translation: [0, 0, 10] })];
    const tail = await tailOf({ scans, write_xml: false, data_format: format.toUpperCase(), dest_dir });
    expect(tail).toMatchObject({ success: true, point_count: 8, scan_count: 2 });
    expect(readdirSync(dest_dir).sort()).toEqual([`scans_a.${format}`, `scans_b.${format}`]);
    const opened = format === "obj" ? null : await create(made, join(dest_dir, `scans_b.${format}`), asColumns(format));
    if (opened) expect(opened.total_count).toBe(4);
  });
  /** asc has no header: its columns are those of the default. */
  const asColumns = (format: string) =>
    format === "asc"
      ? { ascii_format: "x y z r255 g255 b255 intensity is_miss timestamp target_index target_count" }
      : {};

  test("e57: the scanner's position is the pose, misses are invalid points", async () => {
    const tail = await tailOf({ scans: [scan()], write_xml: false, data_format: "e57", base_name: "oak" });
    const bytes = Buffer.from(tail.files[0]?.data ?? "", "base64");
    const { scans, xml } = await readByOthers(bytes);
    expect(scans[0]).toHaveLength(3); // it leaves out invalid points
    expect(xml).toMatch(
      /<translation type="Structure"><x type="Float">0.5<\/x>\s*<y type="Float">0<\/y>\s*<z type="Float">2<\/z>/,
    );
    expect(xml).toContain('<name type="String">oak</name>');
    const back = await create(made, made.file("oak.e57", bytes));
    expect(back).toMatchObject({ miss_count: 1, total_count: 4 });
  });

  test("ptx: a raster by its columns, or by the angles of the sweep; its summary", async () => {
    const rows = ["x y z row_index column_index", "1 0 0 0 0", "2 0 0 1 0", "3 0 0 0 1"];
    const { session_id } = await create(made, made.file("raster.txt", rows.join("\n")));
    const ptx = { write_xml: false, data_format: "ptx" };
    const indexed = await tailOf({ scans: [{ origin: [0, 0, 0], session_id }], ...ptx });
    expect(indexed.files[0]?.grid).toEqual({
      ...{ rows: 2, cols: 2, cells: 4, filled: 3, collapsed: 0, unplaced: 0, source: "columns" },
    });
    const points: number[][] = [];
    for (const theta of [60, 90, 120])
      for (const phi of [0, 30, 60, 90]) {
        const [t, p] = [(theta * Math.PI) / 180, (phi * Math.PI) / 180];
        points.push([5 * Math.sin(t) * Math.sin(p), 5 * Math.sin(t) * Math.cos(p), 5 * Math.cos(t) + 2]);
      }
    const sweep = { n_theta: 3, n_phi: 4, theta_min: 60, theta_max: 120, phi_min: 0, phi_max: 90 };
    const swept = await tailOf({ scans: [{ origin: [0, 0, 2], points, ...sweep }], ...ptx });
    expect(swept.files[0]?.grid).toEqual({
      ...{ rows: 3, cols: 4, cells: 12, filled: 12, collapsed: 0, unplaced: 0, source: "sweep" },
    });
    const multibeam = { scan_pattern: "risley_prism" };
    expect((await tailOf({ scans: [{ origin: [0, 0, 2], points, ...multibeam }], ...ptx })).error).toMatch(/raster/);
    const wide = { ...sweep, n_theta: 2000, n_phi: 2000 };
    const limits = await tailOf({ scans: [{ origin: [0, 0, 2], points, ...wide }], ...ptx });
    expect(limits.error).toMatch(/more than 2000000 cells/);
    expect(
      (await tailOf({ scans: [{ origin: [0, 0, 2], points, ...wide }], ...ptx, dest_dir: newFolder() })).success,
    ).toBe(true);
  });

  test("without misses: no rows and no column of them", async () => {
    const tail = await tailOf({ scans: [scan({ columns: ["is_miss", "height"] })], include_misses: false });
    expect(tail.point_count).toBe(3);
    expect(tagOf(textOf(tail, 0), "ASCII_format")).toBe("x y z r255 g255 b255 height");
  });

  test("inline points with columns, and a file that is allowed", async () => {
    const points = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    const columns = ["reflectance", "short", "timestamp"];
    const scalar_columns = { reflectance: [1.5, -2], short: [1], timestamp: [10, 11.5] };
    const tail = await tailOf({
      scans: [{ origin: [0, 0, 0], points, scalar_columns, columns, translation: [1, 0, 0] }],
    });
    expect(textOf(tail, 1)).toBe(
      "# x y z reflectance timestamp\n2.000000 2.000000 3.000000 1.500000 10.000000\n5.000000 5.000000 6.000000 -2 11.500000".replace(
        "-2 11",
        "-2.000000 11",
      ),
    );
    expect(tail.warnings).toEqual(["short is left out: it has 1 values for 2 points."]);
    const file_path = made.file("plain.txt", "x y z height\n1 2 3 4\n5 6 7 8\n");
    const entry = { origin: [0, 0, 0], file_path, columns: ["height"] };
    expect((await tailOf({ scans: [entry] })).error).toMatch(/send allow_file_source: true/);
    const read = await tailOf({ scans: [{ ...entry, allow_file_source: true }] });
    expect(textOf(read, 1).split("\n")[2]).toBe("5.000000 6.000000 7.000000 8");
  });

  test("a shifted session: coordinates are those that clients draw, and the answer says so", async () => {
    const { session_id } = await create(made, made.file("far.txt", "x y z\n500001 1 1\n500002 2 2\n"), {
      world_shift: [500000, 0, 0],
    });
    const tail = await tailOf({ scans: [{ origin: [0, 0, 0], session_id }] });
    expect(textOf(tail, 1).split("\n")[1]).toBe("1.000000 1.000000 1.000000");
    expect(tail.warnings).toEqual([
      "Coordinates are without the world shift [500000, 0, 0]; add it to get true coordinates.",
    ]);
  });
});

describe("refusals", () => {
  test("before the stream: folders and the number of scans", async () => {
    const two = { scans: [scan(), scan()] };
    const of = async (request: object) => {
      const { status, detail } = await refused(made, EXPORT, request);
      return [status, detail];
    };
    expect(await of(two)).toEqual([400, expect.stringMatching(/2 scans need dest_dir/)]);
    expect(await of({ ...two, dest_dir: "out" })).toEqual([400, expect.stringMatching(/must be absolute/)]);
    expect(await of({ ...two, dest_dir: join(made.folder, "no") })).toEqual([
      400,
      expect.stringMatching(/not an existing folder/),
    ]);
    const dest_dir = newFolder();
    writeFileSync(join(dest_dir, "scans_0.xyz"), "my notes, not points\n");
    expect(await of({ scans: [scan()], dest_dir })).toEqual([409, expect.stringMatching(/overwrite: true/)]);
    expect((await tailOf({ scans: [scan()], dest_dir, overwrite: true })).success).toBe(true);
    expect((await tailOf({ scans: [scan()], dest_dir })).success).toBe(true); // its own files are replaced
  });

  test.each([
    [{ scans: [] }, /^No scans to export$/],
    [{ scans: [{ origin: [0, 0, 0] }], write_xml: false, data_format: "docx" }, /^Unsupported data format: docx$/],
    [{ scans: [{ origin: [0, 0, 0] }] }, /^Scan export failed: an object has no points/],
    [{ scans: [{ origin: [0, 0], points: [[1, 2, 3]] }] }, /^Scan export failed: origin must be three numbers/],
    [
      { scans: [{ origin: [0, 0, 0], points: [[1, 2, 3]], translation: [1] }] },
      /^Scan export failed: translation must be/,
    ],
    [{ scans: [{ origin: [0, 0, 0], session_id: "00000000" }] }, /^Scan export failed: .*00000000/],
    [{ scans: [{ origin: [0, 0, 0], points: [] }] }, /has no points/],
  ])("in the stream: %j", async (request, error) => {
    const tail = await tailOf(request);
    expect(tail).toMatchObject({ success: false, files: [], error: expect.stringMatching(error) });
    expect(tail.code).toBeDefined();
  });

  test("a failure of the second object leaves no file of the first", async () => {
    const dest_dir = newFolder();
    const tail = await tailOf({ scans: [scan(), { origin: [0, 0, 0], session_id: "00000000" }], dest_dir });
    expect(tail.success).toBe(false);
    expect(readdirSync(dest_dir)).toEqual([]);
  });
});

test("progress: a slice an object, its reading and writing, then the bundle", async () => {
  const dest_dir = newFolder();
  const { markers } = await run(made, EXPORT, { scans: [scan({ label: "oak" }), scan()], dest_dir });
  const labels = markers.map(({ message }) => message);
  for (const label of [
    "Reading oak (1/2)",
    "Writing oak (1/2)",
    "Reading scan 2 (2/2)",
    "Writing the bundle",
    "Saving scans.xml",
  ])
    expect(labels).toContain(label);
  expect(labels.at(-1)).toBe("Wrote 3 file(s)");
  const shares = markers.flatMap(({ progress }) => (progress === null ? [] : [progress]));
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
});

test("columns of the stored session are untouched", async () => {
  const before = await storedColumns(made, shared.session_id);
  await tailOf({ scans: [scan()] });
  expect(await storedColumns(made, shared.session_id)).toEqual(before);
});
