import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parseRange } from "../../backend/http/range.ts";
import { baseAppOfTest, type MadeApp } from "../support/app/base-app.ts";

const ID = "0123456789abcdef0123456789abcdef01234567";
const BYTES = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));
let made: MadeApp;
beforeEach(async () => {
  made = await baseAppOfTest();
  const folder = join(made.octrees, ID);
  mkdirSync(folder);
  writeFileSync(join(folder, "metadata.json"), '{"version":"2.0"}');
  writeFileSync(join(folder, "octree.bin"), BYTES);
  writeFileSync(join(folder, "hierarchy.bin"), "");
  writeFileSync(join(folder, "log.txt"), "private");
});
const get = (path: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
  made.app.inject({ method, url: `/octree/${path}`, headers });

test("whole files with their content types", async () => {
  const metadata = await get(`${ID}/metadata.json`);
  expect([metadata.statusCode, metadata.headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
  expect(metadata.json()).toEqual({ version: "2.0" });
  const octree = await get(`${ID}/octree.bin`);
  expect(octree.headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": "1000",
    "accept-ranges": "bytes",
  });
  expect(octree.rawPayload.equals(BYTES)).toBe(true);
  const empty = await get(`${ID}/hierarchy.bin`);
  expect([empty.statusCode, empty.headers["content-length"], empty.body]).toEqual([200, "0", ""]);
});

test.each([
  ["bytes=0-0", 0, 0],
  ["bytes=10-19", 10, 19],
  ["bytes=990-", 990, 999],
  ["bytes=-5", 995, 999],
  ["bytes=-5000", 0, 999],
  ["bytes=900-99999999999999999999", 900, 999],
])("%s is a 206 with exactly these bytes", async (range, start, end) => {
  const answer = await get(`${ID}/octree.bin`, { range });
  expect(answer.statusCode).toBe(206);
  expect(answer.headers).toMatchObject({
    "content-range": `bytes ${start}-${end}/1000`,
    "content-length": String(end - start + 1),
  });
  expect(answer.rawPayload.equals(BYTES.subarray(start, end + 1))).toBe(true);
});

test.each(["bytes=1000-", "bytes=5000-6000", "bytes=-0"])("%s is a 416", async (range) => {
  const answer = await get(`${ID}/octree.bin`, { range });
  expect([answer.statusCode, answer.headers["content-range"]]).toEqual([416, "bytes */1000"]);
  expect(answer.json()).toMatchObject({ code: "invalid_argument" });
});

test.each(["bytes=5-2", "bytes=-", "bytes=a-b", "lines=0-1", "bytes=0-1,5-6"])("%s is ignored", async (range) => {
  const answer = await get(`${ID}/octree.bin`, { range });
  expect([answer.statusCode, answer.rawPayload.length]).toEqual([200, 1000]);
});

test("If-Range never matches, so the whole file is sent", async () => {
  const answer = await get(`${ID}/octree.bin`, { range: "bytes=0-1", "if-range": '"x"' });
  expect(answer.statusCode).toBe(200);
});

test("HEAD returns the length and no body", async () => {
  const answer = await get(`${ID}/octree.bin`, {}, "HEAD");
  expect([answer.statusCode, answer.headers["content-length"], answer.rawPayload.length]).toEqual([200, "1000", 0]);
});

test.each([
  [`${ID}/log.txt`],
  [`${ID}/attribute_labels.json`],
  [`${ID}/constructor`],
  [`${ID}/..%2f..%2fetc%2fpasswd`],
  [`${ID.toUpperCase()}/octree.bin`],
  [`${ID.slice(1)}/octree.bin`],
  [`..%2f${ID}/octree.bin`],
  [`${"f".repeat(40)}/octree.bin`],
  [`${ID}%00/octree.bin`],
])("%s is a 404", async (path) => {
  const answer = await get(path);
  expect([answer.statusCode, (answer.json() as { detail?: string }).detail]).toEqual([404, expect.any(String)]);
});

describe("a cache without the octree, and a damaged octree folder", () => {
  test("404 and 500", async () => {
    const none = await baseAppOfTest({ deps: { octreeCache: { path: async () => undefined } } });
    const url = `/octree/${ID}/octree.bin`;
    expect((await none.app.inject({ url })).json()).toMatchObject({
      detail: expect.stringContaining(ID),
      code: "not_found",
    });
    await none.app.close();
    mkdirSync(join(made.octrees, "a".repeat(40), "octree.bin"), { recursive: true });
    const broken = await made.app.inject({ url: `/octree/${"a".repeat(40)}/octree.bin` });
    expect([broken.statusCode, (broken.json() as { code: string }).code]).toEqual([500, "io"]);
  });
});

test("ranges of an empty file", () => {
  expect(parseRange("bytes=0-", 0)).toBe("unsatisfiable");
  expect(parseRange("bytes=-1", 0)).toBe("unsatisfiable");
  expect(parseRange(undefined, 0)).toBe("whole");
});
