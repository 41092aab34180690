import type { Job } from "../../jobs/job.ts";
import { mapValues, transformPositions } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, type ScanOrigin, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { deletedCount } from "../../sessions/edits.ts";
import { beamOrigins } from "../octree/beam-origins.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { numbersOf, sharedBy } from "./merge-numbers.ts";

export const SCAN_SLUG = "scan_index";
const RASTER_COLUMNS = ["row_index", "column_index"];
const MOST_NUMBER = 0xffffffff;
/** Positions closer than this are one, metres: they went through other frames. */
const SAME_PLACE_M = 1e-4;

/** What the points of a cloud have in the merged one instead of their own column. */
export interface Instead {
  /** Null: `fill` for all of them. */
  readonly column: NativeColumn | null;
  readonly fill: number;
}

/** The scans of clouds that are merged. */
export interface MergedScans {
  /** Scanner positions in the frame of the first cloud. */
  readonly origins: readonly ScanOrigin[];
  /** By cloud and key of a column. */
  readonly instead: ReadonlyMap<CloudState, ReadonlyMap<string, Instead>>;
  /** The merged cloud has scan_index, which no cloud has. */
  readonly numbered: boolean;
  readonly warnings: readonly string[];
}

/** A scan of a cloud: its number there, and its position in the frame of the first cloud; null = not known. */
interface OwnScan {
  readonly number: number;
  readonly origin: Triple | null;
}

/** A cloud with its scans; null: its points do not tell them apart. */
interface Scans {
  readonly state: CloudState;
  readonly scans: readonly OwnScan[] | null;
}

/**
 * Scans keep their numbers and positions. Where clouds have one number for scans of different positions, or positions but no
 * numbers, scan_index numbers them anew; scans of one number and one position are parts of one scan. Clouds that stand still get
 * beam_origins if others have that column. Warns of what is not kept, and of rasters that would share their cells. `offsetOf`: from the frame of a
 * cloud to that of the first.
 */
export async function mergedScans(
  states: readonly CloudState[],
  offsetOf: (state: CloudState) => Triple,
  job: Job,
): Promise<MergedScans> {
  const clouds: Scans[] = [];
  for (const state of states) clouds.push({ state, scans: await scansOf(state, offsetOf(state), job) });
  const instead = new Map<CloudState, Map<string, Instead>>();
  const put = (state: CloudState, key: string, value: Instead) =>
    instead.set(state, (instead.get(state) ?? new Map<string, Instead>()).set(key, value));
  const moving = states.some(({ columns }) => columns.has("beam_origins"));
  if (moving)
    for (const state of states) {
      const column = state.columns.has("beam_origins") ? null : await standingOrigins(state, job);
      if (column) put(state, "beam_origins", { column, fill: 0 });
    }
  const isNumbered = states.some((state) => optionalExtra(state, SCAN_SLUG));
  const plan = moving ? null : numbering(clouds);
  const origins = plan?.origins ?? [];
  const anew = plan !== null && (plan.changed || !isNumbered);
  if (anew)
    for (const { state, scans } of clouds)
      put(state, extraKey(SCAN_SLUG), await renumbered(state, scans ?? [], plan, job));
  const numbers = clouds.map(({ scans }) =>
    (scans ?? []).map((scan) => (plan ? (plan.numbers.get(keyOf(scan)) ?? scan.number) : scan.number)),
  );
  return {
    origins,
    instead,
    numbered: anew && !isNumbered,
    warnings: [
      ...(anew && plan.numbers.size > 1
        ? [`The clouds are ${plan.numbers.size} scans: scan_index of the merged cloud tells them apart.`]
        : []),
      ...originWarnings(clouds, origins, instead),
      ...(isNumbered || anew ? numberWarnings(clouds, numbers, anew ? "one scan" : "scan 0") : []),
      ...rasterWarnings(clouds, numbers),
    ],
  };
}

/** Memory for columns that clouds do not have yet, bytes: numbers, and beam origins before and after they are joined. */
export function scanBytes(states: readonly CloudState[]): number {
  const moving = states.some(({ columns }) => columns.has("beam_origins"));
  return states.reduce((sum, state) => {
    const rows = positionsColumn(state).length;
    return sum + 8 * rows + (moving && !state.columns.has("beam_origins") ? 48 * rows : 0);
  }, 0);
}

/** The scans of a cloud; without scan_index, it is scan 0. */
async function scansOf(state: CloudState, [dx, dy, dz]: Triple, job: Job): Promise<OwnScan[] | null> {
  if (deletedCount(state.undo) >= positionsColumn(state).length) return [];
  const { scan_origins = [], miss_octree_origin } = state.meta;
  const moved = (origin: Triple | null | undefined): Triple | null =>
    origin ? [origin[0] + dx, origin[1] + dy, origin[2] + dz] : null;
  if (!optionalExtra(state, SCAN_SLUG)) {
    if (scan_origins.length > 1) return null;
    const [only] = scan_origins;
    return [{ number: 0, origin: moved(only ? only.origin : miss_octree_origin) }];
  }
  const numbers = await numbersOf(state, SCAN_SLUG, job);
  if (numbers.length === 0 || numbers.some((number) => number < 0 || number > MOST_NUMBER)) return null;
  const alone = numbers.length === 1 && scan_origins.length === 0 ? miss_octree_origin : null;
  return numbers.map((number) => ({
    number,
    origin: moved(scan_origins.find(({ scan_index }) => scan_index === number)?.origin ?? alone),
  }));
}

