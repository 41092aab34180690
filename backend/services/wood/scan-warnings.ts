import type { Job } from "../../jobs/job.ts";
import type { PointSpacing } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { woodScatter } from "../../native/wood.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { unitDoubt } from "../run/unstated-units.ts";

/** Between scans on which the methods hold and those on which they fail, metres: docs/accuracy.md, Wood of worse scans. */
const SPARSE_M = 0.06;
const NOISY_M = 0.016;

/** What the methods did to trees with known labels there. */
const SPARSE: Readonly<Record<string, string>> = {
  sota: "took 30 to 55 % of the leaf points for wood (4 to 8 % at 2 cm)",
  ml: "missed 22 to 40 % of the wood points with the default model (7 to 10 % at 2 cm)",
};
const SPARSE_SHAPES = "took up to 77 % of the leaf points for wood (none at 2 cm)";
const NOISY: Readonly<Record<string, string>> = {
  sota: "found 65 to 78 % of the wood points with 2 cm of noise and 8 to 34 % with 5 cm (79 to 85 % without)",
  ml: "found 71 to 90 % of the wood points with 2 cm of noise and 62 to 78 % with 5 cm, with the default model (78 to 96 % without)",
};
const NOISY_SHAPES = "took 3 to 40 % of the leaf points for wood with 5 cm of noise (none without)";
const TRUTH = "Of trees with known labels that were made so, method";

/** What is known of a scan besides its points. */
export interface ScanQuality {
  /** Median distance to the nearest other place; null without one. */
  readonly spacing_m: number | null;
  readonly scatter_m: number | null;
  /** Something says that the coordinates are metres. */
  readonly unit_is_stated: boolean;
}

export function qualityWarnings({ spacing_m, scatter_m, unit_is_stated }: ScanQuality, method: string): string[] {
  const cm = (metres: number) => `${(100 * metres).toFixed(1)} cm`;
  const sparse = `The points are ${cm(spacing_m ?? 0)} apart (median): too far for thin branches. ${TRUTH} ${method} ${SPARSE[method] ?? SPARSE_SHAPES}.${unitDoubt(unit_is_stated)}`;
  const noisy = `The points of the wood scatter by ${cm(scatter_m ?? 0)} and more around its surface, from noise or from scans that do not fit each other.`;
  return [
    ...(spacing_m !== null && spacing_m > SPARSE_M ? [sparse] : []),
    ...(scatter_m !== null && scatter_m > NOISY_M
      ? [`${noisy} ${TRUTH} ${method} ${NOISY[method] ?? NOISY_SHAPES}.`]
      : []),
  ];
}

/** A labelled scan. */
interface LabelledScan {
  readonly positions: NativeColumn;
  readonly labels: ColumnRef;
  readonly spacing: PointSpacing;
  readonly unit_is_stated: boolean;
}

/** Warns of scans in which no method tells wood from leaves as it does in good ones: sparse points, noise. */
export async function scanWarnings(scan: LabelledScan, method: string, job: Job): Promise<string[]> {
  const { scatter_m } = await job.track(() => woodScatter(scan.positions, scan.labels.native));
  const { spacing, unit_is_stated } = scan;
  return qualityWarnings({ spacing_m: spacing.distinct_median_m, scatter_m, unit_is_stated }, method);
}
