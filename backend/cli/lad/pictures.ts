import { isKnown, type LadProfile } from "../../../shared/client/lad-profile.ts";
import type { LadCell, LadSuccess } from "../../../shared/contract/lad-compute.ts";
import { chartPicture } from "../drawing/chart.ts";
import { framedPicture } from "../drawing/framed-picture.ts";
import { drawGrid } from "../drawing/raster-picture.ts";
import { VIEWS, type ViewName, viewFrame } from "../drawing/view-frame.ts";
import type { PageFigure } from "../report/page.ts";

export interface NamedFigure extends PageFigure {
  /** Name of the file without extension. */
  readonly name: string;
}

/** Mean leaf area density by height. */
export async function profileFigure({ levels }: LadProfile, floor: string): Promise<NamedFigure> {
  const known = levels.filter(({ mean_lad }) => Number.isFinite(mean_lad));
  const top = Math.max(...levels.map(({ height_m, thickness_m }) => height_m + thickness_m / 2));
  const png = await chartPicture({
    title: "Leaf area density by height",
    x: { title: `height above ${floor}, m`, range: [0, top] },
    y: { title: "mean LAD, m2/m3", range: [0, 1.1 * Math.max(...known.map(({ mean_lad }) => mean_lad), 1e-3)] },
    series: [{ color: [0x35, 0x7a, 0x3c], points: known.map(({ height_m, mean_lad }) => [height_m, mean_lad]) }],
  });
  return { name: "profile", title: "Profile", text: "mean over the measured voxels of each layer", png };
}

/** Values of the cells of a plane of the grid: `of` gives the place in it and the value; those of one place are joined. */
function plane(
  cells: readonly LadCell[],
  [nx, ny]: readonly [number, number],
  of: (cell: LadCell) => readonly [number, number, number] | null,
  join: (values: readonly number[]) => number,
): Float32Array {
  const found: number[][] = Array.from({ length: nx * ny }, () => []);
  for (const cell of cells) {
    const placed = of(cell);
    if (placed) found[placed[1] * nx + placed[0]]?.push(placed[2]);
  }
  return Float32Array.from(found, (values) => (values.length > 0 ? join(values) : Number.NaN));
}

/** A plane of voxels; each is drawn as a square of one colour. */
interface PlaneMap {
  readonly name: string;
  readonly view: ViewName;
  readonly title: string;
  readonly text: string;
  readonly unit: string;
  readonly counts: readonly [number, number];
  readonly corner: readonly [number, number, number];
  readonly far: readonly [number, number, number];
  readonly values: Float32Array;
  readonly largest: number;
}

async function mapFigure(map: PlaneMap, cell: number, longestPx: number): Promise<NamedFigure> {
  const view = VIEWS.find(({ name }) => name === map.view);
  if (!view) throw new Error(`no view ${map.view}`);
  const frame = viewFrame(view, { min: [...map.corner], max: [...map.far] }, longestPx);
  const [nx, ny] = map.counts;
  const origin = [map.corner[view.right], map.corner[view.up]] as const;
  const scale = { ramp: "viridis" as const, range: [0, map.largest] as const };
  const raster = drawGrid({ nx, ny, cell, origin, z: map.values, hillshade: undefined }, frame, {
    ...scale,
    blocks: true,
  });
  const bar = { ...scale, unit: map.unit };
  const png = await framedPicture(raster, { title: map.title, frame, world_shift: [0, 0, 0], bar });
  return { name: map.name, title: map.title, text: map.text, png };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Leaf area index and occlusion per column, and the density of the slice with the most leaf area. */
export async function ladFigures(answer: LadSuccess, longestPx: number): Promise<NamedFigure[]> {
  const { cells, nx, ny, nz, bounds, grid_size } = answer;
  const cell = grid_size[0] / nx;
  const place = ({ index }: LadCell) =>
    [index % nx, Math.floor(index / nx) % ny, Math.floor(index / (nx * ny))] as const;
  const flat = { view: "top", counts: [nx, ny], corner: bounds[0], far: bounds[1] } as const;
  const column = (value: (one: LadCell) => number | null) => (one: LadCell) => {
    const [i, j] = place(one);
    const found = value(one);
    return found === null ? null : ([i, j, found] as const);
  };
  const largest = (values: Float32Array) => values.reduce((most, value) => (value > most ? value : most), 0) || 1;
  const lai = plane(
    cells,
    [nx, ny],
    column((one) => (isKnown(one) ? one.leaf_area / cell ** 2 : null)),
    sum,
  );
  const hidden = plane(
    cells,
    [nx, ny],
    column((one) => (one.beam_count > 0 ? Number(one.under_sampled) : null)),
    (values) => (100 * sum(values)) / values.length,
  );
  const rows = Array<number>(ny).fill(0);
  for (const one of cells) if (isKnown(one)) rows[place(one)[1]] = (rows[place(one)[1]] ?? 0) + one.leaf_area;
  const slice = rows.indexOf(Math.max(...rows));
  const section = plane(
    cells,
    [nx, nz],
    (one) => {
      const [i, j, k] = place(one);
      return j === slice && isKnown(one) ? [i, k, one.lad] : null;
    },
    sum,
  );
  const front = { view: "front", counts: [nx, nz], corner: bounds[0], far: bounds[1] } as const;
  const y = (bounds[0][1] + (slice + 0.5) * cell).toFixed(2);
  return [
    await mapFigure(
      {
        ...flat,
        name: "lai",
        title: "Leaf area index of the columns",
        text: cells.some(({ lad_filled }) => lad_filled)
          ? "with interpolated voxels, which the index of the report leaves out; white: no estimate"
          : "white: no estimate",
        unit: "LAI",
        values: lai,
        largest: largest(lai),
      },
      cell,
      longestPx,
    ),
    await mapFigure(
      {
        ...flat,
        name: "occlusion",
        title: "Occlusion",
        text: "share of the probed voxels of a column that are occluded; white: no beam",
        unit: "occluded, %",
        values: hidden,
        largest: 100,
      },
      cell,
      longestPx,
    ),
    await mapFigure(
      {
        ...front,
        name: "section",
        title: `Leaf area density of the section at y = ${y} m${answer.terrain_follow ? ", heights above the ground" : ""}`,
        text: "the row of voxels with the most leaf area; white: no estimate",
        unit: "LAD, m2/m3",
        values: section,
        largest: largest(section),
      },
      cell,
      longestPx,
    ),
  ];
}
