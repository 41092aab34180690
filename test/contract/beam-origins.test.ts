import { describe, expect, test } from "vitest";
import { ladCalls } from "../support/lad/calls.ts";
import { backfilled } from "../support/session/backfill.ts";
import { scanMesh } from "../support/session/scan-triangulation.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

/** Beams that do not come from where they are said to begin, by the returns of pulses that have several and by misses. */

const made = sessionTest();
const { compute } = ladCalls(made);
type Place = readonly [number, number, number];
const GRID = { center: [0, 0, 10], size: [20, 20, 20], nx: 2, ny: 2, nz: 2 };
const TOLD = /pulses that have several|its misses/;

/** Pulses from places that depend on their time: one or two returns, or a miss 1001 m away. Times are those of GPS, 300,000 s on. */
function pulses(from: (t: number) => Place, look: (next: () => number) => Place, count = 600) {
  const next = random(11);
  const points: Place[] = [];
  const columns = { is_miss: [], timestamp: [], target_index: [], target_count: [] } as Record<string, number[]>;
  const origins: Place[] = [];
  for (let k = 0; k < count; k += 1) {
    const t = (60 * k) / count;
    const [origin, beam] = [from(t), look(next)];
    const ranges = k % 3 === 0 ? [1001] : k % 3 === 1 ? [12 + 10 * next()] : [12 + 4 * next(), 19 + 5 * next()];
    for (const [index, range] of ranges.entries()) {
      const far = range / Math.hypot(...beam);
      points.push([origin[0] + far * beam[0], origin[1] + far * beam[1], origin[2] + far * beam[2]]);
      const row = {
        is_miss: k % 3 === 0 ? 1 : 0,
        timestamp: 300_000 + t,
        target_index: index,
        target_count: ranges.length,
      };
      for (const [name, value] of Object.entries(row)) columns[name]?.push(value);
      origins.push(origin);
    }
  }
  return { points, scalar_columns: columns, origins };
}

const SCANNER: Place = [-8, 3, 1.6];
const around = (next: () => number): Place => [2 * next() - 1, 2 * next() - 1, 1.2 * next() - 0.1];
const drone = (t: number): Place => [
  6 * ((Math.floor(t / 10) % 2 === 0 ? t % 10 : 10 - (t % 10)) - 5),
  2 * Math.floor(t / 10) - 5,
  30,
];
const downwards = (next: () => number): Place => [1.2 * next() - 0.6, 1.2 * next() - 0.6, -1];
const poses = (clock = 0, moved: Place = [0, 0, 0]) =>
  Array.from({ length: 1401 }, (_, k) => {
    const t = k / 10 - 40;
    const [x, y, z] = drone(Math.min(60, Math.max(0, t)));
    const at = { t: 300_000 + t + clock, x: x + moved[0], y: y + moved[1], z: z + moved[2] };
    return { ...at, qx: 0, qy: 0, qz: 0, qw: 1 };
  });

const still = () => pulses(() => SCANNER, around);
const warned = async (scan: object, about = TOLD) => {
  const { warnings } = await compute({ scans: [{ return_type: "multi", origin: SCANNER, ...scan }], grid: GRID });
  return warnings.filter((text) => about.test(text));
};

describe("a scanner that stood still", () => {
  test("is found where its pulses with several returns meet", async () => {
    const { points, scalar_columns } = still();
    expect(await warned({ points, scalar_columns })).toEqual([]);
    expect(await warned({ points, scalar_columns, origin: [-8, 3, 0], label: "north" })).toEqual([
      expect.stringMatching(
        /^Scan "north": the returns of pulses that have several do not lie on their beams, .* they meet 1\.6 m from there, at -8, 3, 1\.6\. Is the origin/,
      ),
    ]);
  });

  test("is found amid its misses", async () => {
    const { points, scalar_columns } = still();
    const { is_miss = [] } = scalar_columns;
    expect(await warned({ points, scalar_columns: { is_miss }, return_type: "single" })).toEqual([]);
    expect(await warned({ points, scalar_columns: { is_miss }, return_type: "single", origin: [0, 0, 1.6] })).toEqual([
      expect.stringMatching(
        /^Scan 1: its misses all lie 1000 m from -8, 3, 1\.6, so its scanner was there, 8\.54 m from/,
      ),
    ]);
    const moved = (to: (p: Place) => number) =>
      points.map((p, i): Place => {
        const far = is_miss[i] ? to(p) : 1;
        const mm = (value: number) => Math.round(1000 * far * value) / 1000;
        return [mm(p[0]), mm(p[1]), mm(p[2])];
      });
    const upwards = is_miss.map((miss, i) => (miss === 1 && (points[i]?.[2] ?? 0) < 20 ? 0 : miss));
    for (const [what, anywhere] of [
      ["anywhere along their beams", moved(([x]) => 0.5 + Math.abs(Math.sin(x)))],
      ["cut off at a height", moved(([x, , z]) => 40 / (Math.max(20, z) + 0.1 * x))],
    ] as const) {
      const columns = { is_miss: upwards };
      const scan = { points: anywhere, scalar_columns: columns, return_type: "single" };
      expect(await warned({ ...scan, origin: [0, 0, 1.6] }), what).toEqual([]);
    }
  });

  test("a session in a shifted frame, in every endpoint that takes its origin", async () => {
    const shift = [500_000, 5_400_000, 100] as const;
    const { points, scalar_columns } = still();
    const names = Object.keys(scalar_columns);
    const far = points.map((p) => p.map((value, k) => value + (shift[k] ?? 0)));
    const rows = far.map((p, i) => [...p, ...names.map((name) => scalar_columns[name]?.[i])].join(" "));
    const header = ["x", "y", "z", ...names].join(" ");
    const wrong = [shift[0] - 6, shift[1] + 3, shift[2] + 1.6];
    const told = /they meet 2 m from there, at 499992, 5400003, 101\.6\./;
    const { session_id } = await cloud(made, [header, ...rows], { world_shift: shift });
    const grid = { ...GRID, center: [shift[0], shift[1], shift[2] + 10] };
    const { warnings } = await compute({ scans: [{ session_id, return_type: "multi", origin: wrong }], grid });
    expect(warnings.filter((text) => TOLD.test(text))).toEqual([expect.stringMatching(told)]);
    const { meta } = await scanMesh(made, { scans: [{ session_id, origin: wrong }], lmax: 2, world_shift: shift });
    expect(meta.warnings).toContainEqual(expect.stringMatching(told));
  });
});

