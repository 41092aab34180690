import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { MAX_BODY_BYTES, MAX_LIST_BODY_BYTES, MIB } from "../../shared/limits.ts";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { padded } from "../support/app/large-body.ts";
import { eventually } from "../support/run/stopwatch.ts";

const LIST_ROUTES = [
  "/api/c2c/icp-register",
  "/api/c2m/distance",
  "/api/c2m/icp-register",
  "/api/dem",
  "/api/dem/export-raster",
  "/api/lad/compute",
  "/api/lad/snap-grid",
  "/api/lidar/scan",
  "/api/m2m/icp-register",
  "/api/plant/morph",
  "/api/plant/morph/parse",
  "/api/pointcloud/denoise",
  "/api/pointcloud/export",
  "/api/qsm/adjust-leaf-angles",
  "/api/qsm/build",
  "/api/qsm/leaves",
  "/api/qsm/phyllotaxis",
  "/api/scan/export-xml",
  "/api/segment/ground",
  "/api/segment/trees",
  "/api/segment/wood",
  "/api/skeleton/extract",
  "/api/triangulate",
  "/api/triangulate/check-spacing",
  "/api/triangulate/lidar",
];

/** A request whose body the test writes piece by piece. */
interface OpenRequest {
  readonly sent: ClientRequest;
  readonly answer: Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }>;
}

async function listening(made: TestApp): Promise<number> {
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  return (made.app.server.address() as AddressInfo).port;
}

function open(port: number, path: string, headers: Record<string, string | number>): OpenRequest {
  const sent = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path,
    headers: { "content-type": "application/json", ...headers },
  });
  const answer = new Promise<{ status: number; headers: IncomingMessage["headers"]; body: string }>(
    (resolve, reject) => {
      sent.on("error", reject);
      sent.on("response", (got) => {
        let body = "";
        got.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        got.on("end", () => resolve({ status: got.statusCode ?? 0, headers: got.headers, body }));
        got.on("error", reject);
      });
    },
  );
  answer.catch(() => undefined);
  sent.flushHeaders();
  return { sent, answer };
}

test("only the endpoints with lists take a body above 1 MiB; the others refuse it before it is sent", async () => {
  const made = await appOfTest();
  const port = await listening(made);
  const routes = Object.entries(
    ((await made.app.inject({ url: "/openapi.json" })).json() as { paths: Record<string, Record<string, object>> })
      .paths,
  ).flatMap(([path, methods]) =>
    "post" in methods &&
    JSON.stringify((methods.post as { requestBody?: object }).requestBody ?? {}).includes(
      '"application/json":{"schema":{"$ref"',
    )
      ? [path.replace(/\{[^}]*\}/g, "0".repeat(32))]
      : [],
  );
  expect(routes).toEqual(expect.arrayContaining(LIST_ROUTES));
  expect(routes.length).toBeGreaterThan(20);
  for (const path of routes) {
    const limit = LIST_ROUTES.includes(path) ? MAX_LIST_BODY_BYTES : MAX_BODY_BYTES;
    const { sent, answer } = open(port, path, { "content-length": limit + 1 });
    const { status, body, headers } = await answer;
    sent.destroy();
    expect([path, status, headers.connection]).toEqual([path, 413, "close"]);
    expect(JSON.parse(body)).toEqual({
      code: "invalid_argument",
      detail: `the body of ${limit + 1} bytes is larger than this endpoint takes (${limit} bytes); import the file into a session and send its id instead`,
    });
  }
});

test("a body sent in chunks is refused as soon as it is too large", async () => {
  const made = await appOfTest();
  const { sent, answer } = open(await listening(made), "/api/pointcloud/preview", { "transfer-encoding": "chunked" });
  sent.write(Buffer.alloc(MAX_BODY_BYTES, " "));
  sent.write(" ");
  expect((await answer).status).toBe(413);
  sent.destroy();
});

test("what is not a list has the limit of other bodies", async () => {
  const made = await appOfTest();
  const points = Array.from({ length: 1200 }, (_, i) => [i % 40, Math.floor(i / 40), 0]);
  const post = async (payload: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await made.app.inject({ method: "POST", url: "/api/pointcloud/denoise", headers, payload });
    return [answer.statusCode, answer.json()] as const;
  };
  const large = { points, unknown: "x".repeat(2 * MIB), more: [["y".repeat(MIB)]] };
  const [status, answer] = await post(JSON.stringify(large));
  expect([status, answer.num_points]).toEqual([200, 1200]);
  expect(answer.warnings[0]).toMatch(/ignored: "unknown", "more"/);
  expect(await post(JSON.stringify({ points, method: "m".repeat(MIB) }))).toEqual([
    413,
    expect.objectContaining({ detail: expect.stringMatching(/^the body without its lists of points and numbers is/) }),
  ]);
});

