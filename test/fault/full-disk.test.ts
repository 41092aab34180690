import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { decodeJournal } from "../../backend/sessions/journal-codec.ts";
import { appOfTest, create, exported, exportTail, run } from "../support/app/app.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";

const MIB = 1 << 20;
const POINTS = 200_000; // 4.8 MB of coordinates
const CREATE = "/api/cloud/session/create";
const probe = smallDisk(MIB);
probe?.unmount();
let disk: SmallDisk;
beforeAll(() => {
  if (!probe) return;
  const mounted = smallDisk(8 * MIB);
  if (mounted) disk = mounted;
});
afterEach(() => disk?.empty());
afterAll(() => disk?.unmount());

describe.skipIf(!probe)("a full disk", () => {
  test("in the octree cache: the create fails with no_space and leaves nothing", async () => {
    const made = await appOfTest({ octreeCacheRoot: join(disk.folder, "octrees") });
    const before = addon.bulkBytesInUse();
    disk.fill(MIB);
    const { outcome } = await run(made, CREATE, { source_path: made.file("big.las", bigLasBytes(POINTS)) });
    expect(outcome).toMatchObject({
      kind: "failed",
      code: "no_space",
      error: expect.stringMatching(/octree\.bin|space/),
    });
    expect(readdirSync(made.octrees).filter((name) => name !== ".leases")).toEqual([]);
    expect(readdirSync(made.sessions)).toEqual([]);
    expect([made.deps.sessions.list(), addon.bulkBytesInUse()]).toEqual([[], before]);
    disk.empty();
    expect((await create(made, join(made.folder, "big.las"))).point_count).toBe(POINTS);
  });

  test.each([
    ["too little for the columns", MIB],
    ["none at all", 0],
  ])(
    "in the session store, %s: the cloud opens with the warning that it would not survive a crash",
    async (_name, left) => {
      const made = await appOfTest({ dataDir: disk.folder });
      const source = made.file("big.las", bigLasBytes(POINTS));
      disk.fill(left);
      const tail = await create(made, source);
      expect(tail.point_count).toBe(POINTS);
      expect(tail.warnings).toEqual([expect.stringMatching(/no space left .*would not survive a crash/)]);
      expect(readdirSync(made.sessions)).toEqual([]);
      const list = (await made.app.inject({ url: "/api/cloud/sessions" })).json() as object;
      expect(list).toMatchObject({ sessions: [{ state: "ready", problems: tail.warnings, disk_bytes: 0 }] });
      const rebuilt = await made.app.inject({
        method: "POST",
        url: `/api/cloud/session/${tail.session_id}/rebuild_octree`,
      });
      expect(rebuilt.statusCode).toBe(200);
      expect((await exported(made, tail.session_id, "las")).length).toBeGreaterThan(20 * POINTS);
      expect(await made.deps.sessions.delete(tail.session_id)).toBe(true);
    },
  );

  test("an edit that cannot be saved is an error and changes nothing; the next one succeeds when there is space again", async () => {
    const made = await appOfTest({ dataDir: disk.folder });
    const { session_id } = await create(made, made.file("a.xyz", "1 2 3\n4 5 6\n"));
    const session = await made.deps.sessions.get(session_id);
    const saved = () =>
      decodeJournal(readFileSync(join(made.sessions, session_id, "journal.log"))).records.filter(
        ({ type }) => type === "commit",
      );
    disk.fill();
    const big = Array.from({ length: 30_000 }, (_, i) => i / 7); // does not fit the last block of the journal
    const before = session.state;
    await expect(session.commit(before, { meta: { octree_pose: big } })).rejects.toMatchObject({ code: "ENOSPC" });
    expect(session.state).toBe(before);
    const rebuild = () => made.app.inject({ method: "POST", url: `/api/cloud/session/${session_id}/rebuild_octree` });
    await expect(session.commit(before, { meta: { octree_pose: [...big, 1] } })).rejects.toMatchObject({
      code: "ENOSPC",
    });
    expect(saved()).toEqual([]);
    disk.empty();
    await session.commit(session.state, { meta: { octree_stale_gen: 7 } });
    expect(saved()).toEqual([{ type: "commit", columns: {}, meta: { octree_stale_gen: 7 } }]);
    expect(session.state.meta).toMatchObject({ octree_stale_gen: 7, octree_pose: null });
    expect((await rebuild()).statusCode).toBe(200);
  });

  test("at dest_path: success false with the reason, no file", async () => {
    const made = await appOfTest({});
    const { session_id } = await create(made, made.file("big.las", bigLasBytes(POINTS)));
    disk.fill(MIB);
    const before = readdirSync(disk.folder);
    for (const format of ["las", "csv", "ply", "asc", "pts", "pcd"]) {
      const tail = await exportTail(made, {
        source: { session_id },
        format,
        dest_path: join(disk.folder, `out.${format}`),
      });
      expect(tail).toMatchObject({
        success: false,
        code: "no_space",
        filename: "",
        point_count: 0,
        error: expect.stringMatching(/^Export failed: /),
      });
      expect(readdirSync(disk.folder)).toEqual(before);
    }
  });
});
