import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import { MAX_LAD_VOXELS } from "../../../shared/limits.ts";
import type { TracedBeams } from "../../native/lad.ts";
import type { Clumping, InversionParams, InvertedBeams } from "../../native/lad-inversion.ts";
import type { LadGrid } from "./grid.ts";
import { scanWarnings } from "./scans/scan-warnings.ts";
import type { ReadScan } from "./scans/scans.ts";

/** Largest share of a leaf in a voxel for which an interval of 95 % holds (Pimont et al. 2018). */
const LARGEST_ELEMENT = 0.05;

const edgeOf = ({ edges }: LadGrid) => Math.cbrt(edges[0] * edges[1] * edges[2]);

/** Whether leaves of a width are too large for voxels of an edge. */
const areLarge = (width: number, edge: number) =>
  width > 0 && (Math.PI * width * width) / (8 * edge * edge) > LARGEST_ELEMENT;

/** Whether the eighths of the voxels can tell clumps: they must be neither too many nor too small for the leaves. */
export const tellsClumps = (width: number, grid: LadGrid): boolean =>
  8 * grid.cells <= MAX_LAD_VOXELS && !areLarge(width, edgeOf(grid) / 2);

/** A rise by less than this may be chance. */
const CLEAR_RISE = 1.05;

/** What the eighths of the voxels say. */
export function clumpWarnings({ whole_m2, eighths_m2 }: Clumping): string[] {
  if (!(eighths_m2 > CLEAR_RISE * whole_m2)) return [];
  const percent = (100 * (eighths_m2 / whole_m2 - 1)).toFixed(0);
  return [
    `Leaves stand in clumps and hide each other: through voxels of half the edges the same beams find ${percent} % more leaf area, so the leaf area is at least that much too low (in scans of a known tree, where this was 7 %, by 20 % of the truth). Use smaller voxels as far as beams reach them.`,
  ];
}

/** Beer's law takes leaves as small and placed at random. */
function largeLeaves(width: number, grid: LadGrid): string[] {
  const edge = edgeOf(grid);
  if (!areLarge(width, edge)) return [];
  return [
    `Leaves of ${Number(width.toPrecision(3))} m are large against voxels of ${Number(edge.toPrecision(3))} m: no interval is valid, and where few leaves share a voxel, as in small plants, the leaf area reads low.`,
  ];
}

/** Warnings about the scans, the grid and the voxels of a result. */
export function resultWarnings(
  request: LadRequest,
  scans: readonly ReadScan[],
  traced: TracedBeams,
  grid: LadGrid,
  { occluded_count }: InvertedBeams["totals"],
  { min_beams, occlusion_threshold_m }: InversionParams,
): string[] {
  const told = scans.flatMap(({ notes }, i) => {
    const counts = traced.scans[i];
    return counts ? scanWarnings(notes, counts) : [];
  });
  const given = request.gtheta !== null || request.gtheta_spec !== null;
  if (given && !request.gtheta_override) told.push("gtheta and gtheta_spec are not used: gtheta_override is false.");
  if (request.min_voxel_hits === null || request.min_voxel_hits === undefined)
    told.push(`min_voxel_hits was not given: voxels need ${min_beams} beams.`);
  told.push(...largeLeaves(request.element_width, grid));
  if (grid.dropped_columns > 0) {
    told.push(`${grid.dropped_columns} of ${grid.box.nx * grid.box.ny} columns of the grid are left out.`);
  }
  if (traced.beam_count === 0) told.push("No beam reaches the grid: are the scans and the grid in the same frame?");
  if (occluded_count > 0) {
    const share = ((100 * occluded_count) / grid.cells).toFixed(1);
    told.push(
      `${occluded_count} voxels (${share} %) are occluded: fewer than ${min_beams} beams reach them, or less than ${Number(occlusion_threshold_m.toPrecision(6))} m of path.`,
    );
  }
  return told;
}
