import type { CrownRequest } from "../../../shared/contract/fit-crown.ts";
import type { NativeCrown } from "../../native/fit.ts";

/** Growth of the volume at twice the radius from which it is told. */
const TOLD_GROWTH = 1.1;
/** Change of the volume with every second point from which it is told: with an automatic alpha, and a given one. */
const TOLD_CHANGE = 0.1;
const TOLD_LOSS = 0.05;
/** Growth of the volume with the points that strictness leaves out. */
const TOLD_LEFT_OUT = 1.25;

const metres = (value: number) => `${value.toPrecision(2)} m`;
const percent = (ratio: number) => Math.round(100 * Math.abs(ratio - 1));
const ends = <T>(values: readonly number[], text: (value: number) => T) =>
  [...new Set([Math.min(...values), Math.max(...values)].map(text))].join(" to ");
const larger = (ratios: readonly number[]) => ends(ratios, (ratio) => `${percent(ratio)} %`);

/** What the volumes of crowns depend on besides the crowns: alpha, the density of the points, strictness. */
export function volumeWarnings(crowns: readonly NativeCrown[], request: CrownRequest): string[] {
  return [...alphaWarnings(crowns), ...densityWarnings(crowns, request), ...strictnessWarnings(crowns, request)];
}

const volumeOf = (told: number, all: number) =>
  all === 1 ? "The volume of the crown" : `The volume of ${told} of ${all} crowns`;

/** Volumes that are a matter of the automatic alpha: points with gaps between them fill no solid. */
function alphaWarnings(crowns: readonly NativeCrown[]): string[] {
  const grown = crowns.filter(({ growth_of_doubled }) => growth_of_doubled > TOLD_GROWTH);
  if (grown.length === 0) return [];
  const alpha = ends(
    grown.map(({ alpha_m }) => alpha_m ?? Number.NaN),
    metres,
  );
  const growth = larger(grown.map(({ growth_of_doubled }) => growth_of_doubled));
  return [
    `${volumeOf(grown.length, crowns.length)} depends on alpha, which the spacing of the points decided (${alpha}): with twice that it is larger by about ${growth}. Send one alpha for volumes that compare with those of other trees and scans.`,
  ];
}

/** Volumes that a scan with more points, or fewer, would not repeat. */
function densityWarnings(crowns: readonly NativeCrown[], { alpha }: CrownRequest): string[] {
  const given = typeof alpha === "number";
  const moved = crowns.filter(({ share_of_half }) =>
    given ? share_of_half < 1 - TOLD_LOSS : Math.abs(share_of_half - 1) > TOLD_CHANGE,
  );
  if (moved.length === 0) return [];
  const shares = ends(
    moved.map(({ share_of_half }) => share_of_half),
    (share) => `${percent(share)} % ${share < 1 ? "less" : "more"}`,
  );
  const why = given
    ? "the same crown with more points has more. A larger alpha depends less on it."
    : "the points are few for the gaps between them.";
  return [
    `${volumeOf(moved.length, crowns.length)} depends on the density of the points: every second one gives ${shares}; ${why}`,
  ];
}

/** Points left outside that are too much of a crown for strays. */
function strictnessWarnings(crowns: readonly NativeCrown[], { strictness }: CrownRequest): string[] {
  const cut = crowns.filter(({ share_of_all }) => share_of_all > TOLD_LEFT_OUT);
  if (cut.length === 0) return [];
  const growth = larger(cut.map(({ share_of_all }) => share_of_all));
  return [
    `${volumeOf(cut.length, crowns.length)} depends on strictness (${strictness}): with the points that it leaves out, the volume is larger by ${growth}. They are strays, branches, or a side that was scanned less densely; strictness 0 keeps them.`,
  ];
}
