import { describe, expect, test } from "vitest";
import type { InlineScan } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { compute } = ladCalls(made);

const [COUNT, STEP] = [160, 0.004];
/** A wall 4 m away, half as wide as the scan; `lost` tells whose hits are misses. */
function wall(lost: (i: number) => boolean): InlineScan {
  const points: [number, number, number][] = [];
  const is_miss: number[] = [];
  for (let i = 0; i < COUNT * COUNT; i += 1) {
    const [s, t] = [i % COUNT, Math.floor(i / COUNT)].map((k) => STEP * (k - COUNT / 2)) as [number, number];
    const miss = s > 0.2 || lost(i);
    const far = miss ? 400 : 4 / (1 + 0.2 * s);
    points.push([far, far * s, far * t]);
    is_miss.push(miss ? 1 : 0);
  }
  return { origin: [0, 0, 0], points, scalar_columns: { is_miss } };
}
const GRID = { center: [3.5, 0, 0], size: [2, 2, 2], nx: 2, ny: 2, nz: 2 };
const TOLD = /^Scan 1: of the beams amid hits of one surface (\d+) % are misses, where a whole scan has 1 to 3 %/;
const chosen = (i: number, of: number) => (i * 7919) % 10_007 < 10_007 / of;
const told = async (scan: InlineScan) =>
  (await compute({ scans: [scan], grid: GRID })).warnings.find((one) => TOLD.test(one));

describe("hits that were taken out of a scan", () => {
  test("are told by misses amid those of a surface", async () => {
    expect(await told(wall(() => false))).toBeUndefined();
    for (const of of [10, 2]) {
      const share = Number(TOLD.exec((await told(wall((i) => chosen(i, of)))) ?? "")?.[1]);
      expect(Math.abs(share - 100 / of)).toBeLessThan(3);
    }
  });

  test("are told of a scanner that moved", async () => {
    const moved = (scan: InlineScan) => {
      const count = scan.points.length;
      const zeros = Array<number>(count).fill(0);
      const along = zeros.map((_, i) => (2 * i) / count - 1);
      const [origin_x, origin_y, origin_z] = [zeros, along, zeros];
      const points = scan.points.map(([x, y, z], i): [number, number, number] => [x, y + (along[i] ?? 0), z]);
      return { ...scan, points, scalar_columns: { ...scan.scalar_columns, origin_x, origin_y, origin_z } };
    };
    expect(await told(moved(wall(() => false)))).toBeUndefined();
    const said = (await told(moved(wall((i) => chosen(i, 2))))) ?? "";
    expect(Math.abs(Number(TOLD.exec(said)?.[1]) - 50)).toBeLessThan(5);
  });
});
