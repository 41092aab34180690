import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { OctreeCache } from "../../../backend/sessions/octree-cache.ts";
import { folderOfTest } from "../../support/run/folders.ts";

const id = (digit: string) => digit.repeat(40);
const [A, B, C, D] = ["a", "b", "c", "d"].map(id) as [string, string, string, string];
const POINTS = 10;
let root: string;
beforeEach(() => {
  root = folderOfTest("cache-");
});
const cache = (maxBytes = 1e9, folder = root) => new OctreeCache(folder, maxBytes, "test", pino({ level: "silent" }));

/** The three files of an octree of ten 12-byte points, as the builder leaves them: metadata.json last. */
function fill(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "octree.bin"), Buffer.alloc(12 * POINTS));
  writeFileSync(join(folder, "hierarchy.bin"), Buffer.alloc(22));
  writeFileSync(join(folder, "metadata.json"), JSON.stringify({ points: POINTS, attributes: [{ size: 12 }] }));
}
const BYTES = (() => {
  const folder = mkdtempSync(join(tmpdir(), "size-"));
  fill(folder);
  const bytes = readdirSync(folder).reduce((sum, name) => sum + readFileSync(join(folder, name)).length, 0);
  rmSync(folder, { recursive: true });
  return bytes;
})();
const build = async (staging: string) => fill(staging);
/** An octree in the cache that was last used `minutes` ago. */
function used(name: string, minutes: number): void {
  fill(join(root, name));
  const then = new Date(Date.now() - minutes * 60_000);
  utimesSync(join(root, name, "metadata.json"), then, then);
}
const present = () =>
  readdirSync(root)
    .filter((name) => name !== ".leases")
    .sort();

