import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<DemNative>();

/** A north-up grid, metres. Cell (i, j) has index j * nx + i; row 0 has the lowest y. */
export interface RasterFrame {
  /** Lower-left corner of cell (0, 0). */
  readonly min_x: number;
  readonly min_y: number;
  readonly cell: number;
  readonly nx: number;
  readonly ny: number;
}

export type RasterMethod = "tin" | "nearest" | "idw";

export interface TerrainRasterParams {
  readonly frame: RasterFrame;
  /** Percentile of the z in a cell, 0..100. */
  readonly percentile: number;
  readonly method: RasterMethod;
  /** Cells outside the hull of the cells with points that get the nearest value: none, those of the footprint, all. */
  readonly gaps: "leave" | "footprint" | "fill";
  /** Slope correction from the place of a point to the centre of its cell: docs/adr/0016. */
  readonly at_centers: boolean;
}

export interface RasterSurface {
  /** f64 per cell, metres; NaN = void. */
  readonly z: NativeColumn;
  /** Cells with points. */
  readonly populated_count: number;
  readonly void_count: number;
  /** The cells with points lie on one line and cannot be triangulated: every cell has the nearest value. */
  readonly on_a_line: boolean;
}

export interface CanopyHeight {
  /** f64 per cell, metres >= 0; NaN = void. */
  readonly height: NativeColumn;
  /** f64 per cell: terrain + height. */
  readonly draped_z: NativeColumn;
  readonly void_count: number;
}

export interface RasterMesh {
  /** f32 (V, 3) metres. */
  readonly vertices: NativeColumn;
  /** f32 (V, 3). */
  readonly normals: NativeColumn;
  /** u32 (T, 3), counter-clockwise from above. */
  readonly indices: NativeColumn;
  /** u32 (V): the cell of each vertex. */
  readonly cell: NativeColumn;
  /** Square metres. */
  readonly area: number;
}

/** f32 per cell each; NaN = void, in `aspect` also level ground. */
export interface TerrainLayers {
  readonly hillshade: NativeColumn;
  readonly slope: NativeColumn;
  readonly aspect: NativeColumn;
}

export interface CellCounts {
  /** u32 per cell. */
  readonly counts: NativeColumn;
  /** u8 per cell, 1 = contains points. */
  readonly footprint: NativeColumn;
}

export interface CellLayer {
  /** f32 per cell; NaN = void. */
  readonly grid: NativeColumn;
  /** f32 per vertex. */
  readonly at_vertices: NativeColumn;
  /** Range of the finite cells; 0 and 1 without any. */
  readonly min: number;
  readonly max: number;
}

/** The columns of a voxel grid. Metres. */
export interface VoxelColumns {
  readonly center: readonly [number, number, number];
  readonly size: readonly [number, number, number];
  readonly nx: number;
  readonly ny: number;
  /** Rotation about the vertical through the centre, counter-clockwise. */
  readonly rotation_deg: number;
  readonly voxel_height: number;
  /** Clearance above the ground as a share of one voxel's height. */
  readonly safety_fraction: number;
}

export interface SnappedColumns {
  /** f64 per column j * nx + i, metres; 0 for a dropped column. */
  readonly offsets: NativeColumn;
  /** u8 per column, 1 = on the terrain, 0 = dropped. */
  readonly kept: NativeColumn;
  readonly dropped_count: number;
}

export type Mask = NativeColumn | null;

/** value = stored / divisor + offset */
export interface ValueUnits {
  readonly divisor: number;
  readonly offset: number;
}

/** Median over common cells (cpp/ops/dem/scan_heights.h), metres. */
export interface ScanHeight {
  readonly scan_a: number;
  readonly scan_b: number;
  readonly n_cells: number;
  /** Of scan_b above scan_a. */
  readonly z_m: number;
  readonly spread_m: number;
}

/** How a grid differs from another one; NaN without common cells. */
export interface GridChange {
  /** With a value in both, above a limit in the first. */
  readonly cells: number;
  /** Of the first. */
  readonly mean_value: number;
  /** Of first - second. */
  readonly mean_change: number;
  readonly rms_change: number;
}

