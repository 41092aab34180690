import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** Inputs, made once, and what the jobs write. */
export const dataFolder = join(root, "build", "bench-data");

/**
 * ext4 hands out no inode that was freed in the last minutes and looks past each: after a run that removed thousands of
 * files, writing as many took 2 s instead of 0.2. With this attribute each run's folder gets its own part of the disk.
 */
export function makeDataFolder(): void {
  mkdirSync(dataFolder, { recursive: true });
  spawnSync("chattr", ["+T", dataFolder], { stdio: "ignore" }); // other file systems have no such attribute
}
