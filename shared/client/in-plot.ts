import type { StandRecord, TreeRow } from "../contract/cloud-session/tree-inventory-rows.ts";

/** Whether a tree stands inside the plot, or on its border; true where the plot or the tree's place is unknown. */
export function standsInPlot(
  { stem_base }: Pick<TreeRow, "stem_base">,
  { plot_polygon: corners }: Pick<StandRecord, "plot_polygon">,
): boolean {
  if (!stem_base || !corners || corners.length < 3) return true;
  const [x, y] = stem_base;
  return corners.every(([ax, ay], i) => {
    const [bx, by] = corners[(i + 1) % corners.length] ?? [ax, ay];
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= 0;
  });
}