/** Cells in which two grids differ. */
export interface GridJumps {
  /** With a value in both. */
  readonly cells: number;
  /** Of these, by more than a limit. */
  readonly changed: number;
  readonly largest: number;
  /** Number of the first cell with it. */
  readonly cell: number;
}

export interface LoneReturns {
  /** u8 per row, 1 = left out by `rows`, or alone. */
  readonly skip: NativeColumn;
  /** Rows that are alone. */
  readonly count: number;
}

/** Most that loneReturns needs per cell beside its points: cpp/ops/dem/lone_returns.h. */
export const LONE_RETURNS_CELL_BYTES = 192;

/** Most that belowCanopy needs beside its points: cpp/ops/dem/below_canopy.h. */
export const BELOW_CANOPY_BYTES = 9 * 2 ** 22;

/** How far a scan saw through closed canopy, by square cells. */
export interface BelowCanopy {
  /** Edge of the cells, metres; 0 without a point. */
  readonly cell: number;
  /** With a point. */
  readonly cells: number;
  /** Of these: in canopy of more than 2 m on all sides that is no roof. */
  readonly closed: number;
  /** Of the closed ones: with a point less than half as high as the canopy. */
  readonly seen: number;
}

export interface DemNative {
  terrainRaster(
    positions: NativeColumn,
    skip: Mask,
    params: TerrainRasterParams,
    footprint: Mask,
    options?: OpOptions,
  ): NativeJob<RasterSurface>;
  surfaceRaster(
    positions: NativeColumn,
    skip: Mask,
    frame: RasterFrame,
    method: RasterMethod,
    options?: OpOptions,
  ): NativeJob<RasterSurface>;
  canopyHeight(frame: RasterFrame, terrain: NativeColumn, surface: NativeColumn): NativeJob<CanopyHeight>;
  rasterMesh(frame: RasterFrame, z: NativeColumn): NativeJob<RasterMesh>;
  terrainLayers(frame: RasterFrame, z: NativeColumn): NativeJob<TerrainLayers>;
  cellCounts(positions: NativeColumn, skip: Mask, frame: RasterFrame): NativeJob<CellCounts>;
  cellMeans(
    positions: NativeColumn,
    skip: Mask,
    values: NativeColumn,
    units: ValueUnits,
    frame: RasterFrame,
  ): NativeJob<NativeColumn>;
  cellLayer(grid: NativeColumn, cell: NativeColumn): NativeJob<CellLayer>;
  heightAboveGround(
    positions: NativeColumn,
    skip: Mask,
    frame: RasterFrame,
    terrain: NativeColumn,
  ): NativeJob<NativeColumn>;
  scanHeights(
    positions: NativeColumn,
    skip: Mask,
    scans: NativeColumn,
    frame: RasterFrame,
  ): NativeJob<readonly ScanHeight[]>;
  medianAboveGround(positions: NativeColumn, skip: Mask, frame: RasterFrame, terrain: NativeColumn): NativeJob<number>;
  belowCanopy(positions: NativeColumn, skip: Mask, heights: NativeColumn): NativeJob<BelowCanopy>;
  halfRows(positions: NativeColumn, skip: Mask): NativeJob<NativeColumn>;
  gridChange(first: NativeColumn, second: NativeColumn, above: number): NativeJob<GridChange>;
  gridJumps(first: NativeColumn, second: NativeColumn, least: number): NativeJob<GridJumps>;
  loneReturns(
    positions: NativeColumn,
    skip: Mask,
    rows: Mask,
    frame: RasterFrame,
    side: "highest" | "lowest",
  ): NativeJob<LoneReturns>;
  columnSnap(
    columns: VoxelColumns,
    frame: RasterFrame,
    terrain: NativeColumn,
    options?: OpOptions,
  ): NativeJob<SnappedColumns>;
  terrainRasterBytes(points: number, cells: number): number;
}

