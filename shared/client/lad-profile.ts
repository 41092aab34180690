import type { LadCell, LadSuccess } from "../contract/lad-compute.ts";

/** The measured voxels of one layer of the grid (contract lad 6). */
export interface ProfileLevel {
  readonly level: number;
  /** Middle of the layer above the floor of the grid, metres. */
  readonly height_m: number;
  readonly thickness_m: number;
  /** m2/m3 over the measured voxels; NaN without. */
  readonly mean_lad: number;
  readonly std_lad: number;
  readonly leaf_area_m2: number;
  readonly lai_contribution: number;
  readonly voxel_count: number;
  readonly measured_count: number;
  readonly occluded_count: number;
  readonly filled_count: number;
}

export interface LadProfile {
  readonly levels: readonly ProfileLevel[];
  /** Measured leaf area per area of the footprint of the whole grid. */
  readonly lai: number;
  readonly footprint_m2: number;
  readonly leaf_area_m2: number;
}

/** Whether the density of the voxel was measured: beams told it, and enough of them reached the voxel. */
export const isMeasured = ({ lad_solved, under_sampled, lad_filled }: LadCell) =>
  lad_solved && !under_sampled && !lad_filled;

/** Whether the voxel has a density: measured, or interpolated where it is occluded. */
export const isKnown = ({ lad_solved, under_sampled, lad_filled }: LadCell) =>
  lad_filled || (lad_solved && !under_sampled);

/** Profile and leaf area index. The level of a voxel comes from its index, not from its height. */
export function profileOf({ cells, nx, ny, nz, grid_size }: LadSuccess): LadProfile {
  const layers: LadCell[][] = Array.from({ length: nz }, () => []);
  for (const cell of cells) layers[Math.floor(cell.index / (nx * ny))]?.push(cell);
  const footprint_m2 = grid_size[0] * grid_size[1];
  const thickness_m = grid_size[2] / nz;
  const levels = layers.map((layer, level): ProfileLevel => {
    const measured = layer.filter(isMeasured);
    const sum = (value: (cell: LadCell) => number) => measured.reduce((total, cell) => total + value(cell), 0);
    const mean_lad = sum(({ lad }) => lad) / measured.length;
    const leaf_area_m2 = sum(({ leaf_area }) => leaf_area);
    return {
      level,
      height_m: (level + 0.5) * thickness_m,
      thickness_m,
      mean_lad,
      std_lad: Math.sqrt(sum(({ lad }) => (lad - mean_lad) ** 2) / measured.length),
      leaf_area_m2,
      lai_contribution: leaf_area_m2 / footprint_m2,
      voxel_count: layer.length,
      measured_count: measured.length,
      occluded_count: layer.filter(({ under_sampled }) => under_sampled).length,
      filled_count: layer.filter(({ lad_filled }) => lad_filled).length,
    };
  });
  const leaf_area_m2 = levels.reduce((total, level) => total + level.leaf_area_m2, 0);
  return { levels, lai: leaf_area_m2 / footprint_m2, footprint_m2, leaf_area_m2 };
}
