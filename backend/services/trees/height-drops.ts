/** Mean lowering of the heights with every second point from which it is told, metres. */
const TOLD_DROP_M = 0.1;

/** Warns of trees whose highest points are so far apart that the treetops are above them. */
export function dropWarnings(drops_m: readonly number[]): string[] {
  const mean = drops_m.reduce((sum, drop) => sum + drop, 0) / drops_m.length;
  if (!(mean > TOLD_DROP_M)) return [];
  return [
    `Heights depend on the density of the points: with every second one they would be ${mean.toFixed(2)} m lower in the mean (height_drop_m). Treetops of a reference forest with so few points were 1.7 to 3 times that above the highest point.`,
  ];
}
