import { createHash } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { appOfTest, create } from "../support/app/app.ts";
import { readRun } from "../support/app/run-body.ts";
import { eventually, stopwatch, within } from "../support/run/stopwatch.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { sessionTest } from "../support/session/session-test.ts";

/*
 * Clients that stop reading in the middle of an answer: others are served, the answer is whole when they read on, however
 * slowly, even if the session was closed meanwhile, and nothing stays when they leave or the service ends.
 */

const POINTS = 600_000; // answers of 10 to 40 MB: more than the buffers of a connection take
const SOON_MS = 250;
const SHUTDOWN_MS = 1000;
const made = sessionTest({ listening: true });
let scan = "";
beforeAll(() => {
  scan = made.file("big.las", bigLasBytes(POINTS));
});

interface Wanted {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: object;
}
type Answers = (session: string, octree: string) => Wanted;
const ANSWERS: readonly (readonly [string, Answers])[] = [
  [
    "a frame",
    (session_id) => ({
      method: "POST",
      path: "/api/triangulate",
      body: { source: { session_id }, method: "delaunay" },
    }),
  ],
  ["points", () => ({ method: "POST", path: "/api/pointcloud/import_by_path", body: { file_path: scan } })],
  [
    "JSON",
    (session_id) => ({
      method: "POST",
      path: "/api/pointcloud/export",
      body: { source: { session_id }, format: "las" },
    }),
  ],
  ["a file of an octree", (_, octree) => ({ method: "GET", path: `/octree/${octree}/octree.bin` })],
];

/** Sends a request and reads the head of its answer alone. */
function answerOf(base: string, { method, path, body }: Wanted): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = body ? { "content-type": "application/json" } : {};
    const sent = request(base + path, { method, headers, agent: false }, resolve);
    sent.once("error", reject);
    sent.end(body ? JSON.stringify(body) : undefined);
  });
}

/** Reads the rest of an answer; a pause of `pause_ms` behind every 64 KiB. */
async function rest(answer: IncomingMessage, pause_ms = 0): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of answer) {
    parts.push(part as Buffer);
    if (pause_ms > 0) await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
  return Buffer.concat(parts);
}

/** What an answer holds, without the run's id and progress. */
function contentOf(bytes: Buffer): string {
  const hash = (value: Uint8Array | string) => createHash("sha1").update(value).digest("hex");
  if (bytes.subarray(0, 4).toString() !== "PHP1") return hash(bytes);
  const { outcome } = readRun(bytes);
  if (outcome.kind !== "frame" && outcome.kind !== "json") throw new Error(`the answer is ${outcome.kind}`);
  if (outcome.kind === "json") return hash(JSON.stringify(outcome.value));
  const buffers = [...outcome.frame.buffers].map(
    ([name, values]) => `${name} ${hash(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))}`,
  );
  return hash(JSON.stringify([outcome.frame.meta, buffers]));
}

/** The run is over: what is left is the sending. */
const ran = () => eventually(() => expect(made.deps.jobs.size).toBe(0));

describe.each(ANSWERS)("%s", (_name, wanted) => {
  test("others are served meanwhile, the session can be closed, and the answer is whole when it is read on", async () => {
    const { session_id, cache_id } = await create(made, scan);
    const whole = contentOf(await rest(await answerOf(made.base, wanted(session_id, cache_id))));
    const stalled = await answerOf(made.base, wanted(session_id, cache_id));
    await ran();
    const other = await create(made, made.file("small.xyz", "1 2 3\n4 5 6\n"));
    await within(SOON_MS, async () => expect((await fetch(`${made.base}/health`)).status).toBe(200));
    expect((await (await fetch(`${made.base}/health`)).json()) as object).toMatchObject({ admitted: 0 });
    const closed = await fetch(`${made.base}/api/cloud/session/${session_id}`, { method: "DELETE" });
    expect([closed.status, await made.deps.sessions.delete(other.session_id)]).toEqual([200, true]);
    expect(stalled.complete).toBe(false);
    expect(contentOf(await rest(stalled, 1))).toBe(whole);
  });

  test("a client that leaves in the middle leaves nothing behind", async () => {
    const { session_id, cache_id } = await create(made, scan);
    const before = addon.bulkBytesInUse();
    for (let turn = 0; turn < 3; turn += 1) {
      const stalled = await answerOf(made.base, wanted(session_id, cache_id));
      await ran();
      expect(stalled.complete).toBe(false);
      stalled.destroy();
    }
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  });
});

test("the service ends within a second while clients do not read", async () => {
  const own = await appOfTest();
  await own.app.listen({ host: "127.0.0.1", port: 0 });
  const address = own.app.server.address();
  const base = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const { session_id, cache_id } = await create(own, scan);
  const stalled = await Promise.all(ANSWERS.map(([, wanted]) => answerOf(base, wanted(session_id, cache_id))));
  const ended = stalled.map(
    (answer) => new Promise((resolve) => answer.once("close", resolve).once("error", () => undefined)),
  );
  await eventually(() => expect(own.deps.jobs.size).toBe(0));
  const stop = stopwatch();
  await own.app.close();
  expect(stop().own_ms).toBeLessThan(SHUTDOWN_MS);
  for (const answer of stalled) answer.resume();
  await Promise.all(ended);
  expect(stalled.map(({ complete }) => complete)).toEqual(ANSWERS.map(() => false));
});