test.each([0, 1, 5])("a lease written while the process ends does not reappear, %i turns later", async (turns) => {
  const leases = () => (existsSync(join(root, ".leases")) ? readdirSync(join(root, ".leases")) : []);
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

describe("getOrBuild", () => {
  test("builds once, then finds the octree; no other file is left", async () => {
    const octrees = cache();
    expect(await octrees.getOrBuild(A, build)).toEqual({ folder: join(root, A), cached: false });
    expect(await octrees.getOrBuild(A, () => Promise.reject(new Error("built twice")))).toEqual({
      folder: join(root, A),
      cached: true,
    });
    expect(present()).toEqual([A]);
  });

  test("concurrent calls share one build", async () => {
    const octrees = cache();
    let builds = 0;
    const slow = async (staging: string) => {
      builds += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
      fill(staging);
    };
    const results = await Promise.all(Array.from({ length: 8 }, () => octrees.getOrBuild(A, slow)));
    expect(builds).toBe(1);
    expect(results.filter(({ cached }) => !cached)).toHaveLength(1);
  });

  test("a failed build leaves nothing, and the waiting callers build themselves", async () => {
    const octrees = cache();
    let builds = 0;
    const flaky = async (staging: string) => {
      builds += 1;
      const nth = builds;
      await new Promise((resolve) => setTimeout(resolve, 10));
      fill(staging);
      if (nth === 1) throw new Error("canceled");
    };
    const results = await Promise.allSettled([
      octrees.getOrBuild(A, flaky),
      octrees.getOrBuild(A, flaky),
      octrees.getOrBuild(A, flaky),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect([builds, present()]).toEqual([2, [A]]);
  });

  test("the wait for another caller's build ends with the signal, and that build continues", async () => {
    const octrees = cache();
    let finish: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let began: () => void = () => undefined;
    const building = new Promise<void>((resolve) => (began = resolve));
    const first = octrees.getOrBuild(A, async (staging) => {
      began();
      await gate;
      fill(staging);
    });
    await building;
    const abort = new AbortController();
    const second = octrees.getOrBuild(A, build, abort.signal);
    abort.abort(new Error("canceled"));
    await expect(second).rejects.toThrow("canceled");
    finish();
    expect((await first).cached).toBe(false);
  });

  test.each<[string, (folder: string) => void]>([
    ["empty", (folder) => mkdirSync(folder)],
    ["without metadata.json", (folder) => rmSync(join(folder, "metadata.json"))],
    ["with half a metadata.json", (folder) => writeFileSync(join(folder, "metadata.json"), '{"points":')],
    ["with points missing", (folder) => writeFileSync(join(folder, "octree.bin"), Buffer.alloc(12 * POINTS - 1))],
    ["without points", (folder) => rmSync(join(folder, "octree.bin"))],
    ["with an empty hierarchy", (folder) => writeFileSync(join(folder, "hierarchy.bin"), "")],
  ])("a folder %s is rebuilt", async (name, damage) => {
    if (name !== "empty") fill(join(root, A));
    damage(join(root, A));
    const octrees = cache();
    expect(await octrees.path(A)).toBeUndefined();
    expect(await octrees.getOrBuild(A, build)).toEqual({ folder: join(root, A), cached: false });
    expect(await octrees.path(A)).toBe(join(root, A));
  });

  test("two caches on one folder, like two processes: the first octree stays, the other is dropped", async () => {
    const [one, two] = [cache(), cache()];
    let inode: number | undefined;
    const late = two.getOrBuild(A, async (staging) => {
      fill(staging);
      await one.getOrBuild(A, build);
      inode = statSync(join(root, A)).ino;
    });
    expect(await late).toEqual({ folder: join(root, A), cached: false });
    expect(statSync(join(root, A)).ino).toBe(inode);
    expect(present()).toEqual([A]);
  });

  test("invalid ids are never looked up", async () => {
    for (const bad of ["..", "", `${A}/..`, A.toUpperCase(), `${A}0`]) expect(await cache().path(bad)).toBeUndefined();
  });
});

describe("evict", () => {
  test("removes the least recently used octrees beyond the cap; a lookup counts as use", async () => {
    used(A, 30);
    used(B, 20);
    used(C, 10);
    const octrees = cache(2 * BYTES);
    expect(await octrees.path(A)).toBeDefined(); // used now
    await octrees.evict();
    expect(present()).toEqual([A, C]);
  });

  test("octree.bin shared by translated octrees counts once, until its last name is removed", async () => {
    used(A, 30);
    for (const [i, name] of [B, C].entries()) {
      used(name, 20 - 10 * i);
      rmSync(join(root, name, "octree.bin"));
      linkSync(join(root, A, "octree.bin"), join(root, name, "octree.bin"));
    }
    const shared = 12 * POINTS;
    await cache(3 * BYTES - 2 * shared).evict();
    expect(present()).toEqual([A, B, C]);
    await cache(2 * BYTES - shared - 1).evict(); // A's small files are not enough, and its points stay with C
    expect(present()).toEqual([C]);
  });

  test("never removes what this process needs, holds or builds, however old", async () => {
    for (const [i, name] of [A, B, C].entries()) used(name, 30 - i);
    const octrees = cache(0);
    octrees.pinnedBy(() => [A]);
    const [once, twice] = [octrees.hold(B), octrees.hold(B)];
    const building = octrees.getOrBuild(D, async (staging) => {
      await octrees.evict();
      fill(staging);
    });
    await building;
    expect(present()).toEqual([A, B, D]);
    once.release();
    await octrees.evict();
    expect(present()).toEqual([A, B]);
    twice.release();
    await octrees.evict();
    expect(present()).toEqual([A]);
  });

  test("removes nothing until the needs of the sessions are known", async () => {
    used(A, 30);
    used(B, 20);
    const octrees = cache(0);
    let known: () => void = () => undefined;
    const recovered = new Promise<void>((resolve) => {
      known = resolve;
    });
    octrees.pinnedBy(() => [A], recovered);
    await octrees.evict();
    expect(present()).toEqual([A, B]);
    known();
    await recovered;
    await octrees.evict();
    expect(present()).toEqual([A]);
  });

  test("never removes what a living process has leased; leases of a dead one are removed", async () => {
    used(A, 30);
    used(B, 20);
    used(C, 10);
    const lease = (pid: number, ids: string[], start_time: string | null = null) => {
      mkdirSync(join(root, ".leases"), { recursive: true });
      writeFileSync(join(root, ".leases", `${pid}.json`), JSON.stringify({ pid, start_time, instance: "x", ids }));
    };
    lease(process.ppid, [A]);
    lease(2 ** 30, [B]);
    lease(1, [C], "not when process 1 began"); // a reused id
    writeFileSync(join(root, ".leases", "torn.json"), "{");
    await cache(0).evict();
    expect(present()).toEqual([A]);
    expect(readdirSync(join(root, ".leases"))).toEqual([`${process.ppid}.json`]);
  });

  test("removes staging folders of dead processes, keeps those of living ones and unknown files", async () => {
    const staging = (pid: number) => `${A}.${pid}-0123abcd.staging`;
    for (const name of [staging(2 ** 30), staging(process.ppid), "notes", `${A}.staging`]) mkdirSync(join(root, name));
    await cache(0).evict();
    expect(present()).toEqual([staging(process.ppid), `${A}.staging`, "notes"].sort());
  });

  test("a cache folder that is missing or not a folder is not an error", async () => {
    await cache(0, join(root, "missing")).evict();
    const file = join(root, "file");
    writeFileSync(file, "");
    const octrees = cache(0, file);
    octrees.pinnedBy(() => [A]);
    await octrees.evict();
    await octrees.writePins(); // logged: an octree can be built again
    await expect(octrees.getOrBuild(A, build)).rejects.toThrow();
  });
});

test("pins are written to this process's lease, updated when they change, and removed at the end", async () => {
  const octrees = cache();
  let pinned = [B, A, A];
  octrees.pinnedBy(() => pinned);
  await octrees.writePins();
  const path = join(root, ".leases", `${process.pid}.json`);
  const ids = () => (JSON.parse(readFileSync(path, "utf8")) as { ids: string[] }).ids;
  expect(ids()).toEqual([A, B]);
  pinned = [C];
  await octrees.writePins();
  expect(ids()).toEqual([C]);
  expect(readdirSync(join(root, ".leases"))).toHaveLength(1);
  await octrees.close();
  expect(existsSync(path)).toBe(false);
});

test("concurrent writes of pins end with the newest and do not fail", async () => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => lines.push(line) });
  const octrees = new OctreeCache(root, 1e9, "test", log);
  let ids: string[] = [];
  octrees.pinnedBy(() => ids);
  const writes = [[A], [A, B], [B], [B, C], [C]].map((next) => {
    ids = next;
    return octrees.writePins();
  });
  await Promise.all(writes);
  const lease = JSON.parse(readFileSync(join(root, ".leases", `${process.pid}.json`), "utf8")) as { ids: string[] };
  expect([lease.ids, lines]).toEqual([[C], []]);
});

test("a failure to list the pins is logged, not thrown", async () => {
  const lines: string[] = [];
  const octrees = new OctreeCache(
    root,
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
    (JSON.parse(readFileSync(join(root, ".leases", `${process.pid}.json`), "utf8")) as { ids: string[] }).ids;
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

test("discard removes only what nobody needs, and only what it is given", async () => {
  for (const [i, name] of [A, B, C].entries()) used(name, 30 - i);
  const octrees = cache();
  octrees.pinnedBy(() => [B]);
  await octrees.discard([A, B, D]);
  expect(present()).toEqual([B, C]);
});

describe("withRoom", () => {
  const noSpace = () => Promise.reject(Object.assign(new Error("full"), { code: "ENOSPC" }));

  test("removes what nobody needs and tries again; gives up when there is nothing left", async () => {
    used(A, 30);
    used(B, 20);
    const octrees = cache();
    octrees.pinnedBy(() => [B]);
    let calls = 0;
    const result = octrees.withRoom(() => {
      calls += 1;
      return calls === 1 ? noSpace() : Promise.resolve("done");
    });
    expect([await result, calls, present()]).toEqual(["done", 2, [B]]);
    calls = 0;
    const hopeless = octrees.withRoom(() => {
      calls += 1;
      return noSpace();
    });
    await expect(hopeless).rejects.toThrow("full");
    expect([calls, present()]).toEqual([1, [B]]);
  });

  test("another failure is not the disk's: nothing is removed", async () => {
    used(A, 30);
    await expect(cache().withRoom(() => Promise.reject(new Error("other")))).rejects.toThrow("other");
    expect(present()).toEqual([A]);
  });

  test("while sessions are being recovered, it waits for their needs with a signal and removes nothing without", async () => {
    used(A, 30);
    used(B, 20);
    const octrees = cache();
    let known: () => void = () => undefined;
    octrees.pinnedBy(
      () => [A],
      new Promise<void>((resolve) => {
        known = resolve;
      }),
    );
    await expect(octrees.withRoom(noSpace)).rejects.toThrow("full");
    expect(present()).toEqual([A, B]);
    const abort = new AbortController();
    const canceled = octrees.withRoom(noSpace, abort.signal);
    abort.abort(new Error("canceled"));
    await expect(canceled).rejects.toThrow("canceled");
    expect(present()).toEqual([A, B]);
    let calls = 0;
    const waiting = octrees.withRoom(() => {
      calls += 1;
      return calls === 1 ? noSpace() : Promise.resolve("done");
    }, new AbortController().signal);
    known();
    expect([await waiting, present()]).toEqual(["done", [A]]);
  });
});
