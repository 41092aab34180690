import type { Plan } from "./plan-document.ts";

/** Points per m2 below which tiles change what method auto of the ground finds: docs/scale.md. */
const SPARSE = 20;

/** What the tiles of a plan may change against one run over the whole cloud. */
export function seamWarnings({ tiles, workflow: { ground } }: Pick<Plan, "tiles" | "workflow">): string[] {
  if (!ground || tiles.length < 2) return [];
  if (ground.method === "cloth")
    return [
      "Method cloth settles a sheet in each tile: near 1 in 25 points of a sparse airborne forest was labelled otherwise than in one run over the whole cloud. Method smrf works alike in all tiles.",
    ];
  const points = tiles.reduce((sum, tile) => sum + tile.points, 0);
  const area = tiles.reduce((sum, { view: [x0, y0, x1, y1] }) => sum + (x1 - x0) * (y1 - y0), 0);
  if (ground.method !== "auto" || points >= SPARSE * area) return [];
  return [
    `Method auto of the ground measures the spacing and the noise of each tile: in clouds as sparse as this one (${(points / area).toPrecision(2)} points/m2) near 1 in 100 points is labelled otherwise than in one run over the whole cloud. Method smrf works alike in all tiles.`,
  ];
}
