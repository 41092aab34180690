import { describe, expect, test, vi } from "vitest";
import { BackfillMissesTail } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { backfilled, backfillUrl, degreesApart, missesOf, unit } from "../../support/session/backfill.ts";
import {
  amid,
  answered,
  canceledAmid,
  cloud,
  columnOf,
  failed,
  refusal,
  stateOf,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const ROWS = 12;
const COLUMNS = 20;
const ORIGIN = [1, 2, 3] as const;
const STEP = 3;
const RASTER = { n_theta: ROWS, n_phi: COLUMNS, theta_min: 60, theta_max: 93, phi_min: 0, phi_max: 57 };

function direction(row: number, column: number): [number, number, number] {
  const [theta, phi] = [60 + STEP * row, STEP * column].map((degrees) => (degrees * Math.PI) / 180) as [number, number];
  return [Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)];
}
/** Every third pulse of the upper half is a miss. */
const isMiss = (row: number, column: number) => row < 6 && (row + 2 * column) % 3 === 0;
const MISSES = 40;
interface Pulse {
  readonly row: number;
  readonly column: number;
  readonly at: readonly number[];
}
const PULSES: Pulse[] = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
  const [row, column] = [i % ROWS, Math.floor(i / ROWS)];
  const range = 4 + (i % 5);
  return { row, column, at: direction(row, column).map((d, k) => (ORIGIN[k] ?? 0) + range * d) };
});
const HITS = PULSES.filter(({ row, column }) => !isMiss(row, column));

/** A session of pulses with further columns. */
const session = async (header = "", more: (pulse: Pulse, i: number) => string = () => "", pulses = HITS) =>
  (await cloud(made, [`x y z ${header}`, ...pulses.map((pulse, i) => `${pulse.at.join(" ")} ${more(pulse, i)}`)]))
    .session_id;
const gridded = (pulses = HITS) => session("row_index column_index", ({ row, column }) => `${row} ${column}`, pulses);
const backfill = async (id: string, request: object = {}) =>
  (await backfilled(made, id, { origin: ORIGIN, ...request })).tail;

/** Deletes the hits with from <= x <= to. */
const removed = async (id: string, from: number, to: number) => {
  const region = { kind: "box", min: [from, -99, -99], max: [to, 99, 99] };
  return (await made.post(id, "delete_region", { region })).json();
};

/** The recovered misses are those of the formula. */
async function expectTheMisses(id: string, degrees = 1e-6) {
  const misses = await missesOf(made, id);
  expect(misses).toHaveLength(MISSES);
  for (const { at, row = -1, column = -1 } of misses) {
    expect(isMiss(row, column)).toBe(true);
    const away = at.map((value, k) => value - (ORIGIN[k] ?? 0)) as [number, number, number];
    expect(Math.hypot(...away)).toBeCloseTo(20_000, 6);
    expect(degreesApart(unit(away), direction(row, column))).toBeLessThan(degrees);
  }
}

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
    await expectTheMisses(id);
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
    await expectTheMisses(id);
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
    await expectTheMisses(id);
  });
});

