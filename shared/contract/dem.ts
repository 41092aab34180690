import { z } from "zod";
import { NumberList, PointList } from "./geometry.ts";
import { PointSource } from "./point-source.ts";

export const SURFACE_TYPES = ["dtm", "dsm", "chm"] as const;
export const DEM_METHODS = ["tin", "linear", "nearest", "idw"] as const;

/** What both DEM endpoints take. */
export const DemOptions = z.object({
  surface_type: z
    .string()
    .default("dtm")
    .describe(
      "dtm bare earth, dsm top of canopy, chm height of one above the other; any case; others fail in the frame",
    ),
  cell_size: z
    .number()
    .nullish()
    .default(null)
    .describe("metres; null or <= 0: a 256th of the larger extent, 0.01 to 5"),
  bbox: NumberList.nullish()
    .default(null)
    .describe(
      "[min x, min y, max x, max y], frame of the points; points beside it are left out; other lengths = null, no area: fails in the frame",
    ),
  method: z.string().default("tin").describe("tin (or linear), nearest, idw; others fail in the frame"),
  ground_percentile: z.number().default(5).describe("0..100, of the z in a cell of the DTM; clipped"),
  slope_correction: z
    .boolean()
    .default(true)
    .describe(
      "dtm, and the dtm under a chm: values are moved along the slope from where each cell's point lies to the cell centre; false = the plain percentile of each cell",
    ),
  fill_voids: z.boolean().default(false).describe("cells outside the hull that hold a return take the nearest value"),
  auto_segment_ground: z.boolean().default(true).describe("find the ground where no labels name it"),
  cloth_resolution: z.number().default(0.05).describe("ignored: the ground step takes its scale from the cloud"),
  rigidness: z.int().default(3).describe("ignored"),
  class_threshold: z.number().default(0.02).describe("ignored"),
});
export type DemOptions = z.infer<typeof DemOptions>;

export const DemRequest = DemOptions.extend({
  points: PointList.nullish().describe("(n, 3) metres, hits only; large coordinates lose digits in float32"),
  source: PointSource.nullish()
    .default(null)
    .describe("takes precedence over points; answers in true world coordinates; max_points is ignored"),
  ground_labels: NumberList.nullish().default(null).describe("(n) 1 = ground; another length = absent"),
  first_return_labels: NumberList.nullish().default(null).describe("(n) return index; another length = absent"),
  intensity: NumberList.nullish().default(null).describe("(n); another length = absent"),
  compute_height_above_ground: z.boolean().default(false).describe("dtm: also the buffer hag"),
});
export type DemRequest = z.infer<typeof DemRequest>;

const DemLayer = z.object({ min: z.number(), max: z.number(), label: z.string() });

const common = {
  method_used: z.string().describe("dem_tin, dem_linear, dem_nearest, dem_idw, dem_chm"),
  warnings: z
    .array(z.string())
    .optional()
    .describe("keys of the request that mean nothing, options of another surface, vertices too coarse in float32"),
};

/** Meta of the frame. Coordinates: flat as sent, session in its stored frame; add world_shift for true ones. */
export const DemSuccess = z.object({
  ...common,
  success: z.literal(true),
  error: z.null(),
  surface_type: z.enum(SURFACE_TYPES),
  num_vertices: z.int(),
  num_triangles: z.int(),
  surface_area: z.number().nullable().describe("square metres"),
  points_used: z.int().describe("cells that hold a point; chm: cells with a height"),
  grid_nx: z.int(),
  grid_ny: z.int(),
  grid_cell: z.number().describe("metres"),
  grid_origin: z.tuple([z.number(), z.number()]).describe("lower-left corner of cell (0, 0)"),
  voids: z.int().describe("NaN cells of grid_z"),
  slope_correction: z.boolean().optional().describe("dtm, chm: whether it was in effect"),
  layers: z.record(z.string(), DemLayer).optional().describe("dtm: range of each layer over its finite cells"),
  ground_source: z.enum(["column", "csf_auto", "all_points"]).optional().describe("dtm, chm"),
  surface_source: z.enum(["first_return", "all_points"]).optional().describe("dsm, chm"),
  world_shift: z.tuple([z.number(), z.number(), z.number()]),
  crs_epsg: z.int().optional(),
  warning: z.string().optional(),
});
export const DemFailure = z.object({
  ...common,
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  num_vertices: z.literal(0),
  num_triangles: z.literal(0),
});
export const DemMeta = z.discriminatedUnion("success", [DemSuccess, DemFailure]);
export type DemSuccess = z.infer<typeof DemSuccess>;
export type DemFailure = z.infer<typeof DemFailure>;

export const RASTER_FORMATS = ["asc", "tif"] as const;

export const ExportRasterRequest = z.object({
  format: z.string().default("asc").describe("asc (ESRI ASCII grid), tif (tiff, geotiff); any case; others: 400"),
  grid_z: NumberList.describe("(ny, nx) row 0 at the lowest y; voids = nodata; another count: 400"),
  nx: z.int().describe("columns; not positive: 400"),
  ny: z.int().describe("rows; not positive: 400"),
  cell_size: z.number().positive().describe("metres, degrees for a geographic system"),
  origin: z.tuple([z.number(), z.number()]).describe("lower-left corner of cell (0, 0), true world"),
  nodata: z.number().default(-9999),
  crs_epsg: z.int().min(1024).max(32766).nullish().default(null).describe("code of a projected or geographic system"),
  crs_is_geographic: z.boolean().nullish().default(null).describe("x and y are angles; null = as the code says"),
  dest_path: z
    .string()
    .nullish()
    .default(null)
    .describe("absolute file path; without it the bytes come in data_base64"),
});
export type ExportRasterRequest = z.infer<typeof ExportRasterRequest>;

export const ExportRasterResponse = z.object({
  success: z.literal(true),
  format: z.enum(RASTER_FORMATS),
  data_base64: z.string().nullable().describe("null with dest_path"),
  warnings: z.array(z.string()).optional(),
});
export type ExportRasterResponse = z.infer<typeof ExportRasterResponse>;
