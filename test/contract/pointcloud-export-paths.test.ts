import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXPORT_FORMATS } from "../../shared/contract/pointcloud.ts";
import { create, exported, exportTail, refused } from "../support/app/app.ts";
import { amid } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const EXPORT = "/api/pointcloud/export";
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
const made = sessionTest();
const folderOf = (name: string) => {
  const path = join(made.folder, name);
  mkdirSync(path);
  return path;
};
const shared = made.shared(["0 0 0", "1 0 0", "2 0 0", "3 0 0"]);

describe("destination", () => {
  test.each([
    ["a name", `/tmp/${"a".repeat(300)}.las`],
    ["a path", `/${"b/".repeat(2500)}c.las`],
  ])("%s longer than the system allows: 400, also for files to read", async (_what, path) => {
    const source = { session_id: shared.session_id };
    const requests: [string, object][] = [
      [EXPORT, { format: "las", dest_path: path, source }],
      ["/api/cloud/session/create", { source_path: path }],
      ["/api/pointcloud/import_by_path", { file_path: path }],
    ];
    for (const [url, body] of requests) {
      const { status, detail } = await refused(made, url, body);
      expect([url, status, detail]).toEqual([url, 400, expect.stringMatching(/longer than the system allows/)]);
    }
  });

  test("dest_path: written under that name, no data in the response, no other file in the folder", async () => {
    const folder = join(made.folder, "out");
    mkdirSync(folder);
    const dest = join(folder, "cloud.csv");
    for (const format of ["csv", "csv"]) {
      const tail = await exportTail(made, {
        source: { session_id: shared.session_id },
        format,
        columns: ["x"],
        dest_path: dest,
        filename: "other.xyz",
      });
      expect(tail).toMatchObject({ success: true, data: null, filename: "cloud.csv", point_count: 4 });
      expect(readdirSync(folder)).toEqual(["cloud.csv"]);
    }
  });

  test("a link at dest_path is refused; with overwrite it is replaced, its target is unchanged", async () => {
    const target = made.file("precious.txt", "keep me");
    const link = join(made.folder, "link.xyz");
    symlinkSync(target, link);
    expect(await refused(made, EXPORT, { ...INLINE, format: "xyz", dest_path: link })).toMatchObject({
      status: 409,
      detail: `dest_path "${link}" is a link; send overwrite: true to replace it`,
    });
    const overwritten = { ...INLINE, format: "xyz", dest_path: link, overwrite: true };
    expect((await exportTail(made, overwritten)).success).toBe(true);
    expect(readFileSync(target, "utf8")).toBe("keep me");
    expect(readFileSync(link, "utf8")).toContain("1.000000 2.000000 3.000000");
  });

  test("the longest name that a file system accepts", async () => {
    const dest = join(made.folder, `${"n".repeat(251)}.xyz`);
    expect(await exportTail(made, { ...INLINE, format: "xyz", dest_path: dest })).toMatchObject({ success: true });
  });

  test.each([
    [null, "pointcloud.csv"],
    ["", "pointcloud.csv"],
    ["tree", "tree.csv"],
    ["tree.las", "tree.csv"],
    ["tree.CSV", "tree.csv"],
    ["plot 1.5 m.csv", "plot 1.5 m.csv"],
    ["../../etc/passwd", "passwd.csv"],
    ["..\\evil.exe", "evil.csv"],
    [".csv", "pointcloud.csv"],
  ])("filename %s becomes %s", async (filename, expected) => {
    expect((await exportTail(made, { ...INLINE, format: "csv", filename })).filename).toBe(expected);
  });
});

const RASTER = { grid_z: [1, 2, 3, 4], nx: 2, ny: 2, cell_size: 1, origin: [0, 0] };
/** Each endpoint that writes files, with a request for a path. */
const WRITERS: readonly (readonly [string, (dest_path: string) => readonly [string, object]])[] = [
  ["a cloud", (dest_path) => [EXPORT, { ...INLINE, format: "csv", dest_path }]],
  ["a raster", (dest_path) => ["/api/dem/export-raster", { ...RASTER, format: "asc", dest_path }]],
];

