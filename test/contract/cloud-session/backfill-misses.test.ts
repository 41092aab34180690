import { describe, expect, test } from "vitest";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { backfilled, backfillUrl, missesOf } from "../../support/session/backfill.ts";
import {
  COLUMNS,
  expectTheMisses,
  HITS,
  isMiss,
  MISSES,
  missRaster,
  ORIGIN,
  PULSES,
  RASTER,
  ROWS,
} from "../../support/session/miss-raster.ts";
import { columnOf, failed, refusal, stateOf } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { session, gridded, backfill, removed } = missRaster(made);

describe("rows and columns", () => {
  test("every empty cell is a miss; the points do not change, the overlay shows them", async () => {
    const id = await gridded();
    const before = await columnOf(made, id, "positions");
    const { tail, stages } = await backfilled(made, id, { origin: ORIGIN });
    expect(tail).toMatchObject({
      backfilled: MISSES,
      miss_count: MISSES,
      has_misses: true,
      scan_origin: ORIGIN,
      already_had_misses: false,
      restored_deleted_hits: 0,
    });
    expect(tail.warnings).toEqual([
      "The misses were placed by the rows and columns of the scan: 12 rows, 20 columns; half of the points lie within 0.0010 steps of their pulses.",
    ]);
    const labels = stages.filter(([, label]) => /^(Reading scan|Building cloud|Recons|Storing|Done)/.test(label));
    const first = labels.filter(([, label], i) => labels.findIndex((other) => other[1] === label) === i);
    expect(first.map(([at, label]) => [label, at])).toEqual([
      ["Reading scan", 0.05],
      ["Building cloud (200 points)", 0.15],
      ["Reconstructing misses", null],
      ["Storing misses", 0.9],
      ["Done", 1],
    ]);
    await expectTheMisses(made, id);
    expect(await columnOf(made, id, "positions")).toEqual(before);
    const { meta } = await stateOf(made, id);
    expect(meta).toMatchObject({ miss_octree_origin: ORIGIN, miss_octree_cache_id: tail.miss_octree_cache_id });
    expect(octreePoints(made.octrees, tail.miss_octree_cache_id ?? "")).toHaveLength(MISSES);
  });

  test("deleted hits are no misses, and dropped ones are", async () => {
    const id = await gridded();
    await removed(id, 1.2, 2);
    const { undo } = await stateOf(made, id);
    const deleted = undo.deletes[0]?.count ?? 0;
    expect(deleted).toBeGreaterThan(10);
    const restored = await backfill(id);
    expect(restored).toMatchObject({ backfilled: MISSES, restored_deleted_hits: deleted });
    expect(restored.warnings?.join() ?? "").not.toContain("dropped");
    await expectTheMisses(made, id);
    await made.post(id, "bake", {});
    expect((await stateOf(made, id)).meta.unrestorable_hit_count).toBe(deleted);
    const dropped = await backfill(id);
    expect(dropped).toMatchObject({ backfilled: MISSES + deleted, restored_deleted_hits: 0 });
    const said = new RegExp(`^${deleted} hits of the scan were dropped by a bake.*taken as misses`);
    expect(dropped.warnings).toContainEqual(expect.stringMatching(said));
    expect((await stateOf(made, id)).meta.unrestorable_hit_count).toBe(0);
  });

  test("rows that the returns do not show are declared", async () => {
    const id = await gridded();
    expect(await backfill(id, { n_theta: ROWS + 2, n_phi: COLUMNS })).toMatchObject({
      backfilled: MISSES + 2 * COLUMNS,
    });
  });

  test("a full raster has no misses: the buffer is emptied", async () => {
    const id = await gridded();
    await backfill(id);
    const full = await gridded(PULSES);
    expect(await backfill(full)).toMatchObject({ backfilled: 0, has_misses: false, miss_octree_cache_id: null });
    expect((await stateOf(made, full)).misses.size).toBe(0);
  });

  test("misses without a direction do not count, and are recovered", async () => {
    const header = "row_index column_index is_miss";
    const id = await session(
      header,
      ({ row, column }) => `${row} ${column} ${isMiss(row, column) ? 1 : 0}`,
      PULSES.map((pulse) => (isMiss(pulse.row, pulse.column) ? { ...pulse, at: [...ORIGIN] } : pulse)),
    );
    expect(await backfill(id)).toMatchObject({ backfilled: MISSES, already_had_misses: false });
    await expectTheMisses(made, id);
  });
});

