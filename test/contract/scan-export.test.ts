import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { create, refused, run } from "../support/app/app.ts";
import { newFolder, SCAN_EXPORT, SCAN_ROWS, scanExportTail, tagOf, textOf } from "../support/scans/scan-export.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { differences, storedColumns } from "../support/session/session-values.ts";

const made = sessionTest();
const shared = made.shared(SCAN_ROWS);
const scan = (more: object = {}) => ({ origin: [0.5, 0, 2], session_id: shared.session_id, ...more });
const tailOf = (request: object) => scanExportTail(made, request);

describe("POST /api/scan/export-xml, bundle", () => {
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
    const dest_dir = newFolder(made);
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
      const dest_dir = newFolder(made);
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

describe("refusals", () => {
  test("before the stream: folders and the number of scans", async () => {
    const two = { scans: [scan(), scan()] };
    const of = async (request: object) => {
      const { status, detail } = await refused(made, SCAN_EXPORT, request);
      return [status, detail];
    };
    expect(await of(two)).toEqual([400, expect.stringMatching(/2 scans need dest_dir/)]);
    expect(await of({ ...two, dest_dir: "out" })).toEqual([400, expect.stringMatching(/must be absolute/)]);
    expect(await of({ ...two, dest_dir: join(made.folder, "no") })).toEqual([
      400,
      expect.stringMatching(/not an existing folder/),
    ]);
    const dest_dir = newFolder(made);
    writeFileSync(join(dest_dir, "scans_0.xyz"), "my notes, not points\n");
    expect(await of({ scans: [scan()], dest_dir })).toEqual([409, expect.stringMatching(/overwrite: true/)]);
    expect((await tailOf({ scans: [scan()], dest_dir, overwrite: true })).success).toBe(true);
    expect((await tailOf({ scans: [scan()], dest_dir })).success).toBe(true); // its own files are replaced
    writeFileSync(join(dest_dir, "scans_0.xyz"), "1 2 3\n# 4 5 6\n7 8 9\n"); // a comment of the user
    expect(await of({ scans: [scan()], dest_dir })).toEqual([409, expect.stringMatching(/overwrite: true/)]);
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
    const dest_dir = newFolder(made);
    const tail = await tailOf({ scans: [scan(), { origin: [0, 0, 0], session_id: "00000000" }], dest_dir });
    expect(tail.success).toBe(false);
    expect(readdirSync(dest_dir)).toEqual([]);
  });
});

test("progress: a slice an object, its reading and writing, then the bundle", async () => {
  const dest_dir = newFolder(made);
  const { markers } = await run(made, SCAN_EXPORT, { scans: [scan({ label: "oak" }), scan()], dest_dir });
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
