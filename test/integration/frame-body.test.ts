import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { createClient } from "../../shared/client/index.ts";
import { MAX_FRAME_BODY_BYTES } from "../../shared/limits.ts";
import { encodeFrame, type FrameArray } from "../../shared/wire/phb1.ts";
import { appOfTest, type TestApp } from "../support/app/app.ts";
import { eventually } from "../support/run/stopwatch.ts";

const OCTETS = { "content-type": "application/octet-stream" };
const ORIGIN: [number, number, number] = [4e6, 5e5, 100];
const COUNT = 1200;
/** Values that float32 holds, so that both bodies have the same numbers. */
const local = Array.from({ length: COUNT }, (_, i): [number, number, number] => [
  0.5 * (i % 40),
  0.5 * Math.floor(i / 40),
  Math.fround(0.1 * Math.sin(i)),
]);
const points = local.map(([x, y, z]): [number, number, number] => [x + ORIGIN[0], y + ORIGIN[1], z + ORIGIN[2]]);
const flat = Float32Array.from(local.flat());

async function sent(made: TestApp, url: string, payload: object | Uint8Array) {
  const body = payload instanceof Uint8Array ? { headers: OCTETS, payload: Buffer.from(payload) } : { payload };
  const answer = await made.app.inject({ method: "POST", url, ...body });
  const bytes = answer.rawPayload.toString("latin1");
  const tail = Math.max(bytes.lastIndexOf("PHB1"), bytes.lastIndexOf('{"success"'), 0);
  const at = answer.statusCode === 200 ? tail : 0;
  return { status: answer.statusCode, end: bytes.slice(at).replace(/"elapsed_s":[^,}]*/, "") };
}

