import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { UploadStore } from "../../../backend/sessions/upload-store.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "uploads-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));
const store = () => new UploadStore(root, 60_000, pino({ level: "silent" }));

test("an upload that is still arriving when the service ends leaves nothing", async () => {
  const uploads = store();
  const chunks = (async function* () {
    yield Buffer.from("first");
    await uploads.close();
    yield Buffer.from("last");
  })();
  await expect(uploads.add({ name: "plot.xyz", declared: 9, chunks })).rejects.toMatchObject({ code: "canceled" });
  expect(readdirSync(root)).toEqual([]);
});

test("a sweep removes what an ended process with the same number left, and nothing of this one", async () => {
  const uploads = store();
  const chunks = (async function* () {
    yield Buffer.from("points");
  })();
  const { upload_id } = await uploads.add({ name: "plot.xyz", declared: 6, chunks });
  mkdirSync(join(root, `${process.pid}-${"0".repeat(32)}`));
  await uploads.sweep();
  expect(readdirSync(root)).toEqual([`${process.pid}-${upload_id}`]);
  await uploads.close();
});