test.each<[string, string, string]>([
  ["no points", "/api/pointcloud/denoise", '{"points":null}'],
  ["a row of two", "/api/pointcloud/denoise", '{"points":[[1,2,3],[1,2]]}'],
  ["a null", "/api/segment/ground", '{"points":[[1,2,null]],"iterations":"x"}'],
  ["text instead of points", "/api/dem", '{"points":"[]"}'],
  ["labels that are no numbers", "/api/dem", '{"points":[[1,2,3]],"ground_labels":[1,"a"],"intensity":[null]}'],
  ["colours of another length", "/api/pointcloud/export", '{"points":[[1,2,3]],"colors":[[1,1,1],[0,0,0]]}'],
  ["a missing list", "/api/dem/export-raster", '{"nx":2,"ny":1,"cell_size":1,"origin":[0,0]}'],
  ["nulls in a grid", "/api/dem/export-raster", '{"grid_z":[1,null],"nx":2,"ny":1,"cell_size":1,"origin":[0,0]}'],
  [
    "text in a terrain",
    "/api/lad/snap-grid",
    '{"grid":{"center":[0,0,0],"size":[1,1,1],"kept_columns":[1]},"dem":{"grid_z":[[1],2],"nx":"a"}}',
  ],
  ["a list instead of an object", "/api/lad/snap-grid", '{"grid":[1],"dem":[]}'],
  ["a cylinder without a radius", "/api/qsm/phyllotaxis", JSON.stringify(model({ radius: undefined }))],
  ["a radius of 0", "/api/qsm/leaves", JSON.stringify(model({ radius: 0 }))],
  ["a start of two numbers", "/api/qsm/leaves", JSON.stringify(model({ start: [1, 2] }))],
  ["an id as text and a rank below 0", "/api/qsm/phyllotaxis", JSON.stringify(model({ cyl_id: "3", rank: -1 }))],
  ["no shoots", "/api/qsm/phyllotaxis", JSON.stringify({ ...model(), shoots: {} })],
])("%s: a large body is refused with the words of a small one", async (_name, url, text) => {
  const made = await appOfTest();
  const post = async (payload: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await made.app.inject({ method: "POST", url, headers, payload });
    return [answer.statusCode, answer.json()];
  };
  const [status, answer] = await post(text);
  expect(status).toBeGreaterThanOrEqual(400);
  expect(await post(text.replace("{", `{"pad":"${" ".repeat(MAX_BODY_BYTES)}",`))).toEqual([status, answer]);
});

/** A stem of six cylinders with five branches, whose third cylinder differs by `change`. */
function model(change: object = {}) {
  const cylinders = Array.from({ length: 11 }, (_, i) => {
    const branch = i > 5;
    const turn = (i * 137.5 * Math.PI) / 180;
    const start = [0, 0, branch ? i - 5 : i];
    const end = branch ? [Math.cos(turn), Math.sin(turn), i - 4.5] : [0, 0, i + 1];
    const parent_id = branch ? i - 6 : i - 1;
    const one = { cyl_id: i, start, end, radius: 0.02, parent_id, shoot_id: branch ? i - 5 : 0, rank: Number(branch) };
    return i === 2 ? { ...one, surf_cov: 0.5, mad: null, ...change } : one;
  });
  const branches = [6, 7, 8, 9, 10].map((id) => ({
    child_shoot_ids: [],
    cylinder_ids: [id],
    shoot_id: id - 5,
    rank: 1,
    parent_shoot_id: 0,
    parent_cyl_id: id - 6,
  }));
  const stem = { shoot_id: 0, rank: 0, cylinder_ids: [0, 1, 2, 3, 4, 5], child_shoot_ids: [1, 2, 3, 4, 5] };
  return { cylinders, shoots: [stem, ...branches] };
}

