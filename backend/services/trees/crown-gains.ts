/** Part of the area of all crowns that more points would add, from which it is told. */
const TOLD_GAIN = 0.05;

/** Warns of crowns whose outermost points are so far apart that the hulls are smaller than the crowns. */
export function gainWarnings(crowns: readonly { readonly area_m2: number; readonly gain_m2: number }[]): string[] {
  const [area, gain] = [sumOf(crowns, "area_m2"), sumOf(crowns, "gain_m2")];
  if (!(gain > TOLD_GAIN * area)) return [];
  const percent = ((100 * gain) / area).toFixed(0);
  return [
    `Areas and widths of crowns, and the canopy cover, depend on the density of the points: crowns with points evenly spread over them would be ${percent} % larger than the hulls of so few (crown_area_gain_m2). Crowns of generated stands with so few points were larger by 1.5 to 4 times that.`,
  ];
}

const sumOf = <K extends string>(rows: readonly Readonly<Record<K, number>>[], key: K) =>
  rows.reduce((sum, row) => sum + row[key], 0);
