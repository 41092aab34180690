import type { GroundLayers } from "../../../shared/contract/ground-layers.ts";
import { lengthText } from "../../../shared/length-text.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/classify/ground.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { ScanColumn } from "../octree/scan-column.ts";

interface Rows {
  readonly positions: NativeColumn;
  /** Rows that take no part. */
  readonly skip: NativeColumn | null;
  readonly scans: ScanColumn | null;
}

/** A second layer of ground above the first; null if there is none. */
export async function groundLayersOf({ positions, skip, scans }: Rows, job: Job): Promise<GroundLayers | null> {
  const found = await job.track(() => native.groundLayers(positions, skip, scans?.values ?? null));
  if (!found) return null;
  const { scans: sides, ...layers } = found;
  const of = (wanted: number) => sides.filter(({ side }) => side === wanted).map(({ scan }) => scan);
  return {
    ...layers,
    ...{ scans_by: scans?.slug ?? null, by_flight_lines: scans?.is_flight_lines ?? false },
    ...{ upper_scans: of(1), lower_scans: of(-1) },
  };
}

const MOST_NAMED = 5;

/** What is wrong because of two layers, by what asks: `length` is how far they are apart. */
const EFFECTS = {
  ground: (length: string) => `The lower one is labelled ground; heights above it are up to ${length} too large.`,
  dtm: (length: string) => `The terrain follows the lower one; heights above it are up to ${length} too large.`,
  chm: (length: string) => `Heights of the canopy are up to ${length} too large.`,
  trees: (length: string) =>
    `Heights of trees are up to ${length} too large, and points of the upper layer, which belong to trees, may make them flat or cut.`,
} as const;

function remedy({ scans_by, by_flight_lines, upper_scans: upper }: GroundLayers): string {
  if (scans_by === null || upper.length === 0)
    return "Their points do not tell which scans lie higher: register the scans again, or import them with their numbers (column scan_index, or see scan_column), by which POST align_scans moves them.";
  const named = `${upper.slice(0, MOST_NAMED).join(", ")}${upper.length > MOST_NAMED ? ", .." : ""}`;
  const lie = `${by_flight_lines ? "Flight line" : "Scan"}${upper.length > 1 ? "s" : ""} ${named} (${scans_by}) ${upper.length > 1 ? "lie" : "lies"} in the upper one.`;
  return by_flight_lines
    ? `${lie} Adjust the flight lines to each other first; if these are scans, POST align_scans with scan_column ${scans_by} moves them.`
    : `${lie} Move the scans onto each other (POST align_scans of a session with trees), then segment ground and trees again.`;
}

/** Warns of two layers of ground. */
export function groundLayerWarnings(layers: GroundLayers | null, asking: keyof typeof EFFECTS): string[] {
  if (!layers) return [];
  const { z_m, n_both, n_places, cell_m } = layers;
  const length = lengthText(z_m);
  return [
    `The ground lies in two layers ${length} apart, in ${n_both} of ${n_places} places of ${cell_m} m (ground_layers): scans were put together at different heights. ${EFFECTS[asking](length)} ${remedy(layers)}`,
  ];
}
