import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { ColumnRef } from "../../backend/sessions/column-ref.ts";
import { appOfTest, create, type TestApp } from "../support/app/app.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { slab } from "../support/session/session-edits.ts";

const MIB = 1 << 20;
const POINTS = 100_000; // 1.4 MB per octree: 12 bytes of coordinates and 2 of intensity
const probe = smallDisk(MIB);
probe?.unmount();
/** A disk of 20 MiB for one test. */
function diskOfTest(): SmallDisk {
  const disk = smallDisk(20 * MIB) as SmallDisk;
  onTestFinished(() => disk.unmount());
  return disk;
}

const octrees = (made: TestApp) => readdirSync(made.octrees).filter((name) => /^[0-9a-f]{40}$/.test(name));
const post = async (made: TestApp, id: string, action: string, payload?: object) => {
  const url = `/api/cloud/session/${id}/${action}`;
  const answer = await made.app.inject({ method: "POST", url, ...(payload ? { payload } : {}) });
  return [answer.statusCode, answer.json() as { cache_id?: string }] as const;
};
const step = async (made: TestApp, id: string, i: number) => {
  const [edited] = await post(made, id, "delete_region", { region: slab(i * 0.02, i * 0.02 + 0.019) });
  const [rebuilt, { cache_id }] = await post(made, id, "rebuild_octree");
  return { edited, rebuilt, cache_id };
};

describe.skipIf(!probe)("a disk full of octrees that no session needs", () => {
  test("30 rebuilds of 1.4 MB on a disk of 20 MB: each succeeds, and the octree on display is always there", async () => {
    const disk = diskOfTest();
    const made = await appOfTest({ octreeCacheRoot: join(disk.folder, "octrees") });
    const { session_id } = await create(made, made.file("big.las", bigLasBytes(POINTS)));
    for (let i = 0; i < 30; i += 1) {
      const { edited, rebuilt, cache_id } = await step(made, session_id, i);
      expect([i, edited, rebuilt, octrees(made).includes(cache_id ?? "")]).toEqual([i, 200, 200, true]);
    }
    expect(readdirSync(made.octrees).filter((name) => name.endsWith(".staging"))).toEqual([]);
  });

  test("octrees of open sessions stay, and the failure is reported, when nothing else is left to remove", async () => {
    const disk = diskOfTest();
    const made = await appOfTest({ octreeCacheRoot: join(disk.folder, "octrees") });
    const shown: string[] = [];
    for (const seed of [1, 2, 3]) {
      const source = made.file(`${seed}.las`, bigLasBytes(POINTS, seed));
      shown.push((await create(made, source)).cache_id);
    }
    const [first] = made.deps.sessions.list();
    disk.fill(MIB / 2);
    expect(await step(made, first?.id ?? "", 1)).toMatchObject({ edited: 200, rebuilt: 507 });
    expect(octrees(made).sort()).toEqual(shown.sort());
  });

  test("an edit and an import find room too where sessions and octrees share a disk", async () => {
    const disk = diskOfTest();
    const made = await appOfTest({ dataDir: disk.folder, octreeCacheRoot: join(disk.folder, "octrees") });
    const { session_id } = await create(made, made.file("big.las", bigLasBytes(POINTS)));
    for (let i = 0; i < 3; i += 1) expect(await step(made, session_id, i)).toMatchObject({ rebuilt: 200 });
    expect(octrees(made)).toHaveLength(4);
    disk.fill(MIB / 4);
    const session = await made.deps.sessions.get(session_id);
    const column = new ColumnRef(new addon.Column("f64", new Uint8Array(8 * POINTS)));
    await session.commit(session.state, { columns: new Map([["extra/late", column]]) });
    column.release();
    expect(octrees(made)).toHaveLength(1);

    disk.empty();
    for (let i = 3; i < 8; i += 1) expect(await step(made, session_id, i)).toMatchObject({ rebuilt: 200 });
    expect(octrees(made)).toHaveLength(6);
    disk.fill(MIB);
    const tail = await create(made, made.file("two.las", bigLasBytes(POINTS, 2)));
    expect(tail.warnings ?? []).toEqual([]); // it would survive a crash
  });
});

test("octrees are private to the user, like sessions; those of an earlier version become so", async () => {
  const made = await appOfTest();
  const { cache_id, session_id } = await create(made, made.file("a.xyz", "1 2 3\n4 5 6\n"));
  const rights = (...path: string[]) => (statSync(join(made.folder, ...path)).mode & 0o777).toString(8);
  expect([rights("octrees"), rights("octrees", cache_id), rights("data", "sessions", session_id)]).toEqual([
    "700",
    "700",
    "700",
  ]);
  chmodSync(join(made.octrees, cache_id), 0o755);
  await made.deps.octreeCache.evict();
  expect(rights("octrees", cache_id)).toBe("700");
});
