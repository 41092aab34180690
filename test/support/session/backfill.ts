import { BackfillMissesTail } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import type { TestApp } from "../app/app.ts";
import { numbersOf, stateOf, streamed } from "./session-edits.ts";

type Triple = [number, number, number];

export const backfillUrl = (id: string): string => `/api/cloud/session/${id}/backfill-misses`;

/** The stages and the checked tail of a backfill. */
export const backfilled = (made: TestApp, id: string, request: object) =>
  streamed(made, BackfillMissesTail, backfillUrl(id), request);

/** A pulse that returned nothing. */
export interface Miss {
  readonly at: Triple;
  readonly time: number | undefined;
  readonly row: number | undefined;
  readonly column: number | undefined;
  readonly origin: Triple | undefined;
}

const triples = (flat: readonly number[]): Triple[] =>
  Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3) as Triple);

/** The recovered misses of a session. */
export async function missesOf(made: TestApp, id: string): Promise<Miss[]> {
  const { misses } = await stateOf(made, id);
  const of = (key: Parameters<typeof misses.get>[0]) => {
    const column = misses.get(key);
    return column && numbersOf(column.native);
  };
  const origins = triples(of("origins") ?? []);
  const [time, row, column] = [of("timestamp"), of("row_index"), of("column_index")];
  return triples(of("positions") ?? []).map((at, i) => ({
    at,
    time: time?.[i],
    row: row?.[i],
    column: column?.[i],
    origin: origins[i],
  }));
}

export const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export function unit(v: Triple): Triple {
  const length = Math.hypot(...v);
  return [v[0] / length, v[1] / length, v[2] / length];
}
/** Between unit vectors, degrees. */
export const degreesApart = (a: Triple, b: Triple): number =>
  (2 * Math.asin(Math.min(1, Math.hypot(...minus(a, b)) / 2)) * 180) / Math.PI;

/** How well misses match those that are known, both by the number of their pulse. */
export function compared(
  found: ReadonlyMap<number, Triple>,
  known: ReadonlyMap<number, Triple>,
): { recall: number; false_share: number; median_deg: number; worst_deg: number } {
  const off: number[] = [];
  for (const [pulse, direction] of known) {
    const other = found.get(pulse);
    if (other) off.push(degreesApart(unit(direction), unit(other)));
  }
  off.sort((a, b) => a - b);
  return {
    recall: off.length / known.size,
    false_share: [...found.keys()].filter((pulse) => !known.has(pulse)).length / Math.max(1, found.size),
    median_deg: off[off.length >> 1] ?? Number.NaN,
    worst_deg: off.at(-1) ?? Number.NaN,
  };
}
