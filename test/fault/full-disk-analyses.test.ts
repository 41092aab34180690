import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { makeApp, type TestApp } from "../support/app/app.ts";
import { type SmallDisk, smallDisk } from "../support/run/small-disk.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { textOf } from "../support/session-pairs/answers.ts";
import { OPERATIONS } from "../support/session-pairs/operations.ts";
import { Pairs } from "../support/session-pairs/pairs.ts";

/*
 * A disk that is full while an analysis runs: it succeeds as with space, or fails with no_space and changes nothing, and
 * succeeds when there is space again. A few in `npm test`; APP_TEST_PAIRS=all runs every operation.
 */

const MIB = 1 << 20;
const ALL = process.env.APP_TEST_PAIRS === "all";
const SOME = ["denoise", "trees", "dem", "inventory", "commit_labels"];
/** Makes strokes permanent when it begins, whatever comes of the octree: contract sessions, section 4.3. */
const ON_ARRIVAL = "commit_labels";
/** Free bytes: none, and some, which the first of what is written takes. */
const LEFT = [0, 24 * 1024];
const probe = smallDisk(MIB);
probe?.unmount();
let disk: SmallDisk;
let made: TestApp;
let pairs: Pairs;
let refused = 0;

beforeAll(async () => {
  const mounted = probe && smallDisk(96 * MIB);
  if (!mounted) return;
  disk = mounted;
  made = await makeApp({ dataDir: `${disk.folder}/data`, octreeCacheRoot: `${disk.folder}/octrees` });
  const base = await made.app.listen({ host: "127.0.0.1", port: 0 });
  pairs = await Pairs.begin(made, base);
});
afterAll(async () => {
  await made?.close();
  disk?.unmount();
});

/** Files that are no part of an octree or a session that is there. */
const partials = () =>
  readdirSync(disk.folder, { recursive: true })
    .map(String)
    .filter((name) => /staging|\.(new|tmp|partial)\b/.test(name));

const operations = OPERATIONS.filter(({ name }) => ALL || SOME.includes(name));
const chosen = operations.flatMap((operation, i) =>
  (ALL ? LEFT : [LEFT[i % LEFT.length] ?? 0]).map((left) => [operation.name, left, operation] as const),
);
describe.skipIf(!probe)("a full disk", () => {
  test.each(chosen)("%s with %d bytes left", async (_name, left, operation) => {
    const before = addon.bulkBytesInUse();
    const { start, full, again, alone } = await pairs.withoutSpace(operation, disk, left);
    expect(alone.outcome.said).toMatch(/^(done|not_found|invalid_argument)$/);
    if (again) {
      refused += 1;
      expect(textOf(full.world)).toBe(textOf(operation.name === ON_ARRIVAL ? alone.world : start));
      expect(full.outcome.text).toMatch(/space/i);
      expect([again.outcome.said, again.outcome.text]).toEqual([alone.outcome.said, alone.outcome.text]);
      expect(textOf(again.world)).toBe(textOf(alone.world));
    } else {
      expect([full.outcome.said, full.outcome.text]).toEqual([alone.outcome.said, alone.outcome.text]);
      expect(textOf(full.world)).toBe(textOf(alone.world));
    }
    expect(partials()).toEqual([]);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  });

  test("some were refused, some succeeded, and nothing was logged as a fault of the service", () => {
    expect([refused > 1, refused < chosen.length]).toEqual([true, true]);
    expect(made.log.filter(({ level, msg }) => level >= 50 && !/-> 507: .*No space left/.test(msg ?? ""))).toEqual([]);
  });
});
