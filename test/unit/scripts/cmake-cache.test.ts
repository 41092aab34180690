import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folderOfTest } from "../../support/run/folders.ts";

const { dropMovedCache } = await import(new URL("../../../scripts/cmake-cache.mjs", import.meta.url).href);

/** A build folder as CMake leaves it. */
function configured(): { folder: string; parent: string } {
  const parent = folderOfTest("cmake-");
  const folder = join(parent, "native");
  mkdirSync(join(folder, "CMakeFiles", "pc.dir"), { recursive: true });
  mkdirSync(join(folder, "Release"));
  writeFileSync(join(folder, "CMakeCache.txt"), `# cache\nCMAKE_CACHEFILE_DIR:INTERNAL=${folder}\nA:BOOL=ON\n`);
  writeFileSync(join(folder, "Release", "pc.node"), "addon");
  return { folder, parent };
}
const there = (folder: string) =>
  ["CMakeCache.txt", "CMakeFiles", "Release/pc.node"].map((name) => existsSync(join(folder, name)));

test("a build folder in its place is left alone, also through a link", () => {
  const { folder, parent } = configured();
  symlinkSync(folder, join(parent, "link"));
  dropMovedCache(folder);
  dropMovedCache(join(parent, "link"));
  expect(there(folder)).toEqual([true, true, true]);
});

test("one that was moved is configured anew; what it built stays until then", () => {
  const { folder, parent } = configured();
  const moved = join(parent, "moved");
  renameSync(folder, moved);
  dropMovedCache(moved);
  expect(there(moved)).toEqual([false, false, true]);
});

test("a folder without a cache is none of its business", () => {
  expect(() => dropMovedCache(join(folderOfTest("cmake-"), "none"))).not.toThrow();
});
