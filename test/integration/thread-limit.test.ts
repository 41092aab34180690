import { spawnSync } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { folderOfTest } from "../support/run/folders.ts";
import { SPIRAL_FORMAT, writeSpiral } from "../support/scans/scans.ts";

// The limit counts the threads of a user, and root's are not limited: the command line runs as a user without processes.
const USER = 54321;
const MAIN = fileURLToPath(new URL("../../dist/backend/entry/headless.js", import.meta.url));

/** Why the test cannot run; undefined if it can. */
function obstacle(): string | undefined {
  if (process.platform !== "linux" || process.geteuid?.() !== 0) return "needs Linux and root";
  if (!existsSync("/usr/bin/prlimit")) return "needs prlimit";
  const seen = spawnSync("test", ["-r", MAIN], { uid: USER, gid: USER });
  return seen.status === 0 ? undefined : "other users cannot read this folder";
}
const reason = obstacle();
if (reason) console.log(`threads refused by the system: skipped, ${reason}`);

test.skipIf(reason !== undefined).each([13, 16])(
  "with %i threads for the whole process the command line does its work",
  async (threads) => {
    const folder = folderOfTest("threads-");
    const scan = join(folder, "scan.xyz");
    await writeSpiral(scan, 20_000);
    chmodSync(folder, 0o777);
    const out = join(folder, "out");
    const args = [
      `--nproc=${threads}`,
      process.execPath,
      MAIN,
      "analyze",
      scan,
      "--out",
      out,
      "--picture-size",
      "200",
      "--columns",
      SPIRAL_FORMAT,
    ];
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      APP_DATA_DIR: join(folder, "data"),
      APP_OCTREE_CACHE_ROOT: join(folder, "octrees"),
    };
    const done = spawnSync("/usr/bin/prlimit", args, { uid: USER, gid: USER, env, encoding: "utf8" });
    expect(done.status, done.stderr).toBe(0);
    expect(existsSync(join(out, "report.html"))).toBe(true);
  },
);
