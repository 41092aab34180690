import { describe, expect, test } from "vitest";
import { parallelBeams, scanRows, UNIT_GRID } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute, failure } = ladCalls(made);

const COUNT = 400;
/** Cosine of the hits of a spherical law. */
const HIT_COSINE = 2 / 3;

/**
 * 400 pulses through a voxel of 1 m. `returns` says how much of the energy of a leaf that faces the beam each return of a
 * pulse has, and whether a part of the pulse passes.
 */
function pulses(returns: (i: number) => { readonly energy: readonly number[]; readonly passes: boolean }, leaf = 1) {
  const { origin, points, scalar_columns } = parallelBeams(1, 20, () => null);
  const rows = points.flatMap((point, i) => {
    const { energy, passes } = returns(i);
    const hits = energy.map((value, index) => ({ i, at: [-0.2 + 0.3 * index, point[1], point[2]], index, value }));
    return passes ? [...hits, { i, at: point, index: 99, value: 0 }] : hits;
  });
  const of = (name: string) => rows.map(({ i }) => scalar_columns[name]?.[i] ?? Number.NaN);
  return {
    origin,
    points: rows.map(({ at }) => at as [number, number, number]),
    return_type: "multi",
    leaf_intensity: leaf,
    scalar_columns: {
      is_miss: rows.map(({ index }) => (index === 99 ? 1 : 0)),
      timestamp: rows.map(({ i }) => i),
      target_index: rows.map(({ index }) => index),
      target_count: rows.map(({ i }) => returns(i).energy.length),
      intensity: rows.map(({ value }) => value * leaf),
      origin_x: of("origin_x"),
      origin_y: of("origin_y"),
      origin_z: of("origin_z"),
    },
  };
}

const ENERGY = {
  return_weights: "energy",
  gtheta_spec: { spatial: "constant", spec: { kind: "dewit", dewit: "spherical" } },
};
const request = (scan: ReturnType<typeof pulses>) => ({ ...ENERGY, scans: [scan], grid: UNIT_GRID });

test("pulses with several returns in a scan that is not declared to have them are told", async () => {
  const scan = pulses((i) => ({ energy: i % 2 === 0 ? [0.2, 0.1] : [0.3], passes: true }));
  const { return_weights: _, ...plain } = request(scan);
  const { warnings } = await compute({ ...plain, scans: [{ ...scan, return_type: "single" }] });
  const said = /^Scan 1 has 600 points of pulses with several returns.*return_type multi/;
  expect(warnings).toContainEqual(expect.stringMatching(said));
  const declared = await compute(plain);
  expect(declared.warnings.join()).not.toMatch(/points of pulses with several returns/);
});

