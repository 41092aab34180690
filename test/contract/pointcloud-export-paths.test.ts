import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportTail, refused } from "../support/app/app.ts";
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
    for (const format of ["csv", "las"]) {
      const tail = await exportTail(made, {
        source: { session_id: shared.session_id },
        format,
        dest_path: dest,
        filename: "other.xyz",
      });
      expect(tail).toMatchObject({ success: true, data: null, filename: "cloud.csv", point_count: 4 });
      expect(readdirSync(folder)).toEqual(["cloud.csv"]);
    }
    expect(readFileSync(dest).toString("latin1", 0, 4)).toBe("LASF"); // the second export replaced the first
  });

  test("a link at dest_path is replaced, its target is unchanged", async () => {
    const target = made.file("precious.txt", "keep me");
    const link = join(made.folder, "link.xyz");
    symlinkSync(target, link);
    expect((await exportTail(made, { ...INLINE, format: "xyz", dest_path: link })).success).toBe(true);
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

describe("requests rejected before the stream", () => {
  test.each<[string, () => object, number, RegExp]>([
    ["unknown format", () => ({ ...INLINE, format: "docx" }), 400, /Unknown format "docx"; use one of las, laz, xyz/],
    ["a format that is only read", () => ({ ...INLINE, format: "e57" }), 400, /Unknown format "e57"; use one of .*ptx/],
    ["relative dest_path", () => ({ ...INLINE, format: "las", dest_path: "out.las" }), 400, /not an absolute path/],
    [
      "missing parent",
      () => ({ ...INLINE, format: "las", dest_path: "/nowhere/out.las" }),
      400,
      /folder of dest_path .* does not exist/,
    ],
    ["a folder", () => ({ ...INLINE, format: "las", dest_path: made.folder }), 400, /is a folder/],
    ["a device", () => ({ ...INLINE, format: "las", dest_path: "/dev/full" }), 400, /not a regular file/],
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
