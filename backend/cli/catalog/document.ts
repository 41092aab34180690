/** Version of catalog.json; a reader refuses others. */
export const CATALOG_VERSION = 1;
export const CATALOG_FILE = "catalog.json";

type Triple = readonly [number, number, number];

/** What the header of a LAS or LAZ file declares. */
export interface CatalogFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  /** When the file was last written, ms since 1970. */
  readonly modified_ms: number;
  /** Such as 1.4. */
  readonly version: string;
  readonly point_format: number;
  /** Length of a point's record, bytes. */
  readonly record_bytes: number;
  readonly compressed: boolean;
  readonly points: number;
  /** Metres; degrees in x and y of a geographic system. */
  readonly bounds: { readonly min: Triple; readonly max: Triple };
  /** Points per m2 of the box; null: the box has no area, or is in degrees. */
  readonly density: number | null;
  readonly crs_epsg: number | null;
  readonly crs_name: string | null;
  readonly is_geographic: boolean;
  /** Metres per unit of x and y in the file, and of z; null: not stated, taken as metres. */
  readonly unit_m: number | null;
  readonly vertical_unit_m: number | null;
  readonly scale: Triple;
  readonly warnings: readonly string[];
}

/** A file that is not part of the catalogue. */
export interface SkippedFile {
  readonly path: string;
  readonly reason: string;
}

/** Two files whose boxes share more than an edge; indices into the files. */
export interface Overlap {
  readonly a: number;
  readonly b: number;
  readonly area_m2: number;
  /** Of the smaller box. */
  readonly share: number;
}

/** An area without files that files surround. */
export interface Gap {
  readonly area_m2: number;
  readonly min: readonly [number, number];
  readonly max: readonly [number, number];
}

/** Squares of one size that each hold at most one file. */
export interface TileLattice {
  readonly size_m: number;
  readonly origin: readonly [number, number];
}

export interface Layout {
  readonly bounds: { readonly min: Triple; readonly max: Triple };
  /** Area under at least one box, m2; where boxes overlap, to a cell of the raster that gaps are looked for in. */
  readonly covered_m2: number;
  /** Largest first, at most MOST_LISTED. */
  readonly overlaps: readonly Overlap[];
  readonly overlap_count: number;
  /** False: the number of overlaps is a lower bound. */
  readonly overlaps_complete: boolean;
  /** Largest first, at most MOST_LISTED. */
  readonly gaps: readonly Gap[];
  readonly gap_count: number;
  /** Null: the files are no such squares. */
  readonly lattice: TileLattice | null;
}
export const MOST_LISTED = 1000;

/** A value and the number of files that have it. */
export interface Kind<T> {
  readonly value: T;
  readonly files: number;
}

/** The content of catalog.json. */
export interface Catalog {
  readonly kind: "point-cloud-catalog";
  readonly version: number;
  readonly file_count: number;
  readonly points: number;
  readonly bytes: number;
  /** Points per m2 of the covered area; null in degrees. */
  readonly density: number | null;
  readonly crs: readonly Kind<string>[];
  readonly units: readonly Kind<string>[];
  readonly point_formats: readonly Kind<number>[];
  readonly layout: Layout;
  readonly warnings: readonly string[];
  readonly files: readonly CatalogFile[];
  readonly skipped: readonly SkippedFile[];
}