/** Percentile of z per cell, interpolated in the hull of the cells with points. Rows marked in `skip` are left out. */
export const terrainRaster: DemNative["terrainRaster"] = (positions, skip, params, footprint, options) =>
  addon.terrainRaster(positions, skip, params, footprint, options);
/** The same with the 95th percentile; void outside the hull. */
export const surfaceRaster: DemNative["surfaceRaster"] = (positions, skip, frame, method, options) =>
  addon.surfaceRaster(positions, skip, frame, method, options);
/** max(surface - terrain, 0) with filled pits. */
export const canopyHeight: DemNative["canopyHeight"] = (frame, terrain, surface) =>
  addon.canopyHeight(frame, terrain, surface);
/** Mesh with vertices at the centres of cells with a value and two triangles per complete block of 2 x 2. */
export const rasterMesh: DemNative["rasterMesh"] = (frame, z) => addon.rasterMesh(frame, z);
/** Hillshade (0..1), slope and aspect (degrees) of a raster. */
export const terrainLayers: DemNative["terrainLayers"] = (frame, z) => addon.terrainLayers(frame, z);
/** Points per cell, and the footprint. */
export const cellCounts: DemNative["cellCounts"] = (positions, skip, frame) => addon.cellCounts(positions, skip, frame);
/** f32 per cell: mean of the values of its points; NaN without points. */
export const cellMeans: DemNative["cellMeans"] = (positions, skip, values, units, frame) =>
  addon.cellMeans(positions, skip, values, units, frame);
/** Converts a grid to a layer: float32, with its range and its values at mesh vertices. A count of 0 becomes NaN. */
export const cellLayer: DemNative["cellLayer"] = (grid, cell) => addon.cellLayer(grid, cell);
/** f32 per row: height above a terrain without voids, metres; 0 for rows marked in `skip`. */
export const heightAboveGround: DemNative["heightAboveGround"] = (positions, skip, frame, terrain) =>
  addon.heightAboveGround(positions, skip, frame, terrain);
/** How high points lie in one scan above another, in common cells; empty for one scan or more than 64. */
export const scanHeights: DemNative["scanHeights"] = (positions, skip, scans, frame) =>
  addon.scanHeights(positions, skip, scans, frame);
/** u8 per row, 0 = about half of the rows that `skip` does not mark, drawn by position. */
export const halfRows: DemNative["halfRows"] = (positions, skip) => addon.halfRows(positions, skip);
/** Compares two grids (f64) of one frame where the first is above a limit. */
export const gridChange: DemNative["gridChange"] = (first, second, above) => addon.gridChange(first, second, above);
/** Counts the cells in which two grids (f64) of one frame differ by more than a limit. */
export const gridJumps: DemNative["gridJumps"] = (first, second, least) => addon.gridJumps(first, second, least);
/** Finds the highest or lowest points of cells that stand alone; rows marked in `rows` are company at most. */
export const loneReturns: DemNative["loneReturns"] = (positions, skip, rows, frame, side) =>
  addon.loneReturns(positions, skip, rows, frame, side);
/** Half of the points that `skip` does not mark lie higher above a terrain, metres; NaN without any beside it. */
export const medianAboveGround: DemNative["medianAboveGround"] = (positions, skip, frame, terrain) =>
  addon.medianAboveGround(positions, skip, frame, terrain);
/** Cells of closed canopy and those in which a point lies below it; `heights`: above the terrain, metres. */
export const belowCanopy: DemNative["belowCanopy"] = (positions, skip, heights) =>
  addon.belowCanopy(positions, skip, heights);
/** Lift that puts each column of a voxel grid on a terrain; voids of the terrain (NaN) take the nearest height. */
export const columnSnap: DemNative["columnSnap"] = (columns, frame, terrain, options) =>
  addon.columnSnap(columns, frame, terrain, options);
/** Memory that a terrain raster needs besides its points and its result, bytes. */
export const terrainRasterBytes: DemNative["terrainRasterBytes"] = (points, cells) =>
  addon.terrainRasterBytes(points, cells);
