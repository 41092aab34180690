import { createHash } from "node:crypto";
import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Catalog, CatalogFile } from "../catalog/document.ts";
import { checkCatalog } from "./catalog-checks.ts";
import { PLAN_VERSION, type Plan, type PlannedFile, type PlannedTile, type Rectangle } from "./plan-document.ts";
import { buffersOf, resolveWorkflow, totalBuffer } from "./resolve.ts";
import { measuredWindows } from "./windows.ts";
import type { Workflow } from "./workflow.ts";

const bad = (message: string) => new AppError("invalid_argument", message);

/** Points of a tile where the files are no squares. */
const POINTS_PER_TILE = 2_000_000;
const MOST_TILES = 1_000_000;
/** Names of tiles are sorted as text. */
const DIGITS = 5;

/** Seconds per point of each step on one core, as measured (docs/scale.md), and how far a job may exceed them. */
const SECONDS_PER_POINT = {
  read: 4e-6,
  ground: 3e-6,
  rasters: 2e-6,
  trees: 12e-6,
  wood: 40e-6,
  inventory: 4e-6,
  qsm: 30e-6,
};
const TIME_MARGIN = 4;
/** Memory of the program, and bytes per point of the view, with a margin (docs/scale.md). */
const BASE_MB = 700;
const BYTES_PER_POINT = 450;

export const memoryMb = (points: number) => Math.ceil(BASE_MB + (points * BYTES_PER_POINT) / 1e6);
const minutesOf = (points: number, seconds: number) => Math.ceil(1 + (TIME_MARGIN * points * seconds) / 60);

/** Plans the tiles of a catalogue. Errors: invalid_argument for a catalogue that no tiles can be made of. */
export function planBatch(catalog: Catalog, given: Workflow, { name, program }: Pick<Plan, "name" | "program">): Plan {
  checkCatalog(catalog);
  const { bounds } = catalog.layout;
  const extent = [bounds.max[0] - bounds.min[0], bounds.max[1] - bounds.min[1]] as const;
  const { workflow, derived } = resolveWorkflow(given, catalog.density ?? 1, extent);
  const grid = tileGrid(catalog, workflow);
  const buffers = buffersOf(workflow);
  const cell = workflow.rasters?.cell_m;
  const wanted = workflow.tiles?.buffer_m ?? totalBuffer(buffers);
  const buffer_m = cell === undefined ? wanted : wholeCells(wanted, cell);
  if (cell !== undefined) checkCells(grid.size, { cell, buffer: buffer_m, origin: grid.origin });
  const seconds = secondsPerPoint(workflow);
  const tiles = tilesOf(catalog, grid, buffer_m, seconds);
  const files = catalog.files.map(
    ({ path, compressed, points }, i): PlannedFile => ({
      id: String(i).padStart(DIGITS, "0"),
      path,
      compressed,
      points,
      mem_mb: memoryMb(points),
      minutes: minutesOf(points, SECONDS_PER_POINT.read),
    }),
  );
  return {
    kind: "point-cloud-batch",
    version: PLAN_VERSION,
    name,
    program,
    workflow,
    shift: [thousands(bounds.min[0]), thousands(bounds.min[1]), 0],
    crs_epsg: catalog.files[0]?.crs_epsg ?? null,
    extent: [bounds.min[0], bounds.min[1], bounds.max[0], bounds.max[1]],
    tile_m: grid.size,
    buffer_m,
    buffers,
    warnings: planWarnings(catalog, buffer_m, totalBuffer(buffers)),
    derived: [...(workflow.tiles?.size_m === undefined ? ["tiles.size_m"] : []), ...derived],
    files,
    windows: workflow.ground && workflow.ground.method !== "las_classification" ? measuredWindows(catalog) : [],
    tiles,
  };
}

function planWarnings({ layout, files }: Catalog, buffer: number, needed: number): string[] {
  const warnings: string[] = [];
  if (buffer < needed - EDGE_M)
    warnings.push(
      `tiles.buffer_m ${buffer} is less than the ${needed} m that the steps reach; results beside the edges of tiles may differ from the whole.`,
    );
  if (layout.overlap_count > 0)
    warnings.push(
      `${layout.overlap_count} pairs of files overlap. Strips of a flight may; of files that were cut with a buffer, points count twice: cut them without it first.`,
    );
  const doubtful = files.filter((file) => file.warnings.length > 0);
  for (const { name, warnings: said } of doubtful.slice(0, NAMED)) warnings.push(`${name}: ${said.join("; ")}`);
  if (doubtful.length > NAMED)
    warnings.push(`${doubtful.length - NAMED} more files have warnings, which the catalogue has.`);
  return warnings;
}

/** Files whose warnings are told one by one. */
const NAMED = 10;
const thousands = (value: number) => Math.floor(value / 1000) * 1000;
const wholeCells = (length: number, cell: number) => Math.ceil(length / cell - 1e-9) * cell;

/** A short name of what the results of a plan depend on. */
export const planKey = (plan: Plan): string =>
  createHash("sha256")
    .update(JSON.stringify({ ...plan, name: "" }))
    .digest("hex")
    .slice(0, 16);

