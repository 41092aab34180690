import { describe, expect, test, vi } from "vitest";
import { BackfillMissesTail } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { backfillUrl, missesOf } from "../../support/session/backfill.ts";
import { COLUMNS, HITS, isMiss, missRaster, ORIGIN, PULSES, RASTER, ROWS } from "../../support/session/miss-raster.ts";
import {
  amid,
  answered,
  canceledAmid,
  failed,
  refusal,
  stateOf,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { session, gridded, backfill, removed } = missRaster(made);

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
