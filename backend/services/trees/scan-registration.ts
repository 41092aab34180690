import type { ScanOffset } from "../../native/inventory.ts";
import { isClearMedian } from "../run/clear-median.ts";

/** Offsets of scans that fit each other: up to 1 mm with 3 mm of noise, 3 mm with 2 cm (docs/accuracy.md). */
const MOST_OFFSET_M = 0.005;
const MOST_NAMED = 3;

const lengthOf = ({ x_m, y_m }: ScanOffset) => Math.hypot(x_m, y_m);
const isClear = (offset: ScanOffset) => isClearMedian(lengthOf(offset), offset.spread_m, offset.n_stems, MOST_OFFSET_M);

/** Warns of scans in which the same stems stand at different places. */
export function registrationWarnings(offsets: readonly ScanOffset[]): string[] {
  const clear = offsets.filter(isClear).sort((a, b) => lengthOf(b) - lengthOf(a));
  if (clear.length === 0) return [];
  const named = clear
    .slice(0, MOST_NAMED)
    .map(
      (one) =>
        `${(1000 * lengthOf(one)).toFixed(0)} mm between scans ${one.scan_a} and ${one.scan_b} (${one.n_stems} stems)`,
    );
  const more = clear.length > MOST_NAMED ? `, and ${clear.length - MOST_NAMED} more` : "";
  return [
    `Stems stand at different places in different scans: ${named.join(", ")}${more}; scan_offsets has the directions. The scans do not fit each other, and diameters are wrong by up to as much: move them onto each other (scan_index tells them apart), then measure again.`,
  ];
}