interface Numbering {
  /** By keyOf. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly origins: readonly ScanOrigin[];
  /** Some scan has another number than in its cloud. */
  readonly changed: boolean;
}

const keyOf = ({ number, origin }: OwnScan): string =>
  `${number} ${origin ? origin.map((value) => Math.round(value / SAME_PLACE_M)).join(" ") : "unknown"}`;

/** The numbers of all scans; null if the points of a cloud do not tell its scans, or no position is known. */
function numbering(clouds: readonly Scans[]): Numbering | null {
  const all: OwnScan[] = [];
  for (const { scans } of clouds) {
    if (!scans) return null;
    all.push(...scans);
  }
  if (!all.some(({ origin }) => origin)) return null;
  const numbers = new Map<string, number>();
  const origins: ScanOrigin[] = [];
  const taken = new Set<number>();
  let next = Math.max(...all.map(({ number }) => number)) + 1;
  let changed = false;
  for (const scan of all) {
    const key = keyOf(scan);
    if (numbers.has(key)) continue;
    const number = taken.has(scan.number) ? next++ : scan.number;
    changed ||= number !== scan.number;
    taken.add(number);
    numbers.set(key, number);
    if (scan.origin) origins.push({ scan_index: number, origin: scan.origin });
  }
  return { numbers, origins, changed };
}

/** The scan numbers of a cloud's points in the merged cloud. */
async function renumbered(
  state: CloudState,
  scans: readonly OwnScan[],
  { numbers }: Numbering,
  job: Job,
): Promise<Instead> {
  const to = (scan: OwnScan) => numbers.get(keyOf(scan)) ?? scan.number;
  const own = optionalExtra(state, SCAN_SLUG);
  if (!own) return { column: null, fill: scans[0] ? to(scans[0]) : 0 };
  if (scans.every((scan) => to(scan) === scan.number)) return { column: own, fill: 0 };
  const ascending = scans.toSorted((a, b) => a.number - b.number);
  const from = ascending.map(({ number }) => number);
  const column = await job.track(() => mapValues(own, from, ascending.map(to)));
  return { column: job.adopt(new ColumnRef(column)).native, fill: 0 };
}

/** One beam origin per row of a cloud that stands still, stored frame; null if its position is not known. */
async function standingOrigins(state: CloudState, job: Job): Promise<NativeColumn | null> {
  const own = await beamOrigins(state, job.quiet());
  const rows = positionsColumn(state);
  if (!own || own.length === rows.length) return own;
  const [x, y, z] = state.meta.miss_octree_origin ?? [Number.NaN, Number.NaN, Number.NaN];
  const column = await job.track(() => transformPositions(rows, [0, 0, 0, x, 0, 0, 0, y, 0, 0, 0, z]));
  return job.adopt(new ColumnRef(column)).native;
}

/** Warns of clouds whose scanner position the merged cloud does not have. */
function originWarnings(
  clouds: readonly Scans[],
  origins: readonly ScanOrigin[],
  instead: MergedScans["instead"],
): string[] {
  const lost = clouds.filter(({ state, scans }) => {
    if (state.columns.has("beam_origins") || instead.get(state)?.has("beam_origins")) return false;
    const known = scans ? scans.some(({ origin }) => origin) : (state.meta.scan_origins ?? []).length > 0;
    return known && origins.length === 0;
  }).length;
  if (lost === 0) return [];
  const which = lost === 1 ? "The scanner position of 1 cloud is" : `The scanner positions of ${lost} clouds are`;
  return [
    `${which} not in the merged cloud. Where positions matter (leaf area, misses, files of scans), use the clouds themselves.`,
  ];
}

/** Warns of numbers that scans of several clouds have of which the positions are not known. */
function numberWarnings(clouds: readonly Scans[], numbers: readonly (readonly number[])[], bare: string): string[] {
  const unknown = clouds.map(({ scans }, i) =>
    (scans ?? []).flatMap(({ origin }, k) => (origin ? [] : [numbers[i]?.[k] as number])),
  );
  const shared = sharedBy(unknown).length;
  if (shared === 0) return [];
  const which = shared === 1 ? "1 scan number is" : `${shared} scan numbers are`;
  const lacks = clouds.some(({ state, scans }) => scans && scans.length > 0 && !optionalExtra(state, SCAN_SLUG));
  const filled = lacks ? ` (all points of a cloud without scan_index are ${bare})` : "";
  return [
    `${which} in more than one cloud${filled}: points with the same scan_index are one scan in the merged cloud. Unless they are parts of the same scans, export each cloud to a file of its own where scans matter (e57, ptx).`,
  ];
}

function rasterWarnings(clouds: readonly Scans[], numbers: readonly (readonly number[])[]): string[] {
  const rasters = numbers.filter((_, i) =>
    RASTER_COLUMNS.every((slug) => optionalExtra((clouds[i] as Scans).state, slug)),
  );
  if (sharedBy(rasters).length === 0) return [];
  return [
    `${rasters.length} clouds have row_index and column_index: in the merged cloud, points of several rasters can have the same cell of a scan, and a ptx file keeps one point of a cell. Export each cloud to a ptx file of its own.`,
  ];
}
