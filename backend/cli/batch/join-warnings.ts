import { modelWarnings } from "../inventory/wood.ts";
import { counted } from "../wording.ts";
import type { JoinedLists } from "./join.ts";
import type { Plan, PlannedTile } from "./plan-document.ts";
import type { TileResult } from "./tile-result.ts";

type Corners = readonly (readonly [number, number])[];

/** Share of a plot that ground of tiles must cover: below, the plot is said to be too large, or is none. */
const FILLED = 0.9;
const LEAST_FILLED = 0.5;

/** Area of a polygon, m2. */
function areaOf(corners: Corners): number {
  const [east, north] = corners[0] ?? [0, 0];
  const sum = corners.reduce((twice, [x, y], i) => {
    const [next_x, next_y] = corners[(i + 1) % corners.length] ?? [x, y];
    return twice + (x - east) * (next_y - north) - (next_x - east) * (y - north);
  }, 0);
  return Math.abs(sum) / 2;
}

/**
 * The plot of the joined list: the convex hull of the ground of all tiles, which holds what lies between tiles that are apart
 * or around a missing one. None if the ground of the tiles fills less than half of it. `isGiven`: its area was stated.
 */
export function plotOf(
  { ground_hull }: Pick<JoinedLists, "ground_hull">,
  results: readonly Pick<TileResult, "ground_hull">[],
  isGiven: boolean,
): { readonly corners: Corners; readonly warnings: readonly string[] } {
  const area = areaOf(ground_hull);
  const filled = results.reduce((sum, result) => sum + areaOf(result.ground_hull), 0);
  if (!(area > 0) || filled >= FILLED * area) return { corners: ground_hull, warnings: [] };
  const said = `The ground of the tiles fills ${((100 * filled) / area).toFixed(0)} % of its convex hull of ${area.toFixed(0)} m2`;
  const isPlot = filled >= LEAST_FILLED * area;
  if (isGiven) return { corners: isPlot ? ground_hull : [], warnings: [] };
  return {
    corners: isPlot ? ground_hull : [],
    warnings: [
      isPlot
        ? `${said}: values per hectare are too low. State inventory.plot_area_m2.`
        : `${said}: that is no plot, and there are no values per hectare. State inventory.plot_area_m2.`,
    ],
  };
}

export interface Joined {
  readonly results: readonly Pick<TileResult, "core_points">[];
  readonly lists: Pick<JoinedLists, "owners" | "skipped_count" | "qsm">;
  /** Tiles without a result. */
  readonly lost: readonly Pick<PlannedTile, "core">[];
}

/** What is doubtful in the joined results. */
export function joinWarnings(
  plan: Pick<Plan, "files" | "workflow">,
  { results, lists: { owners, skipped_count, qsm }, lost }: Joined,
): string[] {
  const warnings: string[] = [];
  const declared = plan.files.reduce((sum, { points }) => sum + points, 0);
  const found = results.reduce((sum, { core_points }) => sum + core_points, 0);
  if (lost.length === 0 && found !== declared)
    warnings.push(
      `The files declare ${declared} points, the tiles hold ${found}: bounds or counts in headers are wrong, or a reader left points out.`,
    );
  const isLost = ([x, y]: readonly [number, number]) =>
    lost.some(({ core }) => x >= core[0] && x < core[2] && y >= core[1] && y < core[3]);
  const homeless = owners.trees.filter(({ anchor }) => isLost(anchor)).length;
  if (homeless > 0)
    warnings.push(
      `${counted(homeless, "tree stands", "trees stand")} in tiles that failed, measured from the buffer of a neighbour.`,
    );
  const cut = owners.truncated_count - homeless;
  if (cut > 0)
    warnings.push(
      `${counted(cut, "tree", "trees")} may be cut: no tile with the stem found it. Repeat with trees.tile_buffer_m above ${plan.workflow.trees?.tile_buffer_m} m.`,
    );
  if (skipped_count > 0)
    warnings.push(`${counted(skipped_count, "tree was", "trees were")} not measured: too few points.`);
  return [...warnings, ...modelWarnings(qsm ?? [])];
}
