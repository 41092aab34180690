import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { checkedByService } from "./documented.ts";
import { Warnings } from "./fields.ts";
import { NumberList, Point, PointList } from "./geometry.ts";
import { PointSource } from "./point-source.ts";

export const SURFACE_TYPES = ["dtm", "dsm", "chm"] as const;
export const DEM_METHODS = ["tin", "linear", "nearest", "idw"] as const;

/** What both DEM endpoints take. */
export const DemOptions = z.object({
  surface_type: checkedByService(z.string(), z.enum(SURFACE_TYPES))
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
  method: checkedByService(z.string(), z.enum(DEM_METHODS))
    .default("tin")
    .describe("how cells without a point get a height: tin (or linear), nearest, idw; others fail in the frame"),
  ground_percentile: z
    .number()
    .default(5)
    .describe("percent, 0..100: percentile of the z in a cell of the DTM; clipped"),
  slope_correction: z
    .boolean()
    .default(true)
    .describe(
      "dtm, and the dtm under a chm: values are moved along the slope from where each cell's point lies to the cell centre; false = the plain percentile of each cell",
    ),
  fill_voids: z.boolean().default(false).describe("cells outside the hull that hold a return take the nearest value"),
  auto_segment_ground: z.boolean().default(true).describe("find the ground where no labels name it"),
  cloth_resolution: z.number().default(0.05).describe("ignored: the ground step takes its scale from the cloud"),
  rigidness: z.int().default(3).describe("ignored: the ground step takes it from the cloud"),
  class_threshold: z.number().default(0.02).describe("ignored: the ground step takes it from the cloud"),
});
export type DemOptions = z.infer<typeof DemOptions>;

export const DemRequest = DemOptions.extend({
  points: PointList.nullish().describe("(n, 3) metres, hits only; large coordinates lose digits in float32"),
  source: PointSource.nullish()
    .default(null)
    .describe("takes precedence over points; answers in true world coordinates; max_points is ignored"),
  ground_labels: NumberList.nullish().default(null).describe("(n) 1 = ground; another length = absent"),
  first_return_labels: NumberList.nullish().default(null).describe("(n) return index; another length = absent"),
  intensity: NumberList.nullish().default(null).describe("(n) return intensity, any scale; another length = absent"),
  compute_height_above_ground: z.boolean().default(false).describe("dtm: also the buffer hag"),
}).meta({ id: "DemRequest" });
export type DemRequest = z.infer<typeof DemRequest>;

const DemLayer = z
  .object({
    min: z.number().describe("smallest finite value"),
    max: z.number().describe("largest finite value"),
    label: z.string().describe("display name with unit"),
  })
  .meta({ id: "DemLayer", description: "one layer of a terrain" });

const common = {
  method_used: z
    .string()
    .describe("dem_tin, dem_linear, dem_nearest, dem_idw, dem_chm; a failure repeats the request's"),
  warnings: Warnings.optional(),
};

/** Meta of the frame. Coordinates: flat as sent, session in its stored frame; add world_shift for true ones. */
export const DemSuccess = z
  .object({
    ...common,
    success: z.literal(true).describe("the surface was made"),
    error: z.null().describe("null: it worked"),
    surface_type: z.enum(SURFACE_TYPES).describe("dtm bare earth, dsm top of canopy, chm canopy height"),
    num_vertices: z.int().describe("vertices of the mesh"),
    num_triangles: z.int().describe("triangles of the mesh"),
    surface_area: z.number().nullable().describe("square metres"),
    points_used: z.int().describe("cells that hold a point; chm: cells with a height"),
    grid_nx: z.int().describe("columns of the grid, along x"),
    grid_ny: z.int().describe("rows of the grid, along y; row 0 at the lowest y"),
    grid_cell: z.number().describe("edge of a cell, metres"),
    grid_origin: z
      .tuple([z.number(), z.number()])
      .describe("lower-left corner of cell (0, 0), metres, frame of the vertices"),
    voids: z.int().describe("NaN cells of grid_z"),
    slope_correction: z.boolean().optional().describe("dtm, chm: whether it was in effect"),
    layers: z.record(z.string(), DemLayer).optional().describe("dtm: range of each layer over its finite cells"),
    ground_source: z
      .enum(["column", "csf_auto", "all_points"])
      .optional()
      .describe("dtm, chm: where the ground came from: labels, the cloth filter, or every point"),
    surface_source: z.enum(["first_return", "all_points"]).optional().describe("dsm, chm: which points made the top"),
    world_shift: Point.describe("metres; true world = stored + world_shift"),
    crs_epsg: z.int().optional().describe("EPSG code of the horizontal system; absent when the cloud states none"),
    warning: z.string().optional().describe("reserved; see warnings"),
  })
  .meta({
    id: "DemSuccess",
    description: "flat clouds: coordinates as sent; sessions: stored frame, world_shift gives true ones",
  });
