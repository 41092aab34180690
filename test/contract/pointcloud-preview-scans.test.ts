import { describe, expect, test } from "vitest";
import { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import { create } from "../support/app/app.ts";
import { e57Bytes, e57Element, e57Points, e57Pose } from "../support/scans/e57-bytes.ts";
import { columnOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

async function preview(file_path: string, more: object = {}): Promise<PreviewResponse> {
  const answer = await made.app.inject({
    method: "POST",
    url: "/api/pointcloud/preview",
    payload: { file_path, ...more },
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return PreviewResponse.parse(answer.json());
}

const UTM =
  '<coordinateMetadata type="String"><![CDATA[PROJCS["WGS 84 / UTM zone 32N",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],UNIT["metre",1],AUTHORITY["EPSG","32632"]]]]></coordinateMetadata>';
const box = (low: number, high: number) =>
  e57Element("cartesianBounds", {
    xMinimum: low,
    xMaximum: high,
    yMinimum: low,
    yMaximum: high,
    zMinimum: 0,
    zMaximum: 2,
  });
const RASTER = e57Element("indexBounds", { rowMinimum: 0, rowMaximum: 9, columnMinimum: 5, columnMaximum: 24 });

describe("E57", () => {
  const first = e57Points(
    [
      [1, 0, 0],
      [2, 0.5, 0],
      [9, 9, 9],
    ],
    `<name type="String">North</name>${e57Pose([4e6, 20, 3], Math.PI / 2)}${box(-1, 2)}${RASTER}`,
  );
  const marked = {
    ...first,
    fields: [
      ...first.fields,
      { name: "cartesianInvalidState", type: "u8" as const, values: [0, 0, 1] },
      { name: "intensity", type: "u8" as const, values: [7, 200, 9] },
      { name: "colorRed", type: "u8" as const, values: [1, 2, 3] },
      { name: "returnIndex", type: "u8" as const, values: [0, 1, 0] },
    ],
  };
  const second = e57Points([[1, 2, 3]], `${e57Pose([4e6 + 100, 0, 0])}${box(-1, 1)}`);

  test("scans, first points with the pose applied, bounds, coordinate system, unit and shift", async () => {
    const answer = await preview(made.file("two.e57", e57Bytes([marked, second], UTM)), { max_rows: 2 });
    expect(answer).toMatchObject({
      kind: "e57",
      point_count: 4,
      scan_count: 2,
      scan_list_complete: true,
      detected_units: "m",
      units_certain: true,
      crs: { epsg: 32632, name: "WGS 84 / UTM zone 32N", is_geographic: false, unit_m: 1 },
      suggested_shift: [3999998, -1, 0],
    });
    expect(answer.warning).toMatch(/^2 scans: the import merges them/);
    const [north, other] = answer.scans ?? [];
    expect(north).toMatchObject({
      scan_index: 0,
      name: "North",
      point_count: 3,
      n_theta: 10,
      n_phi: 20,
      origin: [4e6, 20, 3],
      has_misses: true,
    });
    const half = expect.closeTo(Math.SQRT1_2, 9);
    expect(north?.rotation).toEqual([0, 0, half, half]);
    expect(other).toMatchObject({ scan_index: 1, name: null, point_count: 1, n_theta: 0, has_misses: false });
    expect(answer.bounds?.max[0]).toBeCloseTo(4e6 + 101, 6);
    expect(answer.columns.map(({ header_name, detected_role }) => [header_name, detected_role])).toEqual([
      ["cartesianX", "x"],
      ["cartesianY", "y"],
      ["cartesianZ", "z"],
      ["intensity", "intensity"],
      ["colorRed", "extra"],
      ["returnIndex", "target_index"],
      [null, "extra"],
    ]);
    expect(answer.columns[6]).toMatchObject({ suggested_slug: "scan_index", suggested_label: "scan_index" });
    expect(answer.columns[5]).toMatchObject({ suggested_slug: "target_index", suggested_label: "Target Index" });
    expect(answer.columns.map(({ type_hint }) => type_hint).slice(0, 5)).toEqual([
      "float",
      "float",
      "float",
      "categorical",
      "categorical",
    ]);
    const rows = (await preview(made.file("two.e57", e57Bytes([marked, second], UTM)))).sample_rows;
    expect(answer.sample_rows).toEqual(rows.slice(0, 2));
    expect(rows).toHaveLength(3);
    expect(rows[1]?.slice(0, 3).map(Number)).toEqual([expect.closeTo(4e6 - 0.5, 6), expect.closeTo(22, 6), 3]);
    expect(rows[1]?.slice(3)).toEqual(["200", "2", "1", "0"]);
    expect(rows[2]?.slice(0, 3)).toEqual(["", "", ""]);
  });

  test("an import agrees with its preview", async () => {
    const file = made.file("agree.e57", e57Bytes([marked, second], UTM));
    const tail = await create(made, file, { world_shift: [4e6, 0, 0] });
    const looked = await preview(file);
    expect(tail.total_count).toBe(looked.point_count);
    expect(tail.crs_epsg).toBe(32632);
    expect(tail.scans).toHaveLength(2);
    expect(tail.scans?.[0]).toMatchObject({
      scan_index: 0,
      name: "North",
      row_count: 3,
      miss_count: 1,
      unplaceable_miss_count: 0,
      origin: [4e6, 20, 3],
    });
    expect(tail.scans?.[1]).toMatchObject({ name: null, origin: [4e6 + 100, 0, 0], row_count: 1, theta_min: null });
    for (const corner of ["min", "max"] as const) {
      for (const axis of [0, 1, 2] as const) {
        const declared = looked.bounds?.[corner][axis] ?? Number.NaN;
        const found = (tail.tight_bounds?.[corner][axis] ?? Number.NaN) + (tail.world_shift?.[axis] ?? 0);
        if (corner === "min") expect(found).toBeGreaterThanOrEqual(declared - 0.002);
      }
    }
  });

  test("spherical coordinates are shown as positions; without declared bounds, the first points determine the shift", async () => {
    const scan = {
      xml: e57Pose([0, 30_000, 0]),
      fields: [
        { name: "sphericalRange", type: "f64" as const, values: [2, 2] },
        { name: "sphericalAzimuth", type: "f64" as const, values: [0, Math.PI / 2] },
        { name: "sphericalElevation", type: "f64" as const, values: [0, 0] },
      ],
    };
    const answer = await preview(made.file("round.e57", e57Bytes([scan])));
    expect(answer.columns.map(({ header_name, detected_role }) => [header_name, detected_role])).toEqual([
      [null, "x"],
      [null, "y"],
      [null, "z"],
    ]);
    expect(answer.sample_rows.map((row) => row.map(Number))).toEqual([
      [2, 30_000, 0],
      [expect.closeTo(0, 9), 30_002, 0],
    ]);
    expect(answer).toMatchObject({ bounds: null, crs: null, suggested_shift: [0, 30_000, 0], warning: null });
  });

  test("fields that only other scans have are listed without values", async () => {
    const tagged = { ...second, fields: [...second.fields, { name: "tag", type: "u8" as const, values: [4] }] };
    const { columns } = await preview(made.file("union.e57", e57Bytes([e57Points([[1, 2, 3]]), tagged])));
    expect(columns[3]).toMatchObject({ header_name: "tag", detected_role: "extra", type_hint: "empty" });
  });

  test("no scan, no points, a wrong point count, a broken first page", async () => {
    const none = await preview(made.file("none.e57", e57Bytes([])));
    expect(none).toMatchObject({
      columns: [],
      scans: [],
      scan_count: 0,
      point_count: 0,
      warning: "The file contains no points.",
    });
    const empty = await preview(made.file("empty.e57", e57Bytes([e57Points([])])));
    expect(empty).toMatchObject({ sample_rows: [], point_count: 0, scan_count: 1 });
    expect(empty.columns.map(({ type_hint }) => type_hint)).toEqual(["empty", "empty", "empty"]);
    for (const declared of ["2147483648", "9007199254740993", "18446744073709551615"]) {
      const file = made.file("liar.e57", e57Bytes([{ ...e57Points([[1, 2, 3]]), declared }]));
      const answer = await preview(file);
      expect(answer.warning).toMatch(/The first rows could not be read: .*need/);
      expect(answer.columns).toHaveLength(3);
      expect(answer.scans).toHaveLength(1);
    }
    const bytes = e57Bytes([e57Points(Array.from({ length: 200 }, (_, i) => [i, i, i]))]);
    bytes.writeUInt8(bytes.readUInt8(700) ^ 1, 700);
    const broken = await preview(made.file("crc.e57", bytes));
    expect(broken.warning).toMatch(/checksum/);
    expect(broken.scans?.[0]?.point_count).toBe(200);
  });

  test("hostile headers give a warning, never a failure", async () => {
    const scan = (xml: string) => e57Bytes([e57Points([[1, 2, 3]], xml)]);
    const bomb = `<?xml version="1.0"?><!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`;
    const hostile: [string, Buffer][] = [
      ["entities", e57Bytes([e57Points([[1, 2, 3]], '<name type="String">&b;</name>')], "", bomb)],
      ["unknown entity", scan('<name type="String">&undefined;</name>')],
      ["nan pose", scan(e57Pose(["nan", 0, 0]))],
      ["infinite pose", scan(e57Pose(["1e999", 0, 0]))],
      ["largest pose", scan(`${e57Pose(["1.7e308", 0, 0], 1)}${box(-1.7e308, 1.7e308)}`)],
      ["depth", e57Bytes([], "<a>".repeat(100_000))],
      ["nothing", Buffer.alloc(1024)],
      ["text", Buffer.from("ASTM-E57 is a standard")],
    ];
    for (const [name, bytes] of hostile) {
      const answer = await preview(made.file(`${name}.e57`, bytes));
      if (name !== "largest pose") expect(answer.warning, name).toBeTruthy();
    }
  });

  test("a file cut at any byte is shown or rejected", async () => {
    const bytes = e57Bytes([marked, second]);
    for (let size = 0; size < bytes.length; size += 97) {
      expect((await preview(made.file("cut.e57", bytes.subarray(0, size)))).warning).toBeTruthy();
    }
  });

  test("a long list of scans is cut, its count is complete", async () => {
    const many = Array.from({ length: 1100 }, (_, i) => e57Points([], e57Pose([i, 0, 0])));
    const answer = await preview(made.file("many.e57", e57Bytes(many)));
    expect([answer.scans?.length, answer.scan_count, answer.scan_list_complete]).toEqual([1000, 1100, false]);
  });
});

describe("PTX", () => {
  const ptx = (columns: number, rows: number, origin: string, cells: readonly string[]) =>
    `${columns}\n${rows}\n${origin}\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n${origin} 1\n${cells.join("\n")}\n`;
  const lone = ptx(2, 1, "500000 20 3", ["1 0 0 0.25 255 128 0", "0 0 0 0.5 0 0 0"]);

  test("scans, first cells in the frame of the file, shift", async () => {
    const answer = await preview(made.file("two.ptx", lone + ptx(1, 2, "500010 20 3", ["1 1 1 0", "2 2 2 1"])));
    expect(answer).toMatchObject({
      kind: "ptx",
      point_count: 4,
      scan_count: 2,
      scan_list_complete: true,
      suggested_shift: [500_000, 20, 3],
      detected_units: "m",
      units_certain: false,
      bounds: null,
    });
    expect(answer.scans).toMatchObject([
      { scan_index: 0, n_theta: 1, n_phi: 2, origin: [500_000, 20, 3], has_misses: true, point_count: 2 },
      { scan_index: 1, n_theta: 2, n_phi: 1, origin: [500_010, 20, 3], has_misses: false, point_count: 2 },
    ]);
    expect(answer.columns.map(({ detected_role }) => detected_role)).toEqual([
      "x",
      "y",
      "z",
      "intensity",
      "r255",
      "g255",
      "b255",
      "row_index",
      "column_index",
      "extra",
    ]);
    expect(answer.columns.at(-1)).toMatchObject({ header_name: null, suggested_slug: "scan_index" });
    expect(answer.sample_rows).toEqual([
      ["500001", "20", "3", "0.25", "255", "128", "0", "0", "0", "0"],
      ["", "", "", "0.5", "0", "0", "0", "0", "1", "0"],
    ]);
  });

  test("rows and columns of the cells are those of the import", async () => {
    const file = made.file(
      "grid.ptx",
      ptx(2, 3, "0 0 0", ["1 1 1 1", "2 2 2 1", "3 3 3 1", "4 4 4 1", "5 5 5 1", "6 6 6 1"]),
    );
    const { columns, sample_rows } = await preview(file);
    const { session_id } = await create(made, file);
    for (const slug of ["row_index", "column_index"]) {
      const index = columns.find(({ suggested_slug }) => suggested_slug === slug)?.index ?? -1;
      expect(sample_rows.map((row) => Number(row[index]))).toEqual(await columnOf(made, session_id, `extra/${slug}`));
    }
  });

  test("a scan without colour has no colour columns", async () => {
    const { columns } = await preview(made.file("grey.ptx", ptx(1, 1, "0 0 0", ["1 2 3 0.5"])));
    expect(columns.map(({ detected_role }) => detected_role)).toEqual([
      "x",
      "y",
      "z",
      "intensity",
      "row_index",
      "column_index",
    ]);
  });

  test("damage is reported", async () => {
    const cut = await preview(made.file("cut.ptx", lone + ptx(3, 3, "0 0 0", ["1 1 1 1"])));
    expect(cut.warning).toMatch(/scan 1 declares 9 points, the file holds 1: the rest is missing/);
    expect(cut.scan_count).toBe(2);
    const broken = await preview(made.file("broken.ptx", `${lone}this is\nno scan\n${"x\n".repeat(20)}`));
    expect(broken.warning).toMatch(/line 13.*what follows is not listed/);
    expect([broken.scan_count, broken.scan_list_complete]).toEqual([1, false]);
    const huge = await preview(made.file("huge.ptx", ptx(2_147_483_647, 2_147_483_647, "0 0 0", ["1 1 1 1"])));
    expect(huge.warning).toMatch(/the rest is missing/);
    for (const [name, text] of [
      ["many.ptx", ptx(2_147_483_648, 1, "0 0 0", ["1 1 1 1"])],
      ["nan.ptx", ptx(1, 1, "nan 0 0", ["1 1 1 1"])],
      ["none.ptx", ""],
      ["blank.ptx", "\n\n"],
    ] as const) {
      const answer = await preview(made.file(name, text));
      expect(answer.warning, name).toBeTruthy();
      expect(answer.columns).toEqual([]);
    }
    const far = await preview(made.file("far.ptx", ptx(1, 1, "1.7e308 0 0", ["1.7e308 1 1 1"])));
    expect(far.scan_count).toBe(1);
  });
});
