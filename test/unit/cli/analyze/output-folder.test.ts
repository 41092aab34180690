import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { OutputFolder } from "../../../../backend/cli/analyze/output-folder.ts";
import { folderOfTest } from "../../../support/run/folders.ts";

let root = "";
beforeEach(() => {
  root = folderOfTest("output-folder-");
});

test("files appear together and only when published", async () => {
  const out = await OutputFolder.open(join(root, "a", "b"));
  await out.write("one.txt", "1");
  await out.write("two.txt", "2");
  expect(existsSync(out.final("one.txt"))).toBe(false);
  await out.publish();
  expect(readdirSync(join(root, "a", "b")).sort()).toEqual(["one.txt", "two.txt"]);
});

test("a discarded run removes the folders it created", async () => {
  const out = await OutputFolder.open(join(root, "a", "b"));
  await out.write("one.txt", "1");
  await out.discard();
  expect(readdirSync(root)).toEqual([]);
});

test("a discarded run leaves what was there", async () => {
  writeFileSync(join(root, "one.txt"), "mine");
  const out = await OutputFolder.open(root);
  await out.write("one.txt", "new");
  await out.discard();
  expect(readdirSync(root)).toEqual(["one.txt"]);
  expect(readFileSync(join(root, "one.txt"), "utf8")).toBe("mine");
});

test("publishing replaces files of the same name and leaves the others", async () => {
  writeFileSync(join(root, "one.txt"), "old");
  writeFileSync(join(root, "other.txt"), "mine");
  const out = await OutputFolder.open(root);
  await out.write("one.txt", "new");
  await out.publish();
  expect(readdirSync(root).sort()).toEqual(["one.txt", "other.txt"]);
  expect(readFileSync(join(root, "one.txt"), "utf8")).toBe("new");
});

test("if one file cannot be moved, all stay unchanged", async () => {
  writeFileSync(join(root, "one.txt"), "old");
  const out = await OutputFolder.open(root);
  await out.write("one.txt", "new");
  out.stage("never-made.txt");
  await expect(out.publish()).rejects.toThrow(/ENOENT/);
  await out.discard();
  expect(readdirSync(root)).toEqual(["one.txt"]);
  expect(readFileSync(join(root, "one.txt"), "utf8")).toBe("old");
});

test("an error names a file in the way and a folder that is not writable", async () => {
  writeFileSync(join(root, "file"), "");
  await expect(OutputFolder.open(join(root, "file"))).rejects.toMatchObject({ code: "invalid_argument" });
  mkdirSync(join(root, "locked"));
  chmodSync(join(root, "locked"), 0o500);
  if (process.getuid?.() === 0) return; // root may write anywhere
  await expect(OutputFolder.open(join(root, "locked"))).rejects.toThrow(/--out .*locked.* must be a writable folder/);
});
