import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { expect, test } from "vitest";
import { OctreeCache } from "../../../backend/sessions/octree-cache.ts";
import { A, B, C, cacheFolder, fill } from "../../support/session/cache-folder.ts";

const { root, cache, used, present } = cacheFolder();

test.each([0, 1, 5])("a lease written while the process ends does not reappear, %i turns later", async (turns) => {
  const leases = () => (existsSync(join(root(), ".leases")) ? readdirSync(join(root(), ".leases")) : []);
  const octrees = cache();
  let pinned = [A];
  octrees.pinnedBy(() => pinned);
  const writing = octrees.writePins();
  for (let i = 0; i < turns; i += 1) await Promise.resolve();
  await octrees.close();
  expect(leases()).toEqual([]);
  await writing;
  pinned = [B];
  await octrees.writePins();
  expect(leases()).toEqual([]);
});

test("pins are written to this process's lease, updated when they change, and removed at the end", async () => {
  const octrees = cache();
  let pinned = [B, A, A];
  octrees.pinnedBy(() => pinned);
  await octrees.writePins();
  const path = join(root(), ".leases", `${process.pid}.json`);
  const ids = () => (JSON.parse(readFileSync(path, "utf8")) as { ids: string[] }).ids;
  expect(ids()).toEqual([A, B]);
  pinned = [C];
  await octrees.writePins();
  expect(ids()).toEqual([C]);
  expect(readdirSync(join(root(), ".leases"))).toHaveLength(1);
  await octrees.close();
  expect(existsSync(path)).toBe(false);
});

test("concurrent writes of pins end with the newest and do not fail", async () => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => lines.push(line) });
  const octrees = new OctreeCache(root(), 1e9, "test", log);
  let ids: string[] = [];
  octrees.pinnedBy(() => ids);
  const writes = [[A], [A, B], [B], [B, C], [C]].map((next) => {
    ids = next;
    return octrees.writePins();
  });
  await Promise.all(writes);
  const lease = JSON.parse(readFileSync(join(root(), ".leases", `${process.pid}.json`), "utf8")) as { ids: string[] };
  expect([lease.ids, lines]).toEqual([[C], []]);
});

test("a failure to list the pins is logged, not thrown", async () => {
  const lines: string[] = [];
  const octrees = new OctreeCache(
    root(),
    1e9,
    "test",
    pino({ level: "warn" }, { write: (line: string) => lines.push(line) }),
  );
  octrees.pinnedBy(() => {
    throw new Error("closed");
  });
  await octrees.writePins();
  await octrees.evict();
  expect(lines.length).toBe(2);
});

test("an octree that a run holds is in the lease before it is looked up, so that no other backend removes it", async () => {
  const octrees = cache();
  const leased = () =>
    (JSON.parse(readFileSync(join(root(), ".leases", `${process.pid}.json`), "utf8")) as { ids: string[] }).ids;
  const hold = octrees.hold(A);
  let during: string[] = [];
  await octrees.getOrBuild(A, async (staging) => {
    during = leased();
    fill(staging);
  });
  expect(during).toEqual([A]);
  hold.release();
  await octrees.writePins();
  expect(leased()).toEqual([]);
});

test("what this process no longer needs is removed although its lease still names it", async () => {
  used(A, 30);
  const octrees = cache(0);
  let pinned = [A];
  octrees.pinnedBy(() => pinned);
  await octrees.writePins();
  pinned = [];
  await octrees.evict();
  expect(present()).toEqual([]);
});