describe("returns weighed by their energy", () => {
  test("a quarter of each pulse is intercepted by a leaf of mean cosine, whatever the unit of the intensities", async () => {
    for (const leaf of [1, 4000]) {
      const scan = pulses(() => ({ energy: [0.25 * HIT_COSINE], passes: true }), leaf);
      const tail = await compute(request(scan));
      expect(tail).toMatchObject({ return_weights: "energy", return_mode: "multi", warnings: [] });
      expect(tail.hit_cosine).toBeCloseTo(HIT_COSINE, 4);
      expect(tail.cells[0]?.relative_density_index).toBeCloseTo(0.25, 4);
      expect(tail.cells[0]?.lad).toBeCloseTo(-Math.log(0.75) / 0.5, 3);
      expect(tail.cells[0]).toMatchObject({ beam_count: COUNT, hit_count: COUNT });
    }
    const alike = await compute({
      ...request(pulses(() => ({ energy: [0.1], passes: true }))),
      return_weights: "equal",
    });
    expect(alike.cells[0]?.relative_density_index).toBeCloseTo(0.5, 9);
    expect(alike).toMatchObject({ return_weights: "equal", hit_cosine: null });
    expect(alike.warnings).toEqual([expect.stringMatching(/count alike.*return_weights energy/)]);
  });

  test("of sessions and files, in the unit of their intensities", async () => {
    for (const leaf of [1, 4000]) {
      // Different energies, so that the import scales them: half a leaf or a tenth of it behind a miss of the rest.
      const scan = pulses((i) => ({ energy: [(i % 2 === 0 ? 0.5 : 0.1) * HIT_COSINE], passes: true }), leaf);
      const wanted = (await compute(request(scan))).cells[0];
      expect(wanted?.relative_density_index).toBeCloseTo(0.3, 4);
      const path = made.file(`pulses-${leaf}.txt`, `${scanRows(scan).join("\n")}\n`);
      const { session_id } = await cloud(made, scanRows(scan));
      const { return_type, leaf_intensity, origin } = scan;
      for (const source of [{ session_id }, { file_path: path, allow_file_source: true }]) {
        const tail = await compute({ ...ENERGY, scans: [{ ...source, return_type, leaf_intensity, origin }] });
        const [cell] = tail.cells;
        expect(tail).toMatchObject({ return_weights: "energy", return_mode: "multi", warnings: [] });
        expect(cell).toMatchObject({ beam_count: COUNT, hit_count: COUNT });
        expect(cell?.relative_density_index).toBeCloseTo(0.3, 4);
        expect(cell?.lad).toBeCloseTo(wanted?.lad ?? 0, 3);
        expect(cell?.lad_variance).toBeCloseTo(wanted?.lad_variance ?? 0, 4);
        const twice = await compute({
          ...ENERGY,
          scans: [{ ...source, return_type, leaf_intensity: 2 * leaf, origin }],
        });
        expect(twice.cells[0]?.relative_density_index).toBeCloseTo(0.15, 4);
      }
    }
  });

  test("energies above those of leaves are told", async () => {
    // A tenth of the pulses that return something returns 0.9, the others half of that.
    const told = async (leaf_intensity: number, passes: boolean) => {
      const scan = pulses((i) =>
        i % 2 === 0 ? { energy: [i % 20 === 0 ? 0.9 : 0.45], passes } : { energy: [], passes: true },
      );
      const { warnings } = await compute(request({ ...scan, leaf_intensity }));
      return warnings.filter((text) => text.includes("times leaf_intensity")).join();
    };
    expect(await told(1, false)).toBe("");
    expect(await told(0.7, false)).toMatch(/^Scan 1: 10 % of the pulses .* leaf_intensity is too low/);
    expect(await told(0.7, true)).toMatch(/^Scan 1: 10 % of the pulses/);
  });

  test("pulses without a miss are intercepted as a whole, and the cosine of the others follows from them", async () => {
    // Half of the pulses end on leaves of cosine .8, a quarter of each other one on leaves of cosine .4.
    const scan = pulses((i) =>
      i % 2 === 0 ? { energy: [0.8], passes: false } : { energy: [0.25 * 0.4], passes: true },
    );
    // The rays: 200 of cosine .8 and 50 of .4, in the mean .72 - G is that of leaves which have it, not 2 / 3.
    const tail = await compute({ ...request(scan), gtheta_spec: null, gtheta: 0.5 });
    expect(tail.hit_cosine).toBeCloseTo(HIT_COSINE, 2);
    const cosine = tail.hit_cosine ?? 0;
    const partial = (cosine * 20) / (180 - cosine * 200);
    const intercepted = 200 + 20 / partial;
    expect(tail.cells[0]?.relative_density_index).toBeCloseTo(intercepted / COUNT, 4);
    expect(tail.cells[0]?.lad_std).toBeGreaterThan(0);
  });

  test("a scanner that keeps no misses of pulses which passed in part: energy alone tells, with a warning", async () => {
    const scan = pulses((i) =>
      i % 2 === 0 ? { energy: [0.5 * HIT_COSINE], passes: false } : { energy: [], passes: true },
    );
    const tail = await compute(request(scan));
    expect(tail.warnings).toEqual([expect.stringMatching(/no pulse with both returns and a miss/)]);
    expect(tail.cells[0]?.relative_density_index).toBeCloseTo(0.25, 4);
  });

  test("G of leaves that no distribution has is told", async () => {
    const scan = pulses(() => ({ energy: [0.25 * HIT_COSINE], passes: true }));
    const tail = await compute({ ...request(scan), gtheta_spec: null, gtheta: 0.95 });
    expect(tail.warnings).toEqual([expect.stringMatching(/^No leaves of uniform azimuths.*have G 0.95.*nearest/)]);
  });
});

describe("what it needs", () => {
  const scan = pulses(() => ({ energy: [0.25 * HIT_COSINE], passes: true }));

  test("intensities, leaf_intensity and several returns", async () => {
    const { intensity, ...without } = scan.scalar_columns;
    expect(intensity).toHaveLength(2 * COUNT);
    const errors: readonly [object, RegExp][] = [
      [{ ...scan, scalar_columns: without }, /needs intensities: Scan 1 has none/],
      [{ ...scan, leaf_intensity: null }, /needs leaf_intensity of Scan 1/],
      [{ ...scan, return_type: "single" }, /needs a scan with return_type multi/],
    ];
    for (const [one, text] of errors) expect((await failure({ ...ENERGY, scans: [one] })).error).toMatch(text);
  });

  test("a leaf_intensity that contradicts the energies is refused", async () => {
    const some = pulses((i) => (i % 2 === 0 ? { energy: [0.7], passes: false } : { energy: [0.1], passes: true }));
    const low = await failure({ ...request({ ...some, leaf_intensity: 0.5 }) });
    expect(low.error).toMatch(/1.40 of leaf_intensity.*too low/);
    const high = await failure({ ...request({ ...some, leaf_intensity: 3 }) });
    expect(high.error).toMatch(/0.23 of leaf_intensity.*too high/);
  });
});