test.each<[string, object, Record<string, FrameArray>, object, boolean]>([
  ["/api/pointcloud/denoise", { method: "sor" }, { points: flat }, { points }, true],
  ["/api/segment/ground", { method: "cloth" }, { points: flat }, { points }, true],
  [
    "/api/dem",
    { cell_size: 1 },
    {
      points: flat,
      ground_labels: new Uint32Array(COUNT).fill(1),
      intensity: Float32Array.from(local, ([x]) => x),
    },
    { points, ground_labels: new Array(COUNT).fill(1), intensity: local.map(([x]) => x) },
    true,
  ],
  [
    "/api/pointcloud/export",
    { format: "txt" },
    { points: flat, colors: Float32Array.from(local.flat(), (value) => value / 64) },
    { points, colors: local.map((row) => row.map((value) => value / 64)) },
    true,
  ],
  [
    "/api/dem/export-raster",
    { nx: 2, ny: 2, cell_size: 1, origin: [7, 8] },
    { grid_z: Float32Array.of(1, 2, -9999, 4.5) },
    { grid_z: [1, 2, -9999, 4.5] },
    false,
  ],
])("%s answers a frame like the same request in JSON", async (url, fields, buffers, lists, shifted) => {
  const made = await appOfTest();
  const before = addon.bulkBytesInUse();
  const json = await sent(made, url, { ...fields, ...lists });
  expect([json.status, json.end.length > 100]).toEqual([200, true]);
  const meta = { request: fields, ...(shifted ? { origin: ORIGIN } : {}) };
  expect(await sent(made, url, encodeFrame(meta, buffers))).toEqual(json);
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test("a list inside an object is named by its path; NaN is a void of a terrain", async () => {
  const made = await appOfTest();
  const dem = { nx: 2, ny: 2, cell: 1, origin: [0, 0] };
  const grid = { center: [1, 1, 0], size: [2, 2, 2], nx: 2, ny: 2 };
  const url = "/api/lad/snap-grid";
  const json = await sent(made, url, { grid, dem: { ...dem, grid_z: [1, null, 3, 4] } });
  const heights = Float32Array.of(1, Number.NaN, 3, 4);
  const framed = await sent(made, url, encodeFrame({ request: { grid, dem } }, { "dem.grid_z": heights }));
  expect(framed).toEqual(json);
  expect(framed.end).toContain('"success":true');
});

test.each<[string, number, RegExp, () => Uint8Array]>([
  ["no frame", 400, /must start with/, () => Buffer.from("points: 1 2 3")],
  ["too short", 400, /a frame starts with 8/, () => Buffer.from("PHB1")],
  [
    "a cut header",
    400,
    /header_len 200 but only/,
    () => Buffer.concat([Buffer.from("PHB1\xc8\0\0\0", "latin1"), Buffer.alloc(9)]),
  ],
  ["a large header", 400, /above the limit/, () => Buffer.from("PHB1\0\0\0\x7f........", "latin1")],
  ["cut buffers", 400, /declare 14400 bytes but only 14396/, () => encodeFrame({}, { points: flat }).subarray(0, -4)],
  ["an origin of two", 400, /meta\.origin must be three/, () => encodeFrame({ origin: [1, 2] }, { points: flat })],
  [
    "an origin without points",
    400,
    /without a buffer of points/,
    () => encodeFrame({ origin: ORIGIN, request: { points } }),
  ],
  ["a field as buffer", 400, /method is no list/, () => encodeFrame({}, { points: flat, method: flat })],
  ["a list given twice", 400, /points is given twice/, () => encodeFrame({ request: { points } }, { points: flat })],
  ["a request that is no object", 400, /meta\.request must be/, () => encodeFrame({ request: [1] }, { points: flat })],
  ["a missing row", 422, /points: must be a list of \[x, y, z\]/, () => encodeFrame({}, { points: flat.subarray(1) })],
  ["a NaN", 422, /must be a list of \[x, y, z\]/, () => encodeFrame({}, { points: Float32Array.of(1, Number.NaN, 2) })],
  ["no list", 400, /Send `points`/, () => encodeFrame({ request: {} })],
])("%s is refused with %d", async (_name, status, message, frame) => {
  const made = await appOfTest();
  const before = addon.bulkBytesInUse();
  const answer = await sent(made, "/api/pointcloud/denoise", frame());
  expect([answer.status, answer.end]).toEqual([status, expect.stringMatching(message)]);
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test("an unknown buffer is named in a warning; other endpoints take no frames; a frame above the limit is refused", async () => {
  const made = await appOfTest();
  const frame = encodeFrame({}, { points: flat, classes: new Uint32Array(3) });
  expect((await sent(made, "/api/pointcloud/denoise", frame)).end).toMatch(/were ignored: \\"classes\\"/);
  expect((await sent(made, "/api/pointcloud/preview", frame)).status).toBe(415);
  const headers = { ...OCTETS, "content-length": String(MAX_FRAME_BODY_BYTES + 1) };
  const answer = await made.app.inject({ method: "POST", url: "/api/dem", headers, payload: "PHB1" });
  expect(answer.statusCode).toBe(413);
});

test("the client sends typed arrays as a frame, with the numbers of JSON", async () => {
  const made = await appOfTest();
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  const client = createClient({ baseUrl: `http://127.0.0.1:${(made.app.server.address() as AddressInfo).port}` });
  const listed = await client.denoise({ points, method: "sor" });
  const framed = await client.denoise({ points: flat, frame_origin: ORIGIN, method: "sor" });
  expect({ ...framed, elapsed_s: 0 }).toEqual({ ...listed, elapsed_s: 0 });
  const model = await client.dem({ points: flat, frame_origin: ORIGIN, cell_size: 1 });
  expect(model.meta.grid_origin[0]).toBeGreaterThan(3.9e6);
  const file = await client.exportCloud({ points: flat, format: "xyz" });
  expect(Buffer.from(file.data ?? "", "base64").toString()).toMatch(/^0\.000000 0\.000000 0\.000000\n0\.5/);
  await expect(client.segmentGround({ points, frame_origin: ORIGIN })).rejects.toMatchObject({ status: 400 });
  const raster = { grid_z: Float32Array.of(1, 2), nx: 2, ny: 1, cell_size: 1, origin: [5, 6] as [number, number] };
  const { data_base64 } = await client.exportRaster(raster);
  expect(Buffer.from(data_base64 ?? "", "base64").toString()).toContain("xllcorner 5.000000");
});
