import type { Job } from "../../jobs/job.ts";
import { type CloudStats, cloudStats, hitMask } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";

/*
 * Scanners reach hundreds of metres, airborne ones kilometres. A part of a scan, like a tree, may be far from its scanner
 * measured by its own size, and from the air a scanner looks ahead and aside by less than twice its height.
 */

/** An origin within this distance from the hits is plausible, metres. */
const LEAST_FAR_M = 200;
/** And one within this many diagonals of the box around the hits. */
const FAR_DIAGONALS = 5;
/** From above: within this many heights above the hits, and below this height, metres. */
const FAR_HEIGHTS = 2;
const HIGHEST_M = 10_000;

interface Hits {
  /** "Scan 2", or its label. */
  readonly name: string;
  readonly positions: NativeColumn;
  readonly is_miss: NativeColumn | null;
}

interface OriginOfHits extends Hits {
  /** Stored frame. */
  readonly origin: Triple;
  /** As it was sent. */
  readonly given: Triple;
}

type Box = NonNullable<CloudStats["bounds"]>;

/** Warns of an origin that is implausibly far from the hits, deleted ones included. */
export async function farOriginWarnings({ origin, given, ...hits }: OriginOfHits, job: Job): Promise<string[]> {
  const box = await boxOfHits(hits, job);
  const away = box && farAway({ min: origin, max: origin }, box);
  if (!box || !away) return [];
  return [
    `${hits.name} has its origin, ${given.map((value) => Number(value.toFixed(3))).join(", ")}, ${away} its hits, which span ${spanOf(box)} m: are its frame and units those of the points? The beams are taken to begin there.`,
  ];
}

/** Warns of beam origins of the rows that are all implausibly far from the hits, as those of poses in another frame. */
export async function farOriginsWarnings(hits: Hits, origins: NativeColumn, job: Job): Promise<string[]> {
  const box = await boxOfHits(hits, job);
  const { bounds } = await job.quiet().track(() => cloudStats(origins, null));
  const away = box && bounds && farAway(bounds, box);
  if (!box || !away) return [];
  return [
    `${hits.name} has its beam origins ${away} its hits, which span ${spanOf(box)} m: are their coordinate system and units those of the points? The beams are taken to begin there.`,
  ];
}

async function boxOfHits({ positions, is_miss }: Hits, job: Job): Promise<Box | null> {
  const { skip } = await job.quiet().track(() => hitMask(is_miss, null, positions.length));
  const hits = skip ? job.adopt(new ColumnRef(skip)).native : null;
  const { bounds, robust_bounds } = await job.quiet().track(() => cloudStats(positions, hits));
  return robust_bounds ?? bounds;
}

const spanOf = ({ min, max }: Box) => rounded(diagonal(min, max));

/** How far all of a box of origins is from that of the hits, for a sentence; null if that is plausible. */
function farAway(from: Box, { min, max }: Box): string | null {
  const beyond = ([0, 1, 2] as const).map((axis) =>
    Math.max(min[axis] - from.max[axis], from.min[axis] - max[axis], 0),
  );
  const beside = Math.hypot(beyond[0] ?? 0, beyond[1] ?? 0);
  const [above, below] = [Math.max(0, from.min[2] - max[2]), Math.max(0, min[2] - from.max[2])];
  const limit = Math.max(LEAST_FAR_M, FAR_DIAGONALS * diagonal(min, max));
  if (beside > Math.max(limit, FAR_HEIGHTS * above)) return `${rounded(beside)} m beside`;
  if (below > limit) return `${rounded(below)} m below`;
  return above > Math.max(limit, HIGHEST_M) ? `${rounded(above)} m above` : null;
}

const diagonal = (min: Triple, max: Triple) => Math.hypot(max[0] - min[0], max[1] - min[1], max[2] - min[2]);
const rounded = (metres: number) => Number(metres.toPrecision(3));
