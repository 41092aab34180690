import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PreviewResponse } from "../../shared/contract/pointcloud.ts";
import { decodePoints } from "../../shared/wire/phx1.ts";
import { makeApp, refused, type TestApp } from "../support/app.ts";
import { type LasRow, lasBytes } from "../support/las-bytes.ts";

let made: TestApp;
beforeAll(async () => {
  made = await makeApp();
  vi.stubEnv("TMPDIR", made.folder); // uploads go there: only this test's are counted
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await made.close();
});
const post = (url: string, payload: object) => made.app.inject({ method: "POST", url, payload });

describe("/api/pointcloud/preview", () => {
  const preview = async (file_path: string, more: object = {}) => {
    const answer = await post("/api/pointcloud/preview", { file_path, ...more });
    expect(answer.statusCode).toBe(200);
    return PreviewResponse.parse(answer.json());
  };

  test("text: delimiter, header, roles, slugs, hints, rows, shift", async () => {
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
    expect(of("detected_role")).toEqual(["x", "y", "z", "reflectance", "target_index", "extra", "extra", "extra"]);
    expect(of("suggested_slug")).toEqual(["", "", "", "", "target_index", "Class", "Name", "Empty"]);
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

  test("a legend names the columns; no shift near the origin", async () => {
    const answer = await preview(made.file("legend.xyz", "1 2 3 4\n"), { ascii_format: "z y x Biomass" });
    expect(answer.columns.map(({ detected_role }) => detected_role)).toEqual(["z", "y", "x", "extra"]);
    expect(answer).toMatchObject({ has_header: false, suggested_shift: null, delimiter: "whitespace" });
  });

  test("LAS: dimensions, hidden miss flag and origins, rows, header's minimum as shift", async () => {
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
    expect(answer.sample_rows).toHaveLength(20);
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
    expect(first.columns.map(({ detected_role }) => detected_role)).toEqual(["x", "y", "z", "r255", "extra"]);
    expect(first.sample_rows).toHaveLength(1);
    const pcd =
      "VERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3 4\n";
    const second = await preview(made.file("a.pcd", pcd));
    expect(second.columns.map(({ detected_role }) => detected_role)).toEqual(["x", "y", "z", "r255"]);
    expect(second.warning).not.toBeNull();
  });

  test("a missing file is a 404; everything else is a 200 with a warning", async () => {
    expect(await refused(made, "/api/pointcloud/preview", { file_path: "/nowhere/a.las" })).toMatchObject({
      status: 404,
    });
    const files: [string, string | Uint8Array, RegExp][] = [
      ["broken.las", "LASF", /broken\.las/],
      ["empty.txt", "", /no data rows/],
      ["a.docx", "x", /"\.docx" is not a point cloud format/],
      ["a.e57", "ASTM-E57", /E57/],
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

describe("/api/pointcloud/import_by_path", () => {
  const url = "/api/pointcloud/import_by_path";
  const points = async (file_path: string, more: object = {}) => {
    const answer = await post(url, { file_path, ascii_format: null, column_plan: null, world_shift: null, ...more });
    if (answer.statusCode !== 200) throw new Error(answer.body);
    expect(answer.headers["content-type"]).toBe("application/octet-stream");
    return decodePoints(new Uint8Array(answer.rawPayload));
  };

  test("text: float32 after the shift, colours 0..1, raw intensity", async () => {
    const file = made.file(
      "flat.txt",
      "x y z r g b intensity\n500000.125 1 2 255 0 51 -7.5\n500001.25 2 3 0 255 102 12\n",
    );
    const flat = await points(file, { world_shift: [500000, 0, 0] });
    expect([flat.point_count, Array.from(flat.positions)]).toEqual([2, [0.125, 1, 2, 1.25, 2, 3]]);
    expect(Array.from(flat.intensity ?? [])).toEqual([-7.5, 12]);
    const colors = Array.from(flat.colors ?? []);
    for (const [i, want] of [1, 0, 0.2, 0, 1, 0.4].entries()) expect(colors[i]).toBeCloseTo(want, 2); // 8 bits in 16
  });

  test("LAS: 16-bit colours over 65535, raw intensity, each only when something is above zero", async () => {
    const rows: LasRow[] = [{ x: 1, y: 2, z: 3, intensity: 400, rgb: [65535, 0, 32768] }];
    const flat = await points(made.file("flat.las", lasBytes(rows)));
    expect([Array.from(flat.intensity ?? []), flat.colors?.[0]]).toEqual([[400], 1]);
    const dark = await points(made.file("dark.las", lasBytes([{ x: 1, y: 2, z: 3 }])));
    expect([dark.intensity, dark.colors]).toEqual([undefined, undefined]);
  });

  test("the column plan wins", async () => {
    const columns = ["z", "y", "x"].map((role, index) => ({ index, role }));
    expect(
      Array.from((await points(made.file("plan.xyz", "1 2 3\n"), { column_plan: { columns } })).positions),
    ).toEqual([3, 2, 1]);
  });

  test.each<[string, string, string, object, number, RegExp]>([
    ["unsupported extension", "a.doc", "1 2 3", {}, 400, /"\.doc" .* readable are xyz/],
    ["no z", "b.csv", "x,y\n1,2\n", {}, 400, /z/],
    ["no rows", "c.xyz", "# nothing\n", {}, 400, /no data rows/],
    ["no valid rows", "d.xyz", "x y z\nnan nan nan\n", {}, 400, /No points found|no/],
    [
      "PLY without points",
      "e.ply",
      "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
      {},
      400,
      /No points found/,
    ],
    ["shift of two numbers", "f.xyz", "1 2 3\n", { world_shift: [1, 2] }, 400, /world_shift/],
    [
      "role twice",
      "g.xyz",
      "1 2 3\n",
      { column_plan: { columns: [0, 1].map((index) => ({ index, role: "x" })) } },
      422,
      /columns 0 and 1/,
    ],
  ])("%s", async (_name, name, content, more, status, sentence) => {
    const answer = await refused(made, url, { file_path: made.file(name, content), ...more });
    expect([answer.status, answer.message ?? answer.detail]).toEqual([status, expect.stringMatching(sentence)]);
  });

  test("a missing file: 404", async () => {
    expect((await refused(made, url, { file_path: "/nowhere.las" })).status).toBe(404);
  });
});

describe("/api/pointcloud/import", () => {
  const upload = (filename: string, content: Uint8Array, name = "file") => {
    const head = `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
    const payload = Buffer.concat([Buffer.from(head), content, Buffer.from("\r\n--b--\r\n")]);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    return made.app.inject({ method: "POST", url: "/api/pointcloud/import", payload, headers });
  };
  const leftovers = () => readdirSync(made.folder).filter((name) => name.startsWith("upload-")).length;

  test("a LAS file as a PHX1 stream; the temporary file is gone", async () => {
    const before = leftovers();
    const answer = await upload("Cloud.LAS", lasBytes([{ x: 1, y: 2, z: 3 }]));
    expect(Array.from(decodePoints(new Uint8Array(answer.rawPayload)).positions)).toEqual([1, 2, 3]);
    expect((await upload("a.las", Buffer.from("no las"))).statusCode).toBe(400);
    expect(leftovers()).toBe(before);
  });

  test.each([
    ["cloud.xyz", "file"],
    ["cloud.laz", "file"],
    ["cloud.las", "cloud"],
  ])("%s in part %s: 400", async (filename, part) => {
    const answer = await upload(filename, Buffer.from("1 2 3"), part);
    expect([answer.statusCode, (answer.json() as { code: string }).code]).toEqual([400, "invalid_argument"]);
  });
});

test("what a preview suggests is what the import uses", async () => {
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