export const DemFailure = z
  .object({
    ...common,
    success: z.literal(false).describe("there is no surface"),
    error: z.string().describe("why, a sentence for the user"),
    code: z.enum(errorCodes).describe("name of the failure"),
    num_vertices: z.literal(0).describe("there is no mesh"),
    num_triangles: z.literal(0).describe("there is no mesh"),
  })
  .meta({ id: "DemFailure", description: "why there is no surface" });
export const DemMeta = z.discriminatedUnion("success", [DemSuccess, DemFailure]);

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of the frame. Absent on failure. */
export const DemBuffers = z
  .object({
    vertices: buffer("f32 (3 num_vertices) x, y, z of the vertices, metres"),
    indices: buffer("u32 (3 num_triangles) vertices of the triangles, counter-clockwise seen from above"),
    normals: buffer("f32 (3 num_vertices) unit normals, upwards"),
    grid_z: buffer("f32 (grid_ny, grid_nx) heights of the cells, metres, row 0 at the lowest y; NaN = void"),
    hag: buffer("f32 (n) height above ground of every point, metres; with compute_height_above_ground"),
  })
  .catchall(z.array(z.number()).describe("f32 layer_grid_<name> (grid_ny, grid_nx), layer_vert_<name> (num_vertices)"))
  .meta({ id: "DemBuffers", description: "arrays of the frame; a DTM has its layers too" });

/** A PHB1 frame as the documentation shows it. */
export const DemFrame = z
  .object({ meta: DemMeta.describe("header of the frame"), buffers: DemBuffers })
  .meta({ id: "DemFrame", description: "a PHB1 frame: its header and its arrays" });
export type DemSuccess = z.infer<typeof DemSuccess>;
export type DemFailure = z.infer<typeof DemFailure>;

export const RASTER_FORMATS = ["asc", "tif"] as const;
const RASTER_FORMAT_NAMES = [...RASTER_FORMATS, "tiff", "geotiff"] as const;

export const ExportRasterRequest = z
  .object({
    format: checkedByService(z.string(), z.enum(RASTER_FORMAT_NAMES))
      .default("asc")
      .describe("asc: ESRI ASCII grid; tif, tiff, geotiff: GeoTIFF; any case; others: 400"),
    grid_z: NumberList.describe("(ny, nx) metres, row 0 at the lowest y; voids = nodata; another count: 400"),
    nx: z.int().describe("columns; not positive: 400"),
    ny: z.int().describe("rows; not positive: 400"),
    cell_size: z.number().positive().describe("edge of a cell: metres, degrees for a geographic system"),
    origin: z
      .tuple([z.number(), z.number()])
      .describe("lower-left corner of cell (0, 0), true world, unit of cell_size"),
    nodata: z.number().default(-9999).describe("value that marks a void"),
    crs_epsg: z
      .int()
      .min(1024)
      .max(32766)
      .nullish()
      .default(null)
      .describe("EPSG code of a projected or geographic system, for GeoTIFF"),
    crs_is_geographic: z.boolean().nullish().default(null).describe("x and y are angles; null = as the code says"),
    dest_path: z
      .string()
      .nullish()
      .default(null)
      .describe("absolute file path; without it the bytes come in data_base64"),
  })
  .meta({ id: "ExportRasterRequest" });
export type ExportRasterRequest = z.infer<typeof ExportRasterRequest>;

export const ExportRasterResponse = z
  .object({
    success: z.literal(true).describe("the raster was encoded"),
    format: z.enum(RASTER_FORMATS).describe("asc: ESRI ASCII grid; tif: GeoTIFF"),
    data_base64: z.string().nullable().describe("the file, base64; null with dest_path"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExportRasterResponse" });
export type ExportRasterResponse = z.infer<typeof ExportRasterResponse>;
