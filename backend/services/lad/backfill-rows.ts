import type { BackfillMissesRequest } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { AppError } from "../../../shared/errors.ts";
import type { DeclaredScan, RecoveredMisses } from "../../native/misses.ts";
import type { Triple } from "../../sessions/column-names.ts";

/*
 * The pulse clock tells how many pulses a line has, and not at which end those without any return lie: they are sky, ground
 * without an echo, or pulses without a measurement while the mirror flies back. Only the limits of the sweep tell.
 */

/** More rows than this that limits hold and a line lacks are told: the axis of a scanner is known to about a row. */
const SLACK_ROWS = 2;
const SLACK_SHARE = 0.01;

/** The limits of the sweep in zenith are needed and were not sent. */
export class LimitsNeeded extends AppError {}

/** Rows of the pulse clock at the ends of its lines that have no return. */
interface EmptyRows {
  /** At the begin of a line. */
  readonly before: number;
  /** At its end. */
  readonly after: number;
}

/** Warnings about the rows that the pulse clock added. Errors: LimitsNeeded if it added some without both limits. */
export function addedRows(found: RecoveredMisses, request: BackfillMissesRequest, scan: DeclaredScan): string[] {
  const empty = emptyRows(found);
  const count = empty.before + empty.after;
  const { theta_min, theta_max } = request;
  if (count === 0) return [];
  if (theta_min !== null && theta_max !== null) return wideLimits(found, empty, { theta_min, theta_max }, scan);
  throw new LimitsNeeded(
    "invalid_argument",
    `${count} of ${found.rows} pulses of a line have no return, and their times do not tell at which end of the sweep they lie: send theta_min and theta_max, the smallest and largest zenith angle that the scanner fires at`,
  );
}

/** Misses are in order of rows: of a row without any return, all columns are there. */
function emptyRows({ row_index, rows, columns }: RecoveredMisses): EmptyRows {
  const most = Math.floor(row_index.length / columns);
  return {
    before: leading(most, (row) => u32At(row_index, (row + 1) * columns - 1) === row),
    after: leading(most, (row) => u32At(row_index, row_index.length - (row + 1) * columns) === rows - 1 - row),
  };
}

/** How many of the numbers from 0 below `end` are true, if all true ones come first. */
function leading(end: number, is: (k: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (is(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Limits that hold more rows than a line has: which of them it has is a guess. */
function wideLimits(
  found: RecoveredMisses,
  { before, after }: EmptyRows,
  { theta_min, theta_max }: { readonly theta_min: number; readonly theta_max: number },
  scan: DeclaredScan,
): string[] {
  const { rows } = found;
  const [a, b] = [before > 0 ? 0 : rows - after, after > 0 ? rows - 1 : before - 1]; // the outermost empty rows
  if (a === b) return [];
  const at = (row: number) => zenithDegrees(found, row, scan);
  const step = (at(b) - at(a)) / (b - a);
  const held = Math.round((theta_max - theta_min) / Math.abs(step)) + 1;
  if (!(held - rows > Math.max(SLACK_ROWS, SLACK_SHARE * rows))) return [];
  const ends = [before, rows - 1 - after].map((row) => Math.round(at(a) + (row - a) * step));
  const [above, below] = step > 0 ? [before, after] : [after, before]; // above: nearer to the zenith
  return [
    `theta_min ${theta_min} and theta_max ${theta_max} hold ${held} pulses of a line, but a line has ${rows}. Of those without a return, ${below} are placed at zenith angles above ${Math.max(...ends)} and ${above} at such below ${Math.min(...ends)}, where the scanner may not have fired: send the limits of its sweep.`,
  ];
}

/** Zenith angle of the first pulse of an empty row. */
function zenithDegrees(
  { positions, row_index, rows, columns }: RecoveredMisses,
  row: number,
  scan: DeclaredScan,
): number {
  const leads = u32At(row_index, row * columns) === row;
  const index = leads ? row * columns : row_index.length - (rows - row) * columns;
  const [x, y, z] = vec3At(positions, index);
  const away: Triple = [x - scan.origin[0], y - scan.origin[1], z - scan.origin[2]];
  const up = away[0] * scan.up[0] + away[1] * scan.up[1] + away[2] * scan.up[2];
  return (Math.acos(Math.min(1, Math.max(-1, up / Math.hypot(...away)))) * 180) / Math.PI;
}

function u32At(column: RecoveredMisses["row_index"], index: number): number {
  const out = new Uint32Array(1);
  column.readInto(new Uint8Array(out.buffer), 4 * index);
  return out[0] ?? 0;
}

function vec3At(column: RecoveredMisses["positions"], index: number): Triple {
  const out = new Float64Array(3);
  column.readInto(new Uint8Array(out.buffer), 24 * index);
  const [x = 0, y = 0, z = 0] = out;
  return [x, y, z];
}