describe.each(WRITERS)("an export of %s over what is there", (_what, request) => {
  const [, { format }] = request("") as readonly [string, { format: string }];
  const send = async (dest_path: string, more: object = {}) => {
    const [path, body] = request(dest_path);
    const answer = await made.app.inject({ method: "POST", url: path, payload: { ...body, ...more } });
    const { detail = "" } = answer.statusCode === 200 ? {} : (answer.json() as { detail: string });
    return [answer.statusCode, detail];
  };

  test("the service's own folders are refused, also with overwrite and by another way", async () => {
    const folder = join(made.sessions, shared.session_id);
    const own = readdirSync(folder);
    const link = join(made.folder, `way-${format}`);
    symlinkSync(folder, link);
    for (const there of [folder, link, made.sessions, join(made.sessions, ".."), made.octrees]) {
      expect(await send(join(there, `new.${format}`), { overwrite: true })).toEqual([
        400,
        expect.stringMatching(/service's own data/),
      ]);
    }
    expect(readdirSync(folder)).toEqual(own);
  });

  test.each([
    ["text", "root:x:0:0:root:/root:/bin/bash\n"],
    ["a table of something else", "jan,feb,mar\n1,2,3\n"],
    ["bytes", Buffer.from([0, 1, 2, 3, 255])],
    ["words behind numbers", "1 2 3\n4 5 six\n"],
  ])("%s is replaced only with overwrite", async (what, content) => {
    const path = made.file(`${what}.${format}`, content);
    expect(await send(path)).toEqual([409, expect.stringMatching(/^dest_path .* overwrite: true to replace it$/)]);
    expect(readFileSync(path)).toEqual(Buffer.from(content));
    expect(await send(path, { overwrite: true })).toEqual([200, ""]);
    expect(readFileSync(path)).not.toEqual(Buffer.from(content));
  });

  test.each(EXPORT_FORMATS.filter((name) => name !== "ptx"))("content of %s is replaced", async (name) => {
    const bytes = await exported(made, shared.session_id, name, { columns: ["deviation"] });
    expect(await send(made.file(`was-${name}.${format}`, bytes))).toEqual([200, ""]);
  });
  test.each(["asc", "tif"])("a raster of %s is replaced", async (name) => {
    const answer = await made.app.inject({
      method: "POST",
      url: "/api/dem/export-raster",
      payload: { ...RASTER, format: name },
    });
    const bytes = Buffer.from((answer.json() as { data_base64: string }).data_base64, "base64");
    expect(await send(made.file(`was-raster-${name}.${format}`, bytes))).toEqual([200, ""]);
  });
  test("an empty file is replaced", async () => {
    expect(await send(made.file(`empty.${format}`, ""))).toEqual([200, ""]);
  });

  test("the source file of an open session, also by another name, is replaced only with overwrite", async () => {
    const source = made.file(`source.${format}`, "x,y,z\n1,2,3\n4,5,6\n");
    const { session_id } = await create(made, source);
    const other = join(made.folder, `other.${format}`);
    linkSync(source, other);
    for (const path of [source, other]) {
      expect(await send(path)).toEqual([409, expect.stringMatching(/is the source file of an open session/)]);
    }
    await made.deps.sessions.delete(session_id);
    expect(await send(source)).toEqual([200, ""]);
  });

  test("a fifo", async () => {
    const path = join(made.folder, `fifo.${format}`);
    execFileSync("mkfifo", [path]);
    expect(await send(path)).toEqual([409, expect.stringMatching(/is not a regular file/)]);
    expect(await send(path, { overwrite: true })).toEqual([200, ""]);
  });
});

test("a file that appears during the run is not replaced, and no other file is left", async () => {
  const folder = folderOf("late");
  const dest_path = join(folder, "late.csv");
  const source = { session_id: shared.session_id };
  const act = async () => void writeFileSync(dest_path, "a letter\n");
  const tail = await amid("writeText", act, () => exportTail(made, { source, format: "csv", dest_path }));
  expect(tail).toMatchObject({ success: false, code: "conflict" });
  expect(readFileSync(dest_path, "utf8")).toBe("a letter\n");
  expect(readdirSync(folder)).toEqual(["late.csv"]);
});

describe("requests rejected before the stream", () => {
  test.each<[string, () => object, number, RegExp]>([
    ["unknown format", () => ({ ...INLINE, format: "docx" }), 400, /Unknown format "docx"; use one of las, laz, xyz/],
    ["a format that is only read", () => ({ ...INLINE, format: "tsv" }), 400, /Unknown format "tsv"; use one of .*ptx/],
    ["relative dest_path", () => ({ ...INLINE, format: "las", dest_path: "out.las" }), 400, /not an absolute path/],
    [
      "missing parent",
      () => ({ ...INLINE, format: "las", dest_path: "/nowhere/out.las" }),
      400,
      /folder of dest_path .* does not exist/,
    ],
    ["a folder", () => ({ ...INLINE, format: "las", dest_path: made.folder }), 400, /the extension \.las/],
    [
      "a folder with the extension",
      () => ({ ...INLINE, format: "las", dest_path: folderOf("a.las") }),
      400,
      /is a folder/,
    ],
    ["another extension", () => ({ ...INLINE, format: "las", dest_path: "/tmp/a.laz" }), 400, /the extension \.las/],
    ["no extension", () => ({ ...INLINE, format: "las", dest_path: "/tmp/a" }), 400, /format las; use/],
    [
      "a parent that is a file",
      () => ({ ...INLINE, format: "las", dest_path: join(made.file("f", ""), "a.las") }),
      400,
      /does not exist/,
    ],
    [
      "unknown session",
      () => ({ source: { session_id: "00000000" }, format: "las" }),
      404,
      /Cloud session not found: 00000000/,
    ],
    [
      "file-only source",
      () => ({ source: { source_path: "/a.las", allow_file_source: true }, format: "las" }),
      400,
      /Create a session from the file/,
    ],
    ["empty source", () => ({ source: {}, format: "las" }), 400, /neither a session_id nor a source_path/],
    [
      "translation of two numbers",
      () => ({ source: { session_id: shared.session_id, translation: [1, 2] }, format: "las" }),
      400,
      /translation/,
    ],
    [
      "colours of another length",
      () => ({ ...INLINE, colors: [[1, 1, 1]], format: "las" }),
      400,
      /colors has 1 rows, points has 2/,
    ],
    ["points of two numbers", () => ({ points: [[1, 2]], format: "las" }), 422, /points/],
    ["points that are no numbers", () => ({ points: [[1, 2, "3"]], format: "las" }), 422, /points/],
  ])("%s", async (_name, request, status, sentence) => {
    const answer = await refused(made, EXPORT, request());
    expect([answer.status, answer.message ?? answer.detail]).toEqual([status, expect.stringMatching(sentence)]);
  });
});