/** Tiles whose edges cut cells would have cells that two tiles make. */
function checkCells(
  size: number,
  {
    cell,
    buffer,
    origin,
  }: { readonly cell: number; readonly buffer: number; readonly origin: readonly [number, number] },
): void {
  const across = Math.ceil((size + 2 * buffer) / cell);
  if (across ** 2 > MAX_DEM_CELLS)
    throw bad(
      `a tile of ${size} m with its buffer has ${across} x ${across} cells of ${cell} m, but the limit is ${MAX_DEM_CELLS}; choose a larger rasters.cell_m or a smaller tiles.size_m`,
    );
  const isWhole = (length: number) => Math.abs(length / cell - Math.round(length / cell)) < 1e-6;
  if (!isWhole(size))
    throw bad(`rasters.cell_m ${cell} does not divide the tile of ${size} m; choose a cell or tiles.size_m that fits`);
  if (!isWhole(1000) || !origin.every(isWhole))
    throw bad(
      `rasters.cell_m ${cell} does not divide 1000 m, on which the rasters of all tiles are aligned; choose 0.1, 0.2, 0.25, 0.5 or 1, for example`,
    );
}

interface TileGrid {
  readonly size: number;
  readonly origin: readonly [number, number];
}

/** The squares of the files; of others, squares of about POINTS_PER_TILE points on whole multiples of their size. */
function tileGrid({ layout, density }: Catalog, { tiles, rasters }: Workflow): TileGrid {
  const { lattice, bounds } = layout;
  const size = tiles?.size_m;
  if (size === undefined && lattice) return { size: lattice.size_m, origin: lattice.origin };
  const made = size ?? niceSize(Math.sqrt(POINTS_PER_TILE / (density ?? 1)), rasters?.cell_m ?? 1);
  return { size: made, origin: [Math.floor(bounds.min[0] / made) * made, Math.floor(bounds.min[1] / made) * made] };
}

/** At most `wanted`: 1, 2 or 5 times a power of ten, and whole cells. */
function niceSize(wanted: number, cell: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const size = [5, 2, 1].map((digit) => digit * power).find((length) => length <= wanted * (1 + 1e-9)) ?? power;
  return Math.max(1, cell, size);
}

function secondsPerPoint(workflow: Workflow): number {
  const steps = Object.keys(workflow) as (keyof typeof SECONDS_PER_POINT)[];
  return steps.reduce((sum, name) => sum + (SECONDS_PER_POINT[name] ?? 0), SECONDS_PER_POINT.read);
}

/** Bounds in headers are rounded: a point on the edge of a tile may lie this far outside of them, metres. */
const EDGE_M = 1e-6;

const meets = (a: Rectangle, { bounds: { min, max } }: CatalogFile) =>
  min[0] <= a[2] + EDGE_M && max[0] >= a[0] - EDGE_M && min[1] <= a[3] + EDGE_M && max[1] >= a[1] - EDGE_M;

/** Points of a file in a rectangle, if they are spread evenly over its box. */
function share(a: Rectangle, { bounds: { min, max }, points }: CatalogFile): number {
  const along = (axis: 0 | 1) => {
    const width = max[axis] - min[axis];
    const inside = Math.min(a[axis + 2] as number, max[axis]) - Math.max(a[axis] as number, min[axis]);
    return width > 0 ? Math.max(0, inside) / width : 1;
  };
  return points * along(0) * along(1);
}

function tilesOf(catalog: Catalog, { size, origin }: TileGrid, buffer: number, seconds: number): PlannedTile[] {
  const { files, layout } = catalog;
  const index = (value: number, axis: 0 | 1) => Math.floor((value - origin[axis]) / size);
  const columns = index(layout.bounds.max[0] + EDGE_M, 0) + 1;
  const rows = index(layout.bounds.max[1] + EDGE_M, 1) + 1;
  if (columns * rows > MOST_TILES)
    throw bad(`${columns} x ${rows} tiles of ${size} m are too many; choose a larger tiles.size_m`);
  const byTile = new Map<number, number[]>();
  for (const [i, { bounds }] of files.entries()) {
    const range = (axis: 0 | 1, count: number) =>
      [
        Math.max(0, index(bounds.min[axis] - buffer - EDGE_M, axis)),
        Math.min(count - 1, index(bounds.max[axis] + buffer + EDGE_M, axis)),
      ] as const;
    const [x0, x1] = range(0, columns);
    const [y0, y1] = range(1, rows);
    for (let y = y0; y <= y1; y += 1)
      for (let x = x0; x <= x1; x += 1) {
        const tile = y * columns + x;
        const list = byTile.get(tile);
        if (list) list.push(i);
        else byTile.set(tile, [i]);
      }
  }
  const tiles: PlannedTile[] = [];
  for (const tile of [...byTile.keys()].sort((a, b) => a - b)) {
    const [x, y] = [tile % columns, Math.floor(tile / columns)];
    const core: Rectangle = [
      origin[0] + x * size,
      origin[1] + y * size,
      origin[0] + (x + 1) * size,
      origin[1] + (y + 1) * size,
    ];
    const view: Rectangle = [core[0] - buffer, core[1] - buffer, core[2] + buffer, core[3] + buffer];
    const near = (byTile.get(tile) ?? []).filter((i) => meets(view, files[i] as CatalogFile));
    if (!near.some((i) => meets(core, files[i] as CatalogFile))) continue;
    const points = Math.ceil(near.reduce((sum, i) => sum + share(view, files[i] as CatalogFile), 0));
    const name = (value: number) => String(value).padStart(DIGITS, "0");
    tiles.push({
      id: `x${name(x)}_y${name(y)}`,
      core,
      view,
      files: near,
      points,
      mem_mb: memoryMb(points),
      minutes: minutesOf(points, seconds),
    });
  }
  return tiles;
}