test("recovered misses", async () => {
  const rows = ["x y z timestamp target_index target_count row_index column_index"];
  for (let k = 0; k < 30 * 120; k += 1) {
    const [row, column] = [k % 30, Math.floor(k / 30)];
    const [theta, phi] = [(40 + 3 * row) * (Math.PI / 180), 3 * column * (Math.PI / 180)];
    const beam = [Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)];
    const ranges = row < 8 ? [] : k % 2 === 0 ? [20] : [14, 20];
    for (const [index, range] of ranges.entries())
      rows.push([...beam.map((v, i) => (SCANNER[i] ?? 0) + range * v), k, index, ranges.length, row, column].join(" "));
  }
  const told = async (origin: Place) => {
    const { session_id } = await cloud(made, rows);
    const { tail } = await backfilled(made, session_id, { origin });
    expect(tail.backfilled).toBeGreaterThan(500);
    return tail.warnings?.filter((text) => TOLD.test(text));
  };
  expect(await told(SCANNER)).toEqual([]);
  expect(await told([-8, 3.2, 1.6])).toEqual([
    expect.stringMatching(/^The cloud: .* they meet 0\.2 m from there, at -8, 3, 1\.6\. Is the origin/),
  ]);
  const { session_id } = await cloud(made, rows);
  await backfilled(made, session_id, { origin: SCANNER });
  const scan = { session_id, origin: [-8, 8, 1.6] };
  const { warnings } = await compute({ scans: [{ ...scan, return_type: "single" }], grid: GRID });
  expect(warnings).toContainEqual(expect.stringMatching(/^Scan 1: the returns of pulses that have several/));
  const single = await cloud(
    made,
    rows.map((row) =>
      row
        .split(" ")
        .filter((_, i) => i < 3 || i > 5)
        .join(" "),
    ),
  );
  await backfilled(made, single.session_id, { origin: SCANNER });
  const after = await compute({ scans: [{ session_id: single.session_id, origin: [-8, 8, 1.6] }], grid: GRID });
  expect(after.warnings).toContainEqual(
    expect.stringMatching(/^Scan 1: its misses come from a scanner 5 m from the origin/),
  );
});

describe("a scanner that moved", () => {
  const flight = () => pulses(drone, downwards);
  const of = async (trajectory: object, about = TOLD) => {
    const { points, scalar_columns } = flight();
    return warned({ points, scalar_columns, trajectory }, about);
  };

  test("nothing is told where the trajectory fits", async () => {
    expect(await of({ poses: poses() })).toEqual([]);
  });

  test("another clock", async () => {
    expect(await of({ poses: poses(18) })).toEqual([
      expect.stringMatching(
        /^Scan 1: .* With 18 s added to the times of the points it is less than 0\.001 m, and the origins move by [\d.]+ m: the clocks/,
      ),
    ]);
  });

  test("heights of another kind", async () => {
    expect(await of({ poses: poses(0, [0, 0, 47]) })).toEqual([
      expect.stringMatching(
        /they meet 47 m from there, moved by -?0, -?0, -47\. Do the trajectory and the points have one/,
      ),
    ]);
  });

  test("another coordinate system", async () => {
    expect(await of({ poses: poses(0, [500_000, 5_400_000, 0]) }, /beam origins/)).toEqual([
      expect.stringMatching(
        /^Scan 1 has its beam origins 5420000 m beside its hits, which span [\d.]+ m: are their coordinate/,
      ),
    ]);
  });

  test("another flight", async () => {
    const turned = poses().map(({ x, y, ...pose }) => ({ ...pose, x: y, y: x }));
    expect(await of({ poses: turned })).toEqual([
      expect.stringMatching(
        /neither another place nor another clock explains it\. Do the trajectory and the points belong/,
      ),
    ]);
  });

  test("sent as one that stood still, far from its path", async () => {
    const { points, scalar_columns } = pulses((t) => [t / 10, 0, 30], downwards);
    expect(await warned({ points, scalar_columns, origin: [60, 0, 30] })).toEqual([
      expect.stringMatching(/; no other place explains it\. Do the origin .* A scanner that moved needs a trajectory/),
    ]);
  });

  test("beam origins of the points", async () => {
    const { points, scalar_columns, origins } = flight();
    const own = (off: number) => ({
      origin_x: origins.map(([x]) => x),
      origin_y: origins.map(([, y]) => y + off),
      origin_z: origins.map(([, , z]) => z),
    });
    expect(await warned({ points, scalar_columns: { ...scalar_columns, ...own(0) } })).toEqual([]);
    expect(await warned({ points, scalar_columns: { ...scalar_columns, ...own(1.5) } })).toEqual([
      expect.stringMatching(
        /they meet 1\.5 m from there, moved by -?0, -1\.5, -?0\. Do the beam origins and the points/,
      ),
    ]);
  });
});
