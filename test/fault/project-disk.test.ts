import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { appOfTest, create, run } from "../support/app/app.ts";
import { randomUnits } from "../support/fit/random-expression.ts";
import { contentsOf, opened, saved, staged } from "../support/project/project.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { bigLasBytes } from "../support/scans/las-bytes.ts";
import { stateOf } from "../support/session/session-edits.ts";

const MIB = 1 << 20;
const POINTS = 200_000;
/** Random shares of a save for which there is room, besides the fixed ones. */
const FILLS = Number(process.env.APP_TEST_SAVE_FILLS ?? 4);
const probe = smallDisk(MIB);
probe?.unmount();
let disk: SmallDisk;
beforeAll(() => {
  const mounted = probe && smallDisk(16 * MIB);
  if (mounted) disk = mounted;
});
afterEach(() => disk?.empty());
afterAll(() => disk?.unmount());

describe.skipIf(!probe)("a full disk", () => {
  test("during saves: the earlier project stays, no partial is left, and the sentence says what is missing", async () => {
    const made = await appOfTest();
    const { session_id } = await create(made, made.file("big.las", bigLasBytes(POINTS)));
    const path = join(disk.folder, "plot.proj");
    const { bytes } = await saved(made, path, [session_id]);
    const old = readFileSync(path);
    const save = async () =>
      (await run(made, "/api/project/save", { path, scene_token: await staged(made), session_ids: [session_id] }))
        .outcome;
    const unit = randomUnits(19);
    const random = Array.from({ length: FILLS }, () => 0.999 * unit());
    for (const part of [0, 0.1, 0.5, 0.93, 0.97, 0.999, ...random]) {
      disk.fill(Math.floor(part * bytes));
      expect(await save(), `${part}`).toMatchObject({ kind: "failed", code: "no_space" });
      disk.empty();
      expect(readFileSync(path).equals(old)).toBe(true);
      expect(readdirSync(disk.folder)).toEqual(["plot.proj"]);
    }
    disk.fill(0);
    expect(await save()).toMatchObject({ error: expect.stringMatching(/needs about \d+ MiB.* 0 MiB left/) });
    disk.empty();
    expect(await save()).toMatchObject({ kind: "json" });
  });

  test("during an open: nothing is left of it", async () => {
    const source = await appOfTest();
    const path = join(source.folder, "plot.proj");
    const { session_id } = await create(source, source.file("big.las", bigLasBytes(POINTS)));
    await saved(source, path, [session_id]);
    const made = await appOfTest({ dataDir: disk.folder });
    const before = addon.bulkBytesInUse();
    for (const left of [4 * MIB, MIB, 0]) {
      disk.fill(left);
      const { outcome } = await run(made, "/api/project/open", { path });
      expect(outcome, `${left}`).toMatchObject({ kind: "failed", code: "no_space" });
      disk.empty();
      const folder = join(disk.folder, "sessions");
      expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
      expect([made.deps.sessions.list(), addon.bulkBytesInUse()]).toEqual([[], before]);
    }
    const { session_map } = await opened(made, path);
    const id = session_map[session_id] as string;
    expect(contentsOf(await stateOf(made, id))).toEqual(contentsOf(await stateOf(source, session_id)));
    expect(statSync(path).size).toBeGreaterThan(0);
  });
});