describe("other routes", () => {
  test("the settings of the scanner", async () => {
    const id = await session();
    const tail = await backfill(id, RASTER);
    expect(tail.backfilled).toBe(MISSES);
    expect(tail.warnings?.join()).toMatch(/by the declared raster of the scan: 12 rows, 20 columns/);
    await expectTheMisses(made, id);
  });

  test("the pulse clock, whose misses have times", async () => {
    const id = await session("timestamp", ({ row, column }) => String(3e8 + 0.25 * (row + (ROWS + 3) * column)));
    const tail = await backfill(id, RASTER);
    expect(tail.warnings?.join()).toMatch(/by the pulse clock of the scan/);
    const misses = await missesOf(made, id);
    expect(misses).toHaveLength(MISSES);
    for (const { time = 0, row } of misses) {
      expect(row).toBeUndefined();
      const pulse = (time - 3e8) / 0.25;
      const number = Math.round(pulse);
      expect(pulse).toBeCloseTo(number, 4);
      expect(isMiss(number % (ROWS + 3), Math.floor(number / (ROWS + 3)))).toBe(true);
    }
  });

  test.each([
    ["equal", () => 7, /all its time stamps are equal/],
    ["rounded", (i: number) => Math.floor(i / 40), /time stamps are rounded/],
  ])("%s times are not used", async (_, time, why) => {
    const id = await session("timestamp", (_pulse, i) => String(time(i)));
    const tail = await backfill(id, RASTER);
    expect(tail).toMatchObject({ backfilled: MISSES });
    expect(tail.warnings?.join()).toMatch(why);
    const [status, sentence] = await refusal(made, backfillUrl(id), { origin: ORIGIN });
    expect([status, sentence]).toEqual([400, expect.stringMatching(why)]);
  });

  test("a clock that gives no lines: the raster is used, and it is said", async () => {
    const id = await session("timestamp", (_pulse, i) => String(((i * 7919) % 200) * 0.1));
    const tail = await backfill(id, RASTER);
    expect(tail).toMatchObject({ backfilled: MISSES });
    expect(tail.warnings?.[0]).toMatch(/^The misses could not be placed by the pulse clock of the scan: /);
  });
});

describe("rows of the pulse clock without a return", () => {
  /** Lines of ROWS + idle pulses; the returns of the rows from `first` on. */
  const timed = (idle: number, first = 0, cells = false) =>
    session(
      cells ? "timestamp row_index column_index" : "timestamp",
      ({ row, column }) => `${3e8 + 0.25 * (row + (ROWS + idle) * column)}${cells ? ` ${row} ${column}` : ""}`,
      HITS.filter(({ row }) => row >= first),
    );
  const ZENITH = { theta_min: 60, theta_max: 93 };

  test.each([
    ["idle pulses", 3, 0, 3, 15],
    ["a sky without a return", 0, 6, 6, 12],
  ])("%s: refused without the limits of the sweep, whatever the size of the raster", async (_, idle, first, n, of) => {
    const id = await timed(idle, first);
    const before = await stateOf(made, id);
    for (const size of [{}, { n_theta: ROWS, n_phi: COLUMNS }, { theta_min: 60 }, { theta_max: 93 }]) {
      const { error, tail } = await failed(made, backfillUrl(id), { origin: ORIGIN, ...size });
      expect(error).toMatch(new RegExp(`^${n} of ${of} pulses of a line have no return.*send theta_min and theta_max`));
      expect(tail).toMatchObject({ code: "invalid_argument", has_misses: false });
    }
    expect(await stateOf(made, id)).toBe(before);
  });

  test("are placed within limits that are sent, and wider limits than a line has pulses are told", async () => {
    const id = await timed(0, 6);
    const upper = await backfill(id, ZENITH);
    expect(upper.backfilled).toBe(6 * COLUMNS);
    expect(upper.warnings).toHaveLength(1);
    for (const { at } of await missesOf(made, id)) expect(at[2]).toBeGreaterThan(0); // zenith angles 60 to 75
    const wide = await backfill(id, { theta_min: 0, theta_max: 180 });
    expect(wide.backfilled).toBe(6 * COLUMNS);
    expect(wide.warnings?.[0]).toMatch(
      /^theta_min 0 and theta_max 180 hold 61 pulses of a line, but a line has 12\. Of those without a return, 6 are placed at zenith angles above 93 and 0 at such below 78/,
    );
  });

  test("do not matter where every pulse of a line has returns, and where rows and columns are known", async () => {
    const full = await backfill(await timed(0));
    expect(full).toMatchObject({ backfilled: MISSES, warnings: [expect.stringMatching(/by the pulse clock/)] });
    const gridded = await backfill(await timed(3, 0, true));
    expect(gridded).toMatchObject({
      backfilled: MISSES,
      warnings: [
        expect.stringMatching(/^The misses could not be placed by the pulse clock.*3 of 15 pulses/),
        expect.stringMatching(/by the rows and columns/),
      ],
    });
  });
});
