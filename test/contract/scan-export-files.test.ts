import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXPORT_FORMATS } from "../../shared/contract/pointcloud.ts";
import { create } from "../support/app/app.ts";
import { readByOthers } from "../support/scans/foreign-e57.ts";
import { lasBytes } from "../support/scans/las-bytes.ts";
import { readRawLas } from "../support/scans/las-records.ts";
import { newFolder, SCAN_ROWS, scanExportTail, tagOf, textOf } from "../support/scans/scan-export.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const shared = made.shared(SCAN_ROWS);
const scan = (more: object = {}) => ({ origin: [0.5, 0, 2], session_id: shared.session_id, ...more });
const tailOf = (request: object) => scanExportTail(made, request);

describe("POST /api/scan/export-xml, data files", () => {
  test.each(EXPORT_FORMATS.filter((format) => format !== "ptx"))("%s: every object becomes a file", async (format) => {
    const dest_dir = newFolder(made);
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
      (await tailOf({ scans: [{ origin: [0, 0, 2], points, ...wide }], ...ptx, dest_dir: newFolder(made) })).success,
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

  test.each(["las", "e57"])(
    "%s of a shifted session: local coordinates have no coordinate system",
    async (data_format) => {
      const { session_id } = await create(made, made.file("placed.txt", "x y z\n500001 1 1\n500002 2 2\n"), {
        world_shift: [500000, 0, 0],
      });
      const session = await made.deps.sessions.get(session_id);
      await session.commit(session.state, { meta: { crs_epsg: 32632, crs_wkt: 'LOCAL_CS["far"]' } });
      const tail = await tailOf({ scans: [{ origin: [0, 0, 0], session_id }], write_xml: false, data_format });
      expect(Buffer.from(tail.files[0]?.data ?? "", "base64").toString("latin1")).not.toContain("LOCAL_CS");
      expect(tail.warnings?.join()).toMatch(/without the world shift .* The file names no coordinate system\./);
    },
  );
});

test.each(["session", "file"])(
  "LAS of a %s keeps its clock, its system and the fields with one value",
  async (from) => {
    const wkt = 'PROJCS["own",AUTHORITY["EPSG","32632"]]';
    const row = { y: 0, z: 0, classification: 5 };
    const rows = [3e8, 3.1e8].map((gps_time, i) => ({ ...row, x: i, gps_time }));
    const path = made.file("source.las", lasBytes(rows, { global_encoding: 1, wkt }));
    const source =
      from === "file"
        ? { file_path: path, allow_file_source: true }
        : { session_id: (await create(made, path)).session_id };
    const columns = ["timestamp", "classification"];
    const scans = [{ origin: [0, 0, 0], columns, ...source }];
    const tail = await tailOf({ scans, write_xml: false, data_format: "las" });
    expect(tail.warnings ?? []).toEqual([]);
    const bytes = Buffer.from(tail.files[0]?.data ?? "", "base64");
    const { global_encoding } = await readRawLas(bytes);
    expect(global_encoding & 1).toBe(1);
    const back = await create(made, made.file("back.las", bytes));
    expect(back).toMatchObject({ crs_epsg: 32632, gps_time_encoding: "adjusted_standard" });
    expect(back.constant_dimensions).toContainEqual({ name: "classification", value: 5 });
  },
);