test.each<[string, object]>([
  ["/api/pointcloud/denoise", { points: cloud(), method: "sor" }],
  ["/api/qsm/phyllotaxis", model({ hue: 1, parents: [[{}]] })],
  ["/api/qsm/leaves", { ...model({ radius_se: 0.001 }), builtin_texture_name: "AlmondLeaf.png" }],
  ["/api/segment/ground", { points: cloud(), method: "auto" }],
  [
    "/api/lad/snap-grid",
    {
      dem: {
        grid_z: [
          [1, 2, null],
          [4, -9, 6],
        ],
        nx: 3,
        ny: 2,
        cell: 1,
        origin: [0, 0],
        nodata: -9,
      },
      grid: { center: [1.5, 1, 5], size: [2, 2, 2], nx: 2, ny: 2, kept_columns: [true, false], column_offsets: [1] },
    },
  ],
  ["/api/dem/export-raster", { grid_z: [1, 2.5, -9999, 4], nx: 2, ny: 2, cell_size: 1, origin: [0, 0] }],
  ["/api/dem/export-raster", { grid_z: [1, 2.5, -9999, 4], nx: 2, ny: 2, cell_size: 1, origin: [0, 0], format: "tif" }],
])("%s answers a large body like a small one, and gives its memory back", async (url, payload) => {
  const made = await appOfTest();
  const post = async (text: string) => {
    const headers = { "content-type": "application/json" };
    const answer = await made.app.inject({ method: "POST", url, headers, payload: text });
    return { status: answer.statusCode, body: { ...answer.json(), elapsed_s: 0 } };
  };
  const small = await post(JSON.stringify(payload));
  expect(small, JSON.stringify(small).slice(0, 300)).toMatchObject({ status: 200, body: { success: true } });
  const before = addon.bulkBytesInUse();
  expect(await post(padded(payload))).toEqual(small);
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test.each(["/api/dem", "/api/pointcloud/export"])("%s streams the same for a large body", async (url) => {
  const made = await appOfTest();
  const points = cloud();
  const colors = points.map(([x, y, z]) => [x / 20 - 0.5, y / 30, z]);
  const payload = {
    points,
    ...(url === "/api/dem"
      ? { ground_labels: points.map((_, i) => i % 2), intensity: points.map(([x]) => x) }
      : { colors, format: "ply" }),
  };
  const post = async (text: string) => {
    const headers = { "content-type": "application/json", accept: "application/octet-stream" };
    const answer = await made.app.inject({ method: "POST", url, headers, payload: text });
    const bytes = answer.rawPayload.toString("latin1");
    const at = Math.max(bytes.lastIndexOf("PHB1"), bytes.lastIndexOf('{"success"'));
    return [answer.statusCode, bytes.length > at && at > 0, bytes.slice(at)];
  };
  const small = await post(JSON.stringify(payload));
  expect(small.slice(0, 2)).toEqual([200, true]);
  expect(await post(padded(payload))).toEqual(small);
});

test("a large body waits for memory before its first byte is read", async () => {
  const made = await appOfTest({ memoryBudgetBytes: 64 * MIB });
  const port = await listening(made);
  let finish: () => void = () => undefined;
  const other = made.deps.jobs.run((job) =>
    made.deps.admission.run(job, "other", 60 * MIB, () => new Promise<void>((resolve) => (finish = resolve))),
  );
  await eventually(() => expect(made.deps.admission.admittedCount).toBe(1));
  const text = padded({ points: cloud(), method: "sor" });
  let read = 0;
  made.app.server.on("connection", (socket) => socket.on("data", ({ length }: Buffer) => (read += length)));
  const { sent, answer } = open(port, "/api/pointcloud/denoise", { "content-length": Buffer.byteLength(text) });
  const before = addon.bulkBytesInUse();
  sent.end(text);
  await eventually(() => expect(made.deps.jobs.size).toBe(2));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(addon.bulkBytesInUse()).toBe(before);
  expect(made.deps.admission.operations().map(({ label }) => label)).toEqual(["other"]);
  finish();
  await other;
  expect((await answer).status).toBe(200);
});

test("a client that leaves in the middle ends the run and frees its memory", async () => {
  const made = await appOfTest();
  const port = await listening(made);
  const before = addon.bulkBytesInUse();
  const { sent } = open(port, "/api/pointcloud/denoise", { "content-length": 8 * MIB });
  sent.write(Buffer.alloc(4 * MIB, "[1,2,3],"));
  await eventually(() => expect(addon.bulkBytesInUse()).toBeGreaterThan(before + 7 * MIB));
  sent.destroy();
  await eventually(() => expect([made.deps.jobs.size, addon.bulkBytesInUse()]).toEqual([0, before]));
});

/** 1200 points of a plane with some relief. */
function cloud(): [number, number, number][] {
  return Array.from({ length: 1200 }, (_, i): [number, number, number] => [
    0.5 * (i % 40),
    0.5 * Math.floor(i / 40),
    0.1 * Math.sin(i),
  ]);
}
