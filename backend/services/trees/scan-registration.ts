import type { ScanOffset, TreeInventory } from "../../native/inventory.ts";
import { isClearMedian } from "../run/clear-median.ts";

type ViewFit = NonNullable<TreeInventory["view_fit"]>;

/** Offsets of scans that fit each other: up to 1 mm with 3 mm of noise, 3 mm with 2 cm (docs/accuracy.md). */
const MOST_OFFSET_M = 0.005;
const MOST_NAMED = 3;

const millimetres = (metres: number) => `${(1000 * metres).toFixed(metres < 0.01 ? 1 : 0)} mm`;
const lengthOf = ({ x_m, y_m }: ScanOffset) => Math.hypot(x_m, y_m);
/** Stems whose spread counts as much as that of all pairs: the spread of a few says little, and chance makes it small in one of many pairs. */
const POOLED_STEMS = 10;

/** Of what drift leaves between views: on rough trunks, pairs of scans that fit seem to lie apart by up to that. */
const RESTS = 3;

/** The offsets that neither chance nor the places of stems in single views explain. */
function clearOffsets(offsets: readonly ScanOffset[], fit: ViewFit | null): ScanOffset[] {
  const least = Math.max(MOST_OFFSET_M, RESTS * (fit?.rest_m ?? 0));
  const stems = offsets.reduce((sum, { n_stems }) => sum + n_stems, 0);
  const pooled = offsets.reduce((sum, { n_stems, spread_m }) => sum + n_stems * spread_m, 0) / stems;
  return offsets.filter((one) => {
    const spread = (one.n_stems * one.spread_m + POOLED_STEMS * pooled) / (one.n_stems + POOLED_STEMS);
    return isClearMedian(lengthOf(one), spread, one.n_stems, least);
  });
}

/** The scans in which stems stand elsewhere than in others. */
function offsetsTold(offsets: readonly ScanOffset[], fit: ViewFit | null): string | null {
  const clear = clearOffsets(offsets, fit).sort((a, b) => lengthOf(b) - lengthOf(a));
  if (clear.length === 0) return null;
  const named = clear
    .slice(0, MOST_NAMED)
    .map(
      (one) =>
        `${(1000 * lengthOf(one)).toFixed(0)} mm between scans ${one.scan_a} and ${one.scan_b} (${one.n_stems} stems)`,
    );
  const more = clear.length > MOST_NAMED ? `, and ${clear.length - MOST_NAMED} more` : "";
  return `Stems stand at different places in different scans: ${named.join(", ")}${more}; scan_offsets has the directions.`;
}

/** Warns of scans, or times of one, in which the same stems stand at different places, and tells what was done about it. */
export function registrationWarnings(offsets: readonly ScanOffset[], fit: ViewFit | null): string[] {
  const told = offsetsTold(offsets, fit);
  if (!fit?.drifts)
    return told
      ? [
          `${told} The scans do not fit each other, and diameters are wrong by up to as much: move them onto each other (POST align_scans), then measure again.`,
        ]
      : [];
  const drift =
    told ??
    `Stems stand at different places at different times: ${millimetres(fit.spread_m)} along x and along y (root mean square, ${fit.n_stems} stems; view_fit). The scanner drifted.`;
  return [
    fit.aligned
      ? `${drift} Trees were measured with all views moved to their mean place (align_scans), up to ${millimetres(fit.rest_m)}, which is part of sigma_m. The cloud stays as it is, and so do tree numbers, models and crowns made of it: POST align_scans moves its scans.`
      : `${drift} Diameters are wrong by about as much: measure with align_scans true, or move the scans onto each other (POST align_scans).`,
  ];
}
