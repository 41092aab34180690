import { describe, expect, test } from "vitest";
import { halfIntercepted } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** Origins that are far from the hits, as after a typing error or in other units. */

const made = sessionTest();
const { compute } = ladCalls(made);
const FAR = /has its origin/;

/** A scan whose pulses do not state their origins; hits 1 m wide, misses at x = 1000. */
const scan = (origin: readonly number[], more: object = {}) => {
  const { points, scalar_columns } = halfIntercepted();
  return { origin, points, scalar_columns: { is_miss: scalar_columns.is_miss }, ...more };
};
const warned = async (given: object) => (await compute({ scans: [given] })).warnings.filter((text) => FAR.test(text));

describe("an origin far from the hits is told", () => {
  test.each([
    [[-1010, 0, 0], "-1010, 0, 0, 1010 m beside its hits, which span 1.31 m"],
    [[0, 0, -500], "0, 0, -500, 500 m below its hits"],
    [[0, 0, 50_000], "0, 0, 50000, 50000 m above its hits"],
    [[900, 900, 400], "900, 900, 400, 1270 m beside its hits"],
  ])("%j", async (origin, told) => {
    expect(await warned(scan(origin, { label: "south" }))).toEqual([
      expect.stringContaining(`Scan "south" has its origin, ${told}`),
    ]);
  });

  test("of a session with a world shift, deleted hits included", async () => {
    const { points, scalar_columns } = halfIntercepted();
    const rows = points.map(([x, y, z], i) => `${x + 450_000} ${y + 5_400_000} ${z} ${scalar_columns.is_miss?.[i]}`);
    const header = "x y z is_miss";
    const { session_id } = await cloud(made, [header, ...rows], { world_shift: [450_000, 5_400_000, 0] });
    const grid = { center: [450_000, 5_400_000, 0], size: [1, 1, 1], nx: 1, ny: 1, nz: 1 };
    const of = async (origin: number[]) =>
      (await compute({ scans: [{ session_id, origin }], grid })).warnings.filter((text) => FAR.test(text));
    expect(await of([449_990, 5_400_000, 0])).toEqual([]);
    expect(await of([0, 0, 0])).toEqual([expect.stringContaining("Scan 1 has its origin, 0, 0, 0, 5420000 m beside")]);
    await made.remove(session_id, -1, 1);
    expect(await of([449_990, 5_400_000, 0])).toEqual([]);
  });
});

describe("nothing is told", () => {
  test.each([
    ["of a scanner in the field", [-150, 60, 2]],
    ["of an aircraft", [0, 0, 1500]],
    ["of one that looks aside", [900, 0, 1500]],
  ])("%s", async (_, origin) => {
    expect(await warned(scan(origin))).toEqual([]);
  });

  test("if the pulses have their own origins", async () => {
    expect(await warned({ ...halfIntercepted(), origin: [9e6, 0, 0] })).toEqual([]);
  });
});

test("a wide scan may have its scanner farther away", async () => {
  const points = Array.from({ length: 400 }, (_, i) => [(i % 20) * 10, Math.floor(i / 20) * 10, 0]);
  const wide = (origin: number[]) => ({
    origin,
    points,
    scalar_columns: { is_miss: points.map((_, i) => (i < 5 ? 1 : 0)) },
  });
  expect(await warned(wide([-1000, 0, 0]))).toEqual([]);
  expect(await warned(wide([-2000, 0, 0]))).toHaveLength(1);
});
