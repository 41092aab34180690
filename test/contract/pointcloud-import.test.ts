import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { decodePoints } from "../../shared/wire/phx1.ts";
import { refused } from "../support/app/app.ts";
import { type LasRow, lasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
beforeAll(() => void vi.stubEnv("TMPDIR", made.folder)); // uploads go there: only this test's are counted
afterAll(() => void vi.unstubAllEnvs());
const post = (url: string, payload: object) => made.app.inject({ method: "POST", url, payload });

/** Two coloured vertices. */
const plyOf = (type: string, rows: string) => {
  const properties = ["x", "y", "z"].map((name) => `property float ${name}`);
  const channels = ["red", "green", "blue"].map((name) => `property ${type} ${name}`);
  const header = ["ply", "format ascii 1.0", "element vertex 2", ...properties, ...channels, "end_header"];
  return `${header.join("\n")}\n${rows}`;
};

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
    expect(colors).toEqual([1, 0, 0.2, 0, 1, 0.4].map(Math.fround)); // value / 255
  });

  test.each([
    ["text", "unit.txt", (rows: string) => `x y z r g b\n${rows}`],
    ["PLY", "unit.ply", (rows: string) => plyOf("float", rows)],
  ])("%s: colours 0..1 keep their digits", async (_name, file, content) => {
    const flat = await points(made.file(file, content("1 2 3 0.1 0.3333333 1\n4 5 6 0 0.7000001 0.123456\n")));
    const want = [0.1, 0.3333333, 1, 0, 0.7000001, 0.123456].map(Math.fround);
    expect(Array.from(flat.colors ?? [])).toEqual(want);
  });

  test("PLY: bytes over 255, 16-bit colours over 65535", async () => {
    const bytes = await points(made.file("byte.ply", plyOf("uchar", "1 2 3 255 51 0\n4 5 6 1 2 3\n")));
    expect(Array.from(bytes.colors ?? [])).toEqual([255, 51, 0, 1, 2, 3].map((v) => Math.fround(v / 255)));
    const wide = await points(made.file("wide.ply", plyOf("ushort", "1 2 3 65535 13107 0\n4 5 6 1 2 3\n")));
    expect(Array.from(wide.colors ?? []).slice(0, 3)).toEqual([1, Math.fround(0.2), 0]);
  });

  test("LAS: 16-bit colours over 65535, raw intensity, each only if any value is above zero", async () => {
    const rows: LasRow[] = [{ x: 1, y: 2, z: 3, intensity: 400, rgb: [65535, 0, 32768] }];
    const flat = await points(made.file("flat.las", lasBytes(rows)));
    expect([Array.from(flat.intensity ?? []), flat.colors?.[0]]).toEqual([[400], 1]);
    const dark = await points(made.file("dark.las", lasBytes([{ x: 1, y: 2, z: 3 }])));
    expect([dark.intensity, dark.colors]).toEqual([undefined, undefined]);
  });

  test("misses are omitted, because the stream cannot mark them", async () => {
    const rows = "x y z r g b intensity is_miss\n1 2 3 255 0 0 5 0\n0 0 20000 0 0 0 9 1\n4 5 6 0 0 255 7 0\n";
    const flat = await points(made.file("sky.txt", rows));
    expect([flat.point_count, flat.miss_count]).toEqual([2, 1]);
    expect(Array.from(flat.positions)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(Array.from(flat.intensity ?? [])).toEqual([5, 7]);
    expect(flat.colors?.length).toBe(6);
    const all = made.file("all-sky.txt", "x y z is_miss\n0 0 20000 1\n");
    expect((await refused(made, url, { file_path: all })).detail).toMatch(/contains only misses/);
  });

  test("the column plan takes precedence", async () => {
    const columns = ["z", "y", "x"].map((role, index) => ({ index, role }));
    expect(
      Array.from((await points(made.file("plan.xyz", "1 2 3\n"), { column_plan: { columns } })).positions),
    ).toEqual([3, 2, 1]);
  });

  test.each<[string, string, string, object, number, RegExp]>([
    ["unsupported extension", "a.doc", "1 2 3", {}, 400, /"\.doc" .* use one of xyz/],
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
  test("a part without a file name: 400", async () => {
    const head = '--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream\r\n\r\n';
    const payload = Buffer.from(`${head}abc\r\n--b--\r\n`);
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const answer = await made.app.inject({ method: "POST", url: "/api/pointcloud/import", payload, headers });
    expect([answer.statusCode, answer.json().detail]).toEqual([400, expect.stringContaining("has no file name")]);
  });
  const leftovers = () =>
    readdirSync(made.folder).filter((name) => name.startsWith("point-cloud-backend-upload-")).length;

  test("a LAS file as a PHX1 stream; the temporary file is gone", async () => {
    const before = leftovers();
    const answer = await upload("Cloud.LAS", lasBytes([{ x: 1, y: 2, z: 3 }]));
    expect(Array.from(decodePoints(new Uint8Array(answer.rawPayload)).positions)).toEqual([1, 2, 3]);
    expect((await upload("a.las", Buffer.from("no las"))).statusCode).toBe(400);
    expect(leftovers()).toBe(before);
  });

  test.each([
    ["cloud.xyz", "file"],
    ["cloud.las", "cloud"],
  ])("%s in part %s: 400", async (filename, part) => {
    const answer = await upload(filename, Buffer.from("1 2 3"), part);
    expect([answer.statusCode, (answer.json() as { code: string }).code]).toEqual([400, "invalid_argument"]);
  });
});

test("an import that is not a form: 400 with a remedy", async () => {
  const answer = await refused(made, "/api/pointcloud/import", { file: "cloud.las" });
  expect([answer.status, answer.detail]).toEqual([400, expect.stringMatching(/form/)]);
});
