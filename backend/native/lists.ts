import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** A raster whose voids are NaN. */
export interface VoidCells {
  readonly heights: NativeColumn;
  /** Number of cells with a height. */
  readonly height_count: number;
}

/** A raster as float32, or the first value that float32 cannot hold. */
export type RasterFloats = { readonly values: NativeColumn } | { readonly refused: number };

/**
 * How the elements of a column stand in JSON: 1,2 - [1,2],[3,4] - [1,2,3],[4,5,6] - the numbers of the elements, as
 * triples - the inside of a string - JSON text as it is.
 */
export type JsonForm = "numbers" | "pairs" | "triples" | "counts" | "text" | "json";

/** A part of a column. `origin`: added to triples, which are then rounded to 1e-7. */
export interface JsonPart {
  readonly first: number;
  readonly count: number;
  readonly origin: readonly [number, number, number];
}

export interface ListsNative {
  unitColors(colors: NativeColumn): NativeJob<NativeColumn>;
  voidCells(values: NativeColumn, nodata: number | null): NativeJob<VoidCells>;
  rasterText(values: NativeColumn, nx: number, ny: number, nodata: number): NativeJob<NativeColumn>;
  rasterFloats(values: NativeColumn, nx: number, ny: number): NativeJob<RasterFloats>;
  jsonText(column: NativeColumn, form: JsonForm, part: JsonPart): NativeJob<NativeColumn>;
}

const addon = addonAs<ListsNative>();

/** rgb16 of colours 0..1 (vec3d); values outside are clipped. */
export const unitColors: ListsNative["unitColors"] = (colors) => addon.unitColors(colors);
/** A copy of a raster (f64) with NaN for values equal to `nodata`. */
export const voidCells: ListsNative["voidCells"] = (values, nodata) => addon.voidCells(values, nodata);
/** The rows of an ESRI ASCII grid from north to south, u8. Errors: invalid_argument for another count than nx * ny. */
export const rasterText: ListsNative["rasterText"] = (values, nx, ny, nodata) =>
  addon.rasterText(values, nx, ny, nodata);
/** The rows of a GeoTIFF from north to south, f32. Errors: invalid_argument for another count than nx * ny. */
export const rasterFloats: ListsNative["rasterFloats"] = (values, nx, ny) => addon.rasterFloats(values, nx, ny);
/**
 * JSON (u8) of a part of a column, without the brackets round the whole. Errors: invalid_argument for more
 * than 262144 elements, a part of a row, and a type other than f32, u32, u8 and, as triples rounded to 1e-7, f64.
 */
export const jsonText: ListsNative["jsonText"] = (column, form, part) => addon.jsonText(column, form, part);
