import { isKnown, type LadProfile } from "../../../shared/client/lad-profile.ts";
import type { LadCell, LadSuccess } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";

const blank = (value: number) => (Number.isFinite(value) ? String(value) : "");

/** Profile and totals (contract lad 6). */
export function profileCsv(
  { levels, lai, footprint_m2, leaf_area_m2 }: LadProfile,
  { filled_leaf_area, terrain_follow }: Pick<LadSuccess, "filled_leaf_area" | "terrain_follow">,
): string {
  const rows = levels.map((level) =>
    [
      level.level,
      level.height_m,
      level.thickness_m,
      blank(level.mean_lad),
      blank(level.std_lad),
      level.leaf_area_m2,
      level.lai_contribution,
      level.voxel_count,
      level.measured_count,
      level.occluded_count,
      level.filled_count,
    ].join(","),
  );
  return [
    `level,${terrain_follow ? "mean_height_above_ground_m" : "height_m"},thickness_m,mean_lad_m2_m3,std_lad_m2_m3,leaf_area_m2,lai_contribution,voxel_count,measured_count,occluded_count,filled_count`,
    ...rows,
    `# LAI ${lai}`,
    `# leaf area ${leaf_area_m2} m2 in measured voxels`,
    `# footprint of the grid ${footprint_m2} m2`,
    `# interpolated leaf area ${filled_leaf_area} m2, not part of the LAI`,
    "",
  ].join("\n");
}

const known = (value: (cell: LadCell) => number | null | undefined) => (cell: LadCell) =>
  isKnown(cell) ? (value(cell) ?? "") : "";

const COLUMNS: readonly (readonly [name: string, value: (cell: LadCell) => string | number])[] = [
  ["x_m", ({ center }) => center[0]],
  ["y_m", ({ center }) => center[1]],
  ["z_m", ({ center }) => center[2]],
  ["lad_m2_m3", known(({ lad }) => lad)],
  ["leaf_area_m2", known(({ leaf_area }) => leaf_area)],
  ["leaf_area_ci_lower_m2", known(({ leaf_area_ci_lower }) => leaf_area_ci_lower)],
  ["leaf_area_ci_upper_m2", known(({ leaf_area_ci_upper }) => leaf_area_ci_upper)],
  ["g", ({ gtheta }) => gtheta],
  ["hit_count", ({ hit_count }) => hit_count],
  ["beam_count", ({ beam_count }) => beam_count],
  ["transmission", ({ relative_density_index }) => (relative_density_index === null ? "" : 1 - relative_density_index)],
  ["path_length_m", ({ path_length_total }) => path_length_total],
  ["occluded", ({ under_sampled }) => Number(under_sampled)],
  ["filled", ({ lad_filled }) => Number(lad_filled)],
  ["lad_std_m2_m3", known(({ lad_std_total }) => lad_std_total)],
];

const WOOD_COLUMNS: typeof COLUMNS = [
  ["wad_m2_m3", known(({ wad }) => wad)],
  ["wood_area_m2", known(({ wood_area }) => wood_area)],
  ["wood_fraction", ({ wood_fraction }) => wood_fraction ?? ""],
  ["wood_hit_count", ({ wood_hit_count }) => wood_hit_count ?? ""],
  ["leaf_hit_count", ({ leaf_hit_count }) => leaf_hit_count ?? ""],
];

const placeOf = ({ nx, ny }: LadSuccess, { index }: LadCell) =>
  [index % nx, Math.floor(index / nx) % ny, Math.floor(index / (nx * ny))] as const;

/** Above the ground of a column that is raised onto it. */
const heightOf = ({ nx, ny, nz, grid_size }: LadSuccess, { index }: LadCell) =>
  (Math.floor(index / (nx * ny)) + 0.5) * (grid_size[2] / nz);

/** Pieces of text, so that a large grid never becomes one string. */
export function* voxelCsv(answer: LadSuccess): Generator<string> {
  const columns = answer.has_wood_classification ? [...COLUMNS, ...WOOD_COLUMNS] : COLUMNS;
  const raised: typeof COLUMNS = answer.terrain_follow
    ? [["height_above_ground_m", (cell) => heightOf(answer, cell)]]
    : [];
  const all = [...columns, ...raised];
  yield `i,j,k,${all.map(([name]) => name).join(",")}\n`;
  for (const cell of answer.cells)
    yield `${placeOf(answer, cell).join(",")},${all.map(([, value]) => value(cell)).join(",")}\n`;
}

/**
 * Voxel space of AMAPVox: rows by i, then j, then k, which its reader counts instead of reading their numbers. Voxels without
 * an estimate, also occluded ones, have no density. For a level grid of cubes without rotation, whose columns are all kept.
 */
export function* voxelSpace(answer: LadSuccess): Generator<string> {
  const { bounds, nx, ny, nz, grid_size } = answer;
  yield "VOXEL SPACE\n";
  yield `#min_corner: ${bounds[0].join(" ")}\n#max_corner: ${bounds[1].join(" ")}\n`;
  yield `#split: ${nx} ${ny} ${nz}\n#type: TLS #res: ${grid_size[0] / nx} #MAX_PAD: 100\n`;
  yield "i j k PadBVTotal lMeanTotal lgTotal nbEchos nbSampling transmittance\n";
  for (let n = 0; n < nx * ny * nz; n += 1) {
    const [i, j, k] = [Math.floor(n / (ny * nz)), Math.floor(n / nz) % ny, n % nz];
    const cell = answer.cells[i + nx * (j + ny * k)];
    if (cell?.index !== i + nx * (j + ny * k)) throw new AppError("internal", "a voxel space needs all voxels");
    yield `${i} ${j} ${k} ${spaceValues(cell).join(" ")}\n`;
  }
}

function spaceValues(cell: LadCell): (number | string)[] {
  const { mean_path_length, path_length_total, hit_count, beam_count, relative_density_index } = cell;
  return [
    isKnown(cell) ? cell.lad : "NaN",
    mean_path_length ?? "NaN",
    path_length_total,
    hit_count,
    beam_count,
    relative_density_index === null ? "NaN" : 1 - relative_density_index,
  ];
}
