import { expect } from "vitest";
import type { TestApp } from "../app/app.ts";
import { backfilled, degreesApart, missesOf, unit } from "./backfill.ts";
import { cloud } from "./session-edits.ts";
import type { SessionTest } from "./session-test.ts";

/** A scan by a raster of which some pulses return nothing, and what its recovered misses are. */

type Triple = readonly [number, number, number];
export const ROWS = 12;
export const COLUMNS = 20;
export const ORIGIN: Triple = [1, 2, 3];
export const STEP = 3;
export const RASTER = { n_theta: ROWS, n_phi: COLUMNS, theta_min: 60, theta_max: 93, phi_min: 0, phi_max: 57 };

export function direction(row: number, column: number): [number, number, number] {
  const [theta, phi] = [60 + STEP * row, STEP * column].map((degrees) => (degrees * Math.PI) / 180) as [number, number];
  return [Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)];
}
/** Every third pulse of the upper half is a miss. */
export const isMiss = (row: number, column: number) => row < 6 && (row + 2 * column) % 3 === 0;
export const MISSES = 40;
export interface Pulse {
  readonly row: number;
  readonly column: number;
  readonly at: readonly number[];
}
export const PULSES: readonly Pulse[] = Array.from({ length: ROWS * COLUMNS }, (_, i) => {
  const [row, column] = [i % ROWS, Math.floor(i / ROWS)];
  const range = 4 + (i % 5);
  return { row, column, at: direction(row, column).map((d, k) => (ORIGIN[k] ?? 0) + range * d) };
});
export const HITS = PULSES.filter(({ row, column }) => !isMiss(row, column));

/** Sessions of the scan in the app of a test file. */
export function missRaster(made: SessionTest) {
  /** A session of pulses with further columns. */
  const session = async (
    header = "",
    more: (pulse: Pulse, i: number) => string = () => "",
    pulses: readonly Pulse[] = HITS,
  ) =>
    (await cloud(made, [`x y z ${header}`, ...pulses.map((pulse, i) => `${pulse.at.join(" ")} ${more(pulse, i)}`)]))
      .session_id;
  const gridded = (pulses: readonly Pulse[] = HITS) =>
    session("row_index column_index", ({ row, column }) => `${row} ${column}`, pulses);
  const backfill = async (id: string, request: object = {}) =>
    (await backfilled(made, id, { origin: ORIGIN, ...request })).tail;
  /** Deletes the hits with from <= x <= to. */
  const removed = async (id: string, from: number, to: number) => {
    const region = { kind: "box", min: [from, -99, -99], max: [to, 99, 99] };
    return (await made.post(id, "delete_region", { region })).json();
  };
  return { session, gridded, backfill, removed };
}

/** The recovered misses are those of the formula, 20 km away from the scanner. */
export async function expectTheMisses(made: TestApp, id: string, { origin = ORIGIN, degrees = 1e-6 } = {}) {
  const misses = await missesOf(made, id);
  expect(misses).toHaveLength(MISSES);
  for (const { at, row = -1, column = -1 } of misses) {
    expect(isMiss(row, column)).toBe(true);
    const away = at.map((value, k) => value - (origin[k] ?? 0)) as [number, number, number];
    expect(Math.hypot(...away)).toBeCloseTo(20_000, 6);
    expect(degreesApart(unit(away), direction(row, column))).toBeLessThan(degrees);
  }
}
