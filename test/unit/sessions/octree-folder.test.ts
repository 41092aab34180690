import { appendFileSync, chmodSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SeenOctrees } from "../../../backend/sessions/octree-folder.ts";
import { folderOfTest } from "../../support/run/folders.ts";

test("a folder is looked at once; one that has gone counts no longer; a shared file counts once", async () => {
  const root = folderOfTest("octrees-");
  for (const id of ["a", "b"]) mkdirSync(join(root, id), { mode: 0o755 });
  chmodSync(join(root, "a"), 0o755);
  writeFileSync(join(root, "a", "octree.bin"), "12345");
  linkSync(join(root, "a", "octree.bin"), join(root, "b", "octree.bin"));
  writeFileSync(join(root, "b", "hierarchy.bin"), "123");
  const seen = new SeenOctrees();
  await seen.look(root, ["a", "b"]);
  expect([seen.totalBytes(), seen.filesOf("b").length, seen.filesOf("c")]).toEqual([8, 2, []]);
  expect(statSync(join(root, "a")).mode & 0o077).toBe(0);
  appendFileSync(join(root, "b", "hierarchy.bin"), "456");
  await seen.look(root, ["a", "b"]);
  expect(seen.totalBytes()).toBe(8);
  seen.forget("b"); // built again
  await seen.look(root, ["a", "b"]);
  expect(seen.totalBytes()).toBe(11);
  rmSync(join(root, "b"), { recursive: true });
  await seen.look(root, ["a"]);
  expect([seen.totalBytes(), seen.filesOf("b")]).toEqual([5, []]);
});
