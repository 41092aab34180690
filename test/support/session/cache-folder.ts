import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { beforeEach } from "vitest";
import { OctreeCache } from "../../../backend/sessions/octree-cache.ts";
import { folderOfTest } from "../run/folders.ts";

const id = (digit: string) => digit.repeat(40);
/** Names of octrees. */
export const [A, B, C, D] = ["a", "b", "c", "d"].map(id) as [string, string, string, string];
export const POINTS = 10;

/** The three files of an octree of ten 12-byte points, as the builder leaves them: metadata.json last. */
export function fill(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "octree.bin"), Buffer.alloc(12 * POINTS));
  writeFileSync(join(folder, "hierarchy.bin"), Buffer.alloc(22));
  writeFileSync(join(folder, "metadata.json"), JSON.stringify({ points: POINTS, attributes: [{ size: 12 }] }));
}
/** Of these files. */
export const BYTES = (() => {
  const folder = mkdtempSync(join(tmpdir(), "size-"));
  fill(folder);
  const bytes = readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);
  rmSync(folder, { recursive: true });
  return bytes;
})();
export const build = async (staging: string) => fill(staging);

/** A new cache folder for each test of a file. */
export function cacheFolder() {
  let folder = "";
  beforeEach(() => {
    folder = folderOfTest("cache-");
  });
  const root = () => folder;
  const cache = (maxBytes = 1e9, at = folder) => new OctreeCache(at, maxBytes, "test", pino({ level: "silent" }));
  /** Puts an octree there that was last used `minutes` ago. */
  const used = (name: string, minutes: number) => {
    fill(join(folder, name));
    const then = new Date(Date.now() - minutes * 60_000);
    utimesSync(join(folder, name, "metadata.json"), then, then);
  };
  const present = () =>
    readdirSync(folder)
      .filter((name) => name !== ".leases")
      .sort();
  return { root, cache, used, present };
}
