import { linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { A, B, BYTES, build, C, cacheFolder, D, fill, POINTS } from "../../support/session/cache-folder.ts";

const { root, cache, used, present } = cacheFolder();

describe("getOrBuild", () => {
  test("builds once, then finds the octree; no other file is left", async () => {
    const octrees = cache();
    expect(await octrees.getOrBuild(A, build)).toEqual({ folder: join(root(), A), cached: false });
    expect(await octrees.getOrBuild(A, () => Promise.reject(new Error("built twice")))).toEqual({
      folder: join(root(), A),
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
    if (name !== "empty") fill(join(root(), A));
    damage(join(root(), A));
    const octrees = cache();
    expect(await octrees.path(A)).toBeUndefined();
    expect(await octrees.getOrBuild(A, build)).toEqual({ folder: join(root(), A), cached: false });
    expect(await octrees.path(A)).toBe(join(root(), A));
  });

  test("two caches on one folder, like two processes: the first octree stays, the other is dropped", async () => {
    const [one, two] = [cache(), cache()];
    let inode: number | undefined;
    const late = two.getOrBuild(A, async (staging) => {
      fill(staging);
      await one.getOrBuild(A, build);
      inode = statSync(join(root(), A)).ino;
    });
    expect(await late).toEqual({ folder: join(root(), A), cached: false });
    expect(statSync(join(root(), A)).ino).toBe(inode);
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
      rmSync(join(root(), name, "octree.bin"));
      linkSync(join(root(), A, "octree.bin"), join(root(), name, "octree.bin"));
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
      mkdirSync(join(root(), ".leases"), { recursive: true });
      writeFileSync(join(root(), ".leases", `${pid}.json`), JSON.stringify({ pid, start_time, instance: "x", ids }));
    };
    lease(process.ppid, [A]);
    lease(2 ** 30, [B]);
    lease(1, [C], "not when process 1 began"); // a reused id
    writeFileSync(join(root(), ".leases", "torn.json"), "{");
    await cache(0).evict();
    expect(present()).toEqual([A]);
    expect(readdirSync(join(root(), ".leases"))).toEqual([`${process.ppid}.json`]);
  });

  test("removes staging folders of dead processes, keeps those of living ones and unknown files", async () => {
    const staging = (pid: number) => `${A}.${pid}-0123abcd.staging`;
    for (const name of [staging(2 ** 30), staging(process.ppid), "notes", `${A}.staging`])
      mkdirSync(join(root(), name));
    await cache(0).evict();
    expect(present()).toEqual([staging(process.ppid), `${A}.staging`, "notes"].sort());
  });

  test("a cache folder that is missing or not a folder is not an error", async () => {
    await cache(0, join(root(), "missing")).evict();
    const file = join(root(), "file");
    writeFileSync(file, "");
    const octrees = cache(0, file);
    octrees.pinnedBy(() => [A]);
    await octrees.evict();
    await octrees.writePins(); // logged: an octree can be built again
    await expect(octrees.getOrBuild(A, build)).rejects.toThrow();
  });
});
