import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import { refused } from "../support/app/app.ts";
import { type LasRow, lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const post = (url: string, payload: object) => made.app.inject({ method: "POST", url, payload });

describe("/api/pointcloud/preview", () => {
  const preview = async (file_path: string, more: object = {}) => {
    const answer = await post("/api/pointcloud/preview", { file_path, ...more });
    expect(answer.statusCode).toBe(200);
    return PreviewResponse.parse(answer.json());
  };

  test("text file: delimiter, header, roles, slugs, hints, rows and suggested shift", async () => {
    const rows = [
      "Easting,Northing,Height,Reflectance[dB],ReturnNumber,Class,Name,Empty",
      "500000.5,20,1.5,-3.25,1,2,oak,",
      "500001.5,21,2.5,-4.5,2,3,elm,",
    ];
    const answer = await preview(made.file("a.csv", rows.join("\n")));
    expect(answer).toMatchObject({
      kind: "ascii",
      delimiter: "comma",
      has_header: true,
      suggested_shift: [500000, 20, 1],
    });
    const of = (key: keyof PreviewResponse["columns"][number]) => answer.columns.map((column) => column[key]);
    expect(of("index")).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(of("header_name")).toEqual(rows[0]?.split(","));
    expect(of("detected_role")).toEqual(["x", "y", "z", "reflectance", "target_index", "extra", "skip", "skip"]);
    expect(of("suggested_slug")).toEqual(["", "", "", "Reflectance_dB", "target_index", "Class", "Name", "Empty"]);
    expect(answer.warning).toMatch(/Name.*Empty/s);
    expect(of("suggested_label")[3]).toBe("Reflectance [dB]");
    expect(of("type_hint")).toEqual([
      "float",
      "categorical",
      "float",
      "float",
      "categorical",
      "categorical",
      "categorical",
      "empty",
    ]);
    expect(of("remappable")).toEqual(Array(8).fill(true));
    expect(answer.sample_rows[0]?.slice(0, 3)).toEqual(["500000.5", "20", "1.5"]);
  });

  test.each([
    [undefined, 20],
    [null, 20],
    [0, 20],
    [5, 5],
    [-3, 1],
    [1000, 100],
  ])("max_rows %s shows %s rows", async (max_rows, shown) => {
    const file = made.file("rows.xyz", Array.from({ length: 300 }, (_, i) => `${i} 0 0`).join("\n"));
    expect((await preview(file, { max_rows })).sample_rows).toHaveLength(shown);
  });

  test("a legend names the columns; near the origin no shift is suggested", async () => {
    const answer = await preview(made.file("legend.xyz", "1 2 3 4\n"), { ascii_format: "z y x Biomass" });
    expect(answer.columns.map(({ detected_role }) => detected_role)).toEqual(["z", "y", "x", "extra"]);
    expect(answer).toMatchObject({ has_header: false, suggested_shift: null, delimiter: "whitespace" });
  });

  test("LAS: dimensions, hidden miss flag and origins, rows, and a shift from the header's minimum", async () => {
    const extras = ["ox", "oy", "oz", "is_miss", "Amplitude"].map((name) => ({ name, type: "f64" as const }));
    const rows: LasRow[] = Array.from({ length: 30 }, (_, i) => ({
      x: 0,
      y: -20000.5 - i,
      z: 5,
      intensity: i,
      extra: { Amplitude: i },
    }));
    const answer = await preview(made.file("a.las", lasBytes(rows, { extras })), { max_rows: 50 });
    const names = answer.columns.map(({ header_name }) => header_name);
    expect(names).toEqual(expect.arrayContaining(["x", "y", "z", "intensity", "classification", "red", "Amplitude"]));
    for (const hidden of ["ox", "oy", "oz", "is_miss"]) expect(names).not.toContain(hidden);
    expect(answer).toMatchObject({ kind: "las", delimiter: null, has_header: true, suggested_shift: [0, -20030, 0] });
    expect(answer.columns.find(({ header_name }) => header_name === "classification")?.type_hint).toBe("categorical");
    const of = (name: string) => answer.columns.find(({ header_name }) => header_name === name);
    expect(of("classification")).toMatchObject({
      suggested_slug: "las_classification",
      suggested_label: "classification",
    });
    expect(of("return_number")).toMatchObject({ suggested_slug: "target_index", suggested_label: "Target Index" });
    expect(answer.sample_rows).toHaveLength(30);
    for (const { index, header_name } of answer.columns) {
      if (header_name === "Amplitude" || header_name === "intensity") expect(answer.sample_rows[7]?.[index]).toBe("7");
      if (header_name === "y") expect(Number(answer.sample_rows[7]?.[index])).toBeCloseTo(-20007.5, 9);
    }
  });

  test("PLY and PCD", async () => {
    const ply =
      "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty int tree\nproperty uchar sky\nend_header\n1 2 3 4 5 0\n6 7 8 9 10 0\n";
    const first = await preview(made.file("a.ply", ply), { max_rows: 1 });
    expect(first).toMatchObject({ kind: "ply", suggested_shift: null, has_header: true });
    expect(first.columns.map(({ detected_role }) => detected_role)).toEqual(["x", "y", "z", "extra", "extra"]);
    expect(first.sample_rows).toHaveLength(1);
    const pcd =
      "VERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 4\n";
    const second = await preview(made.file("a.pcd", pcd));
    expect(second.columns.map(({ detected_role }) => detected_role)).toEqual(["x", "y", "z", "r255", "g255", "b255"]);
    expect(second.sample_rows).toEqual([["1", "2", "3", "0", "0", "4"]]);
    expect(second).toMatchObject({ warning: null, point_count: 1, crs: null, detected_units: null });
  });

  test("binary PLY and PCD: rows, hints and shift from the first points", async () => {
    const points = Array.from({ length: 120 }, (_, i) => [7e6 - i, 2.5, -i, i % 3, i - 50]);
    const body = Buffer.alloc(120 * 17);
    for (const [i, [x = 0, y = 0, z = 0, kind = 0, tag = 0]] of points.entries()) {
      body.writeDoubleBE(x, i * 17);
      body.writeFloatBE(y, i * 17 + 8);
      body.writeInt16BE(z, i * 17 + 12);
      body.writeUInt8(kind, i * 17 + 14);
      body.writeInt16BE(tag, i * 17 + 15);
    }
    const head =
      "ply\nformat binary_big_endian 1.0\nelement vertex 120\nproperty double x\nproperty float y\nproperty short z\nproperty uchar kind\nproperty short tag\nend_header\n";
    const ply = await preview(made.file("b.ply", Buffer.concat([Buffer.from(head), body])), { max_rows: 3 });
    expect(ply.sample_rows).toEqual([
      ["7000000", "2.5", "0", "0", "-50"],
      ["6999999", "2.5", "-1", "1", "-49"],
      ["6999998", "2.5", "-2", "2", "-48"],
    ]);
    expect(ply.columns.map(({ type_hint }) => type_hint)).toEqual([
      "float",
      "float",
      "integer",
      "categorical",
      "integer",
    ]);
    expect(ply).toMatchObject({ suggested_shift: [6_999_901, 2, -99], point_count: 120, warning: null });
    const empty = await preview(made.file("e.ply", head));
    expect(empty.warning).toMatch(/first rows are not shown/);
    expect(empty.columns).toHaveLength(5);
  });

  test("LAS: coordinate system, unit, bounds and count are shown even if the points are damaged", async () => {
    const rows: LasRow[] = Array.from({ length: 50 }, (_, i) => ({ x: i, y: 2, z: 3, return_number: (i % 3) + 1 }));
    const bytes = lasBytes(rows, { extras: [{ name: "ratio", type: "f32" }] });
    const answer = await preview(made.file("c.las", bytes));
    expect(answer).toMatchObject({
      point_count: 50,
      bounds: { min: [0, 0, 0], max: [49, 2, 3] },
      crs: null,
      detected_units: null,
      units_certain: false,
    });
    const of = (name: string) => answer.columns.find(({ header_name }) => header_name === name);
    expect(of("return_number")).toMatchObject({ detected_role: "target_index", type_hint: "categorical" });
    expect(of("x")?.type_hint).toBe("float");
    const cut = await preview(made.file("d.las", bytes.subarray(0, bytes.length - 50 * 38)));
    expect(cut.warning).toMatch(/first rows could not be read: .*no complete record/);
    expect(cut.columns.map(({ header_name }) => header_name)).toContain("ratio");
    expect(cut.point_count).toBe(50);
  });

  test("a header with invalid numbers is not a failure", async () => {
    const bytes = lasBytes([{ x: 1, y: 2, z: 3 }]);
    for (let at = 179; at < 227; at += 8) bytes.writeDoubleLE(at % 16 === 3 ? Number.NaN : 1e308 * 10, at);
    expect(await preview(made.file("nan.las", bytes))).toMatchObject({ bounds: null, suggested_shift: null });
  });

  test("a missing file is a 404; everything else is a 200 with a warning", async () => {
    expect(await refused(made, "/api/pointcloud/preview", { file_path: "/nowhere/a.las" })).toMatchObject({
      status: 404,
    });
    const files: [string, string | Uint8Array, RegExp][] = [
      ["broken.las", "LASF", /broken\.las/],
      ["empty.txt", "", /no data rows/],
      ["a.docx", "x", /"\.docx" is not a point cloud format/],
      ["a.e57", "ASTM-E57", /a.e57: the file ends/],
      ["broken.ply", "ply\nformat ascii 1.0\n", /broken\.ply/],
      ["broken.pcd", "VERSION", /broken\.pcd/],
    ];
    for (const [name, content, sentence] of files) {
      const answer = await preview(made.file(name, content));
      expect(answer).toMatchObject({
        kind: name.split(".")[1],
        columns: [],
        sample_rows: [],
        has_header: false,
        suggested_shift: null,
      });
      expect(answer.warning).toMatch(sentence);
    }
    for (const path of ["relative.las", made.folder, "/dev/zero"])
      expect((await preview(path)).warning).toMatch(/path|regular file/);
  });
});

test("the import uses what the preview suggests", async () => {
  const file = made.file("agree.csv", "x,y,z,Wood Class,Scan Row\n1,2,3,4,5\n");
  const { columns } = PreviewResponse.parse((await post("/api/pointcloud/preview", { file_path: file })).json());
  const answer = await post("/api/cloud/session/create", { source_path: file });
  const labels = JSON.parse(
    readFileSync(
      `${JSON.parse(answer.body.slice(answer.body.lastIndexOf('{"cache_id"'))).cache_dir}/attribute_labels.json`,
      "utf8",
    ),
  ) as object;
  const wanted = columns.filter(({ suggested_slug }) => suggested_slug !== "");
  expect(labels).toMatchObject(
    Object.fromEntries(wanted.map(({ suggested_slug, suggested_label }) => [suggested_slug, suggested_label])),
  );
});
