import type { NativeCrown } from "../../native/fit.ts";

/** Growth of the volume at twice the radius from which it is told. */
const TOLD_GROWTH = 1.1;

const metres = (value: number) => `${value.toPrecision(2)} m`;
const percent = (growth: number) => Math.round(100 * (growth - 1));

/** Volumes that are a matter of the automatic alpha: points with gaps between them fill no solid. */
export function alphaWarnings(crowns: readonly NativeCrown[]): string[] {
  const grown = crowns.filter(({ growth_of_doubled }) => growth_of_doubled > TOLD_GROWTH);
  if (grown.length === 0) return [];
  const alphas = grown.map(({ alpha_m }) => alpha_m ?? Number.NaN);
  const growths = grown.map(({ growth_of_doubled }) => percent(growth_of_doubled));
  const [alpha, growth] = [
    [Math.min(...alphas), Math.max(...alphas)].map(metres),
    [Math.min(...growths), Math.max(...growths)].map((value) => `${value} %`),
  ].map((ends) => [...new Set(ends)].join(" to "));
  const which =
    crowns.length === 1 ? "The volume of the crown" : `The volume of ${grown.length} of ${crowns.length} crowns`;
  return [
    `${which} depends on alpha, which the spacing of the points decided (${alpha}): with twice that it is larger by about ${growth}. Send one alpha for volumes that compare with those of other trees and scans.`,
  ];
}
