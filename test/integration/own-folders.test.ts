import { chmodSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseConfig } from "../../backend/config.ts";
import { checkOwnFolders } from "../../backend/entry/own-folders.ts";
import { startProcess } from "../support/process/backend-process.ts";

const folder = mkdtempSync(join(tmpdir(), "own-"));
const check = (data: string, octrees = join(folder, "octrees"), env: NodeJS.ProcessEnv = {}) =>
  checkOwnFolders({ ...parseConfig(env), dataDir: data, octreeCacheRoot: octrees });

test("new folders are created, and nothing stays in them", async () => {
  const [data, octrees] = [join(folder, "a", "b", "data"), join(folder, "c", "octrees")];
  await check(data, octrees);
  expect([readdirSync(data), readdirSync(octrees)]).toEqual([[], []]);
});

test.each<[string, () => string, RegExp]>([
  ["/proc", () => "/proc/xx", /its parent folder does not take it; set APP_/],
  ["below /proc", () => "/proc/xx/yy", /its parent folder does not take it; set APP_/],
  ["a file", () => put("file"), /is, or lies in, a file; set APP_/],
  ["below a file", () => join(put("other"), "data"), /is, or lies in, a file; set APP_/],
  ["a dangling link", () => dangling(), /is, or lies in, a file|does not take it|EEXIST|ENOENT/],
])("%s is refused, as the data folder and as the octree cache", async (_what, path, why) => {
  const wrong = path();
  await expect(check(wrong)).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringMatching(/^the data folder .* APP_DATA_DIR /),
  });
  await expect(check(join(folder, "data"), wrong)).rejects.toThrow(/^the octree cache .* APP_OCTREE_CACHE_ROOT /);
  await expect(check(wrong)).rejects.toThrow(why);
});

const isRoot = process.geteuid?.() === 0;
if (!isRoot) console.log("a folder of another user: skipped, needs root");
test.skipIf(!isRoot)("a folder that this user may not write is refused", async () => {
  chmodSync(folder, 0o755);
  const data = join(folder, "read-only");
  mkdirSync(data, { mode: 0o755 });
  process.seteuid?.(65534);
  try {
    await expect(check(data)).rejects.toThrow(
      /permission denied; set APP_DATA_DIR to a folder that this user may write/,
    );
    await expect(check(data, join(folder, "mine"), { APP_SESSION_JOURNAL: "0" })).rejects.toThrow(/octree cache/);
  } finally {
    process.seteuid?.(0);
  }
});

test("the service ends before READY with the sentence", async () => {
  const env = { APP_OCTREE_CACHE_ROOT: put("cache") };
  await expect(startProcess(join(folder, "data"), env)).rejects.toThrow(
    /ended with 2: [\s\S]*the octree cache .* cannot be used: it is, or lies in, a file; set APP_OCTREE_CACHE_ROOT/,
  );
  await expect(startProcess("/proc/xx", { APP_OCTREE_CACHE_ROOT: join(folder, "octrees") })).rejects.toThrow(
    /ended with 2: [\s\S]*the data folder \/proc\/xx cannot be used/,
  );
});

const put = (name: string) => {
  writeFileSync(join(folder, name), "");
  return join(folder, name);
};
const dangling = () => {
  const link = join(folder, `link-${Math.random()}`);
  symlinkSync(join(folder, "nowhere", "deep"), link);
  return link;
};