describe("other routes", () => {
  test("the settings of the scanner", async () => {
    const id = await session();
    const tail = await backfill(id, RASTER);
    expect(tail.backfilled).toBe(MISSES);
    expect(tail.warnings?.join()).toMatch(/by the declared raster of the scan: 12 rows, 20 columns/);
    await expectTheMisses(id);
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

describe("refusals", () => {
  const refused = async (id: string, request: object) => refusal(made, backfillUrl(id), request);

  test("an unknown session, origins and sweeps that are none", async () => {
    expect(await refused("00000000", { origin: ORIGIN })).toEqual(UNKNOWN);
    const id = await gridded();
    expect(await refused(id, { origin: [1, 2] })).toEqual([400, "origin must be three finite numbers, not [1, 2]"]);
    for (const sweep of [{ theta_min: 90, theta_max: 80 }, { theta_max: 181 }, { phi_max: 361 }, { phi_min: 400 }])
      expect(await refused(id, { origin: ORIGIN, ...sweep })).toEqual([400, expect.stringMatching(/theta_|phi_/)]);
  });

  test("a scan that tells nothing of its pulses, and one whose scanner is not known", async () => {
    const id = await session();
    expect(await refused(id, { origin: ORIGIN })).toEqual([
      400,
      "The misses of this scan cannot be recovered: it has no time stamps, it has no columns row_index and column_index, and n_theta and n_phi are not given.",
    ]);
    expect(await refused(id, { ...RASTER, origin: ORIGIN, origin_known: false })).toEqual([
      400,
      expect.stringMatching(/origin_known is false/),
    ]);
    const trajectory = { poses: [0, 9].map((t) => ({ t, x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 })) };
    expect(await refused(id, { ...RASTER, origin: ORIGIN, trajectory })).toEqual([
      400,
      expect.stringMatching(/no time stamps, and a moving scanner has no fixed raster/),
    ]);
  });

  test("misses that the cloud has already: plain JSON, and nothing changes", async () => {
    const id = await session(
      "row_index column_index is_miss",
      ({ row, column }) => `${row} ${column} ${isMiss(row, column) ? 1 : 0}`,
      PULSES,
    );
    const before = await stateOf(made, id);
    expect(await answered(made, BackfillMissesTail, backfillUrl(id), { origin: ORIGIN })).toEqual({
      backfilled: 0,
      miss_count: 0,
      has_misses: true,
      scan_origin: ORIGIN,
      already_had_misses: true,
    });
    expect(await stateOf(made, id)).toBe(before);
  });

  test("points that are not on the raster: the reason in the tail", async () => {
    const id = await session();
    const before = await stateOf(made, id);
    const { error, tail } = await failed(made, backfillUrl(id), { ...RASTER, origin: [9, 9, 9] });
    expect(error).toMatch(/do not sit on the declared raster \(n_theta 12, n_phi 20/);
    expect(tail).toMatchObject({ backfilled: 0, miss_count: 0, has_misses: false, code: "invalid_argument" });
    expect(tail).not.toHaveProperty("success");
    expect(await stateOf(made, id)).toBe(before);
  });

  test("the memory for a raster that is much larger than the cloud is admitted", async () => {
    const wide = await session(
      "row_index column_index",
      ({ row, column }) => `${row} ${column + 50_000 * (column >> 4)}`,
    );
    const admitted = vi.spyOn(made.deps.admission, "run");
    const { miss_count } = await backfill(wide);
    const bytes = admitted.mock.calls.find(([, label]) => label === "Backfill")?.[2];
    admitted.mockRestore();
    expect(miss_count).toBe(ROWS * (50_000 + COLUMNS) - HITS.length);
    expect(bytes).toBeGreaterThan(ROWS * 50_000 * 92);
    expect(bytes).toBeLessThan(2 * ROWS * 50_000 * 92);
  });

  test("cells that would take all memory, and clocks of another kind", async () => {
    const wild = await session("row_index column_index", ({ row, column }, i) =>
      i === 0 ? "2000000000 2000000000" : `${row} ${column}`,
    );
    expect((await failed(made, backfillUrl(wild), { origin: ORIGIN })).error).toMatch(/more than 200000000 pulses/);
    const timed = await session("timestamp", (_pulse, i) => String(5 + i));
    const trajectory = { poses: [1e9, 1e9 + 500].map((t) => ({ t, x: 0, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 })) };
    expect((await failed(made, backfillUrl(timed), { origin: ORIGIN, trajectory })).error).toMatch(/about 1e9/);
  });
});

describe("the buffer", () => {
  test("is stale after a deletion or a filter, not after one that selects nothing; a new backfill clears it", async () => {
    const id = await gridded();
    const stale = async () => (await stateOf(made, id)).meta.backfilled_misses_stale;
    await removed(id, 1, 9);
    expect(await stale()).toBe(false); // no buffer yet
    await made.post(id, "reset_edits", {});
    await backfill(id);
    await removed(id, 1000, 1001);
    expect(await stale()).toBe(false);
    expect(await removed(id, 1, 1.5)).toMatchObject({ backfilled_misses_stale: true });
    await made.post(id, "reset_edits", {});
    expect(await stale()).toBe(true);
    await backfill(id);
    expect(await stale()).toBe(false);
    const region = { kind: "box", min: [-99, -99, -99], max: [2, 99, 99] };
    await made.post(id, "filter", { region, rebuild: false });
    expect(await stale()).toBe(true);
  });

  test("moves with the cloud, and is marked until the next backfill", async () => {
    const id = await gridded();
    const { miss_octree_cache_id } = await backfill(id);
    const before = await missesOf(made, id);
    await made.post(id, "transform", { matrix: [0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30, 0, 0, 0, 1] });
    const { meta } = await stateOf(made, id);
    expect(meta).toMatchObject({
      backfilled_misses_stale: true,
      backfilled_misses_moved: true,
      miss_octree_origin: [8, 21, 33],
    });
    expect(meta.miss_octree_cache_id).not.toBe(miss_octree_cache_id);
    const after = await missesOf(made, id);
    for (const [i, { at }] of after.entries()) {
      const [x = 0, y = 0, z = 0] = before[i]?.at ?? [];
      expect(at).toEqual([10 - y, 20 + x, 30 + z]);
    }
    await backfill(id, { origin: [8, 21, 33] });
    expect((await stateOf(made, id)).meta).toMatchObject({
      backfilled_misses_stale: false,
      backfilled_misses_moved: false,
    });
  });

  test("does not go to children; the octrees are rebuilt with it", async () => {
    const id = await gridded();
    const { miss_octree_cache_id } = await backfill(id);
    const child = (await made.post(id, "duplicate", {})).json() as { duplicate: { session_id: string } };
    expect((await stateOf(made, child.duplicate.session_id)).misses.size).toBe(0);
    const again = (await made.post(id, "rebuild_octree", {})).json() as { miss_octree_cache_id: string };
    expect(again.miss_octree_cache_id).toBe(miss_octree_cache_id);
  });

  test("canceled, or overtaken by an edit, it stays as it was", async () => {
    const id = await gridded();
    const before = await stateOf(made, id);
    const request = { origin: ORIGIN };
    await canceledAmid(made, "recoverMisses", () =>
      made.app.inject({ method: "POST", url: backfillUrl(id), payload: request }),
    );
    expect(await stateOf(made, id)).toBe(before);
    const overtaken = await amid(
      "recoverMisses",
      () => removed(id, 1, 1.5),
      () => failed(made, backfillUrl(id), request),
    );
    expect(overtaken.error).toMatch(/the cloud changed while this operation ran/);
    expect((await stateOf(made, id)).misses.size).toBe(0);
  });
});
