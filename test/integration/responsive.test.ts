import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { appOfTest } from "../support/app/app.ts";
import { loopWatch } from "../support/run/loop-stalls.ts";

/** Makes a body in pieces, posts it and tells the status and size of the answer: all on another thread. */
const CLIENT = `
  const { parentPort, workerData: { url, head, element, count, tail } } = require("node:worker_threads");
  const { request } = require("node:http");
  const piece = Buffer.from((element + ",").repeat(1000));
  const pieces = count / 1000 - 1;
  const ends = [Buffer.from(head), Buffer.from((element + ",").repeat(999) + element + tail)];
  const length = ends[0].length + pieces * piece.length + ends[1].length;
  const headers = { "content-type": "application/json", "content-length": length };
  const sent = request(url, { method: "POST", headers }, (answer) => {
    let size = 0;
    answer.on("data", (chunk) => { size += chunk.length; });
    answer.on("end", () => parentPort.postMessage({ status: answer.statusCode, size, length }));
  });
  sent.on("error", (error) => parentPort.postMessage({ status: error.message, size: 0, length }));
  sent.write(ends[0]);
  let left = pieces;
  const more = () => {
    while (left > 0) { left -= 1; if (!sent.write(piece)) { sent.once("drain", more); return; } }
    sent.end(ends[1]);
  };
  more();`;

const point = "[12.345678901234,23.456789012345,1.234567890123]";
const raster = (side: number) => `"nx":${side},"ny":${side}`;

test.each<[string, string, string, string, number, string]>([
  ["points for denoise", "/api/pointcloud/denoise", '{"method":"voxel_count","points":[', point, 600_000, "]}"],
  ["points for the ground", "/api/segment/ground", '{"method":"auto","points":[', point, 600_000, "]}"],
  ["points for a model", "/api/dem", '{"cell_size":1,"points":[', point, 600_000, "]}"],
  ["points for a file", "/api/pointcloud/export", '{"format":"laz","points":[', point, 600_000, "]}"],
  [
    "a grid of text",
    "/api/dem/export-raster",
    `{${raster(1000)},"cell_size":1,"origin":[0,0],"grid_z":[`,
    "1.23456",
    1_000_000,
    "]}",
  ],
  [
    "a terrain and its columns",
    "/api/lad/snap-grid",
    `{"grid":{"center":[500,500,5],"size":[1000,1000,10],${raster(1000)},"nz":9},"dem":{${raster(1000)},"cell":1,"origin":[0,0],"grid_z":[`,
    "1.23456",
    1_000_000,
    "]}}",
  ],
])("%s: the service answers others within 50 ms meanwhile", async (_name, path, head, element, count, tail) => {
  const made = await appOfTest();
  await made.app.listen({ host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${(made.app.server.address() as AddressInfo).port}${path}`;
  const measured = async () => {
    const watch = loopWatch();
    const client = new Worker(CLIENT, { eval: true, workerData: { url, head, element, count, tail } });
    const [{ status, size, length }] = (await once(client, "message")) as [
      { status: number | string; size: number; length: number },
    ];
    const found = watch();
    await client.terminate();
    expect(status).toBe(200);
    expect([size, length].every((bytes) => bytes > 50)).toBe(true);
    return found;
  };
  // The machine may stop the process for 60 ms now and then; what the service does itself happens every time.
  const waits: number[] = [];
  while (waits.length < 3 && !waits.some((ms) => ms < 50)) waits.push((await measured()).p99_ms);
  expect(Math.min(...waits), `waits of ${waits.join(", ")} ms`).toBeLessThan(50);
});
