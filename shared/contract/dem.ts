import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { checkedByService } from "./documented.ts";
import { OverwriteFile, Warnings } from "./fields.ts";
import { BulkNumbers, NumberList, Point, PointList } from "./geometry.ts";
import { GroundLayers } from "./ground-layers.ts";
import { type IdleKeys, idleByAll, idleUnless, wholeSource, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";

export const SURFACE_TYPES = ["dtm", "dsm", "chm"] as const;
export const DEM_METHODS = ["tin", "linear", "nearest", "idw"] as const;

/** Options of both DEM endpoints. */
export const DemOptions = z.object({
  surface_type: checkedByService(z.string(), z.enum(SURFACE_TYPES))
    .default("dtm")
    .describe(
      "dtm: bare earth; dsm: top of canopy, of each cell the highest first return, but for one in 20; chm: height of the dsm above the dtm; any case; any other value causes an error in the frame",
    ),
  cell_size: z
    .number()
    .nullish()
    .default(null)
    .describe("edge of a grid cell, metres; null or <= 0: 1/256 of the larger horizontal extent, clamped to 0.01..5"),
  bbox: NumberList.nullish()
    .default(null)
    .describe(
      "[min x, min y, max x, max y], metres, frame of the points; points outside are ignored; null or another length = no limit; an empty area causes an error in the frame",
    ),
  method: checkedByService(z.string(), z.enum(DEM_METHODS))
    .default("tin")
    .describe(
      "interpolation of cells without a point: tin or linear (triangulation), nearest, idw (inverse distance weighting); any other value causes an error in the frame",
    ),
  ground_percentile: z
    .number()
    .default(5)
    .describe("height of a DTM cell: this percentile of its z values, percent, clamped to 0..100"),
  slope_correction: z
    .boolean()
    .default(true)
    .describe(
      "dtm, and the dtm below a chm: move each cell's height along the slope from its point to the cell centre; false = use the percentile as it is",
    ),
  fill_voids: z
    .boolean()
    .default(false)
    .describe("true: cells outside the convex hull that contain a return take the nearest value"),
  auto_segment_ground: z.boolean().default(true).describe("true: detect the ground if there are no ground labels"),
  cloth_resolution: z.number().default(0.05).describe("ignored: ground detection derives it from the cloud"),
  rigidness: z.int().default(3).describe("ignored: ground detection derives it from the cloud"),
  class_threshold: z.number().default(0.02).describe("ignored: ground detection derives it from the cloud"),
});
export type DemOptions = z.infer<typeof DemOptions>;

const DTM_FIELDS = ["ground_percentile", "slope_correction"];
/** Options of other surfaces, and those that ground detection derives from the cloud. */
export const demIdle: IdleKeys = idleByAll(
  () => ["cloth_resolution", "rigidness", "class_threshold"],
  ({ surface_type }) => (String(surface_type).toLowerCase() === "dsm" ? DTM_FIELDS : []),
  ({ bbox }) => (Array.isArray(bbox) && bbox.length !== 4 ? ["bbox"] : []),
);
const DemFields = DemOptions.extend({
  points: PointList.nullish().describe(
    "(n, 3) inline points, hits only, metres; large coordinates lose precision, because the mesh is float32",
  ),
  source: PointSource.nullish()
    .default(null)
    .describe(
      "points of a session; takes precedence over points; the result is in true world coordinates; its max_points is ignored",
    ),
  ground_labels: BulkNumbers.nullish()
    .default(null)
    .describe("(n) label per point, 1 = ground; ignored if its length differs from n"),
  first_return_labels: BulkNumbers.nullish()
    .default(null)
    .describe(
      "(n) return index per point, from 0 or from 1; fewer 0 than 1 are unknown returns, which count as first ones, with a warning; ignored if its length differs from n",
    ),
  intensity: BulkNumbers.nullish()
    .default(null)
    .describe("(n) intensity per point, in any scale; ignored if its length differs from n"),
  compute_height_above_ground: z
    .boolean()
    .default(false)
    .describe(
      "dtm: also compute the buffer hag; points outside bbox are above the ground there, in cells of the same size",
    ),
}).meta({ id: "DemRequest" });
export const DemRequest = withIdleKeys(DemFields, idleByAll(demIdle, wholeSource));
export type DemRequest = z.infer<typeof DemRequest>;

const DemLayer = z
  .object({
    min: z.number().describe("smallest finite value"),
    max: z.number().describe("largest finite value"),
    label: z.string().describe("display name, including the unit"),
  })
  .meta({ id: "DemLayer", description: "a layer of a DTM" });

const common = {
  method_used: z
    .string()
    .describe("method used: dem_tin, dem_linear, dem_nearest, dem_idw or dem_chm; on failure derived from the request"),
  warnings: Warnings.optional(),
};

/**
 * Meta of the frame. Coordinates are as sent for inline points, and stored for a session (true world - world_shift).
 */
export const ScanHeight = z
  .object({
    scan_a: z.number().describe("value of scan_index or las_point_source_id"),
    scan_b: z.number().describe("value of the same column, above scan_a"),
    n_cells: z.int().describe("places of 0.5 m or a cell, if that is wider, with three ground points and more of both"),
    z_m: z.number().describe("median of the mean heights in scan_b above those in scan_a, metres"),
    spread_m: z.number().describe("1.48 times the median distance from it, metres"),
  })
  .meta({ id: "ScanHeight", description: "how high the ground lies in one scan above another" });

export const HalfPoints = z
  .object({
    n_cells: z
      .int()
      .describe("cells with a value in both; chm: of more than 2 m, or of more than 0.1 m where none is higher"),
    mean_m: z.number().describe("mean of this surface minus that of half of its points, metres"),
    rms_m: z.number().describe("root mean square of the same, metres"),
  })
  .meta({ id: "HalfPoints", description: "how a surface differs from that of about half of its points" });

export const LoneReturns = z
  .object({
    n_points: z.int().describe("returns that stand alone"),
    n_cells: z.int().describe("cells that differ by more than 1 m from the surface without them"),
    max_m: z.number().describe("largest difference, metres"),
    max_at: z.tuple([z.number(), z.number()]).describe("centre of the cell with it, metres, frame of the vertices"),
  })
  .meta({ id: "LoneReturns", description: "how a surface differs from that without returns that stand alone" });

export const DemSuccess = z
  .object({
    ...common,
    success: z.literal(true).describe("the surface was computed"),
    error: z.null().describe("null: success"),
    surface_type: z.enum(SURFACE_TYPES).describe("dtm: bare earth; dsm: top of canopy; chm: canopy height"),
    num_vertices: z.int().describe("number of mesh vertices"),
    num_triangles: z.int().describe("number of mesh triangles"),
    surface_area: z.number().nullable().describe("area of the mesh, square metres"),
    points_used: z.int().describe("number of cells that contain a point; chm: number of cells with a height"),
    noise_count: z
      .int()
      .optional()
      .describe("session endpoint: number of hits left out as noise; 0 with skip_noise false"),
    grid_nx: z.int().describe("number of grid columns, along x"),
    grid_ny: z.int().describe("number of grid rows, along y; row 0 has the lowest y"),
    grid_cell: z.number().describe("edge of a grid cell, metres"),
    grid_origin: z
      .tuple([z.number(), z.number()])
      .describe("lower-left corner of cell (0, 0), metres, frame of the vertices"),
    voids: z.int().describe("number of NaN cells in grid_z"),
    seen_below_canopy: z
      .number()
      .nullable()
      .describe(
        "share 0..1 of the closed canopy (cells of 0.5 m and more that are higher than 2 m, as are their eight neighbours, and no roofs) in which a point lies less than half as high; laser scans have 0.3 to 1; below 0.2 the cloud is a surface, as photos give: the terrain below the canopy is a guess, a warning tells it; null = a DSM, terrain from all points, fewer than 100 such cells, or less than a twentieth of all",
      ),
    half_points: HalfPoints.nullable().describe(
      "how the surface differs from the same surface of about half of its points (dtm: ground points; dsm, chm: first returns), drawn by position: what a scan of half the density would give. rms_m of a dtm is of the order of its error where that comes from gaps and noise; null without common cells",
    ),
    lone_returns: LoneReturns.nullable().describe(
      "how the surface differs from the same surface without returns that stand alone, as birds, clouds, drops, multiple reflections and noise do: the highest of a cell, for a dtm the lowest ground points, with fewer than two others within 2 m and within 8 times the distance of the surface's returns there, seen from above; null where no cell differs by more than 1 m",
    ),
    ground_layers: GroundLayers.nullable().describe(
      "dtm, chm: the ground, seen once more at another height; null for other surfaces and where there is one layer",
    ),
    slope_correction: z.boolean().optional().describe("dtm, chm: whether slope correction was applied"),
    layers: z
      .record(z.string(), DemLayer)
      .optional()
      .describe("dtm: value range of each layer over its finite cells, by layer name"),
    scan_heights: z
      .array(ScanHeight)
      .optional()
      .describe(
        "dtm: pairs of scans (scan_index), else of flight lines (las_point_source_id), up to 64, whose ground points share 30 and more places; empty for one, for inline points, and for a dtm of all points",
      ),
    ground_source: z
      .enum(["column", "csf_auto", "all_points"])
      .optional()
      .describe(
        "dtm, chm: source of the ground points. column: labels; csf_auto: the cloth filter; all_points: every point",
      ),
    surface_source: z
      .enum(["first_return", "all_points"])
      .optional()
      .describe("dsm, chm: points used for the top surface"),
    world_shift: Point.describe("metres; true world = frame coordinates + world_shift"),
    crs_epsg: z.int().optional().describe("EPSG code of the horizontal coordinate system; absent if unknown"),
    warning: z.string().optional().describe("reserved; warnings are in `warnings`"),
  })
  .meta({
    id: "DemSuccess",
    description:
      "coordinates: as sent for inline points, true world for a source, stored frame for the session endpoint; true world = these + world_shift",
  });
export const DemFailure = z
  .object({
    ...common,
    success: z.literal(false).describe("no surface was computed"),
    error: z.string().describe("reason for the failure, a sentence for the user"),
    code: z.enum(errorCodes).describe("error code"),
    num_vertices: z.literal(0).describe("0: there is no mesh"),
    num_triangles: z.literal(0).describe("0: there is no mesh"),
  })
  .meta({ id: "DemFailure", description: "failure: no surface was computed" });
export const DemMeta = z.discriminatedUnion("success", [DemSuccess, DemFailure]);

const buffer = (meaning: string) => z.array(z.number()).optional().describe(meaning);

/** Buffers of the frame; absent on failure. */
export const DemBuffers = z
  .object({
    vertices: buffer("f32 (3 * num_vertices) x, y, z of each vertex, metres"),
    indices: buffer("u32 (3 * num_triangles) vertex indices of each triangle, counter-clockwise seen from above"),
    normals: buffer("f32 (3 * num_vertices) unit normal of each vertex, pointing up"),
    grid_z: buffer("f32 (grid_ny, grid_nx) cell heights, metres; row 0 has the lowest y; NaN = void"),
    hag: buffer("f32 (n) height above ground of each point, metres; only with compute_height_above_ground"),
  })
  .catchall(
    z
      .array(z.number())
      .describe("dtm, per layer: f32 layer_grid_<name> (grid_ny, grid_nx) and layer_vert_<name> (num_vertices)"),
  )
  .meta({ id: "DemBuffers", description: "arrays of the frame; a DTM also contains its layers" });

/** Form in which the documentation shows the PHB1 frame. */
export const DemFrame = z
  .object({ meta: DemMeta.describe("scalars of the frame"), buffers: DemBuffers })
  .meta({ id: "DemFrame", description: "PHB1 frame: scalars and arrays" });
export type DemSuccess = z.infer<typeof DemSuccess>;
export type DemFailure = z.infer<typeof DemFailure>;

export const RASTER_FORMATS = ["asc", "tif"] as const;
const RASTER_FORMAT_NAMES = [...RASTER_FORMATS, "tiff", "geotiff"] as const;

const ExportRasterRequestObject = z
  .object({
    format: checkedByService(z.string(), z.enum(RASTER_FORMAT_NAMES))
      .default("asc")
      .describe("asc: ESRI ASCII grid; tif, tiff, geotiff: GeoTIFF; any case; any other value: 400"),
    grid_z: BulkNumbers.describe(
      "(ny, nx) heights, metres; row 0 has the lowest y; a void has the value nodata; any other count than nx * ny: 400",
    ),
    nx: z.int().describe("number of columns, at least 1 (else 400)"),
    ny: z.int().describe("number of rows, at least 1 (else 400)"),
    cell_size: z.number().positive().describe("edge of a cell, metres; degrees for a geographic coordinate system"),
    origin: z
      .tuple([z.number(), z.number()])
      .describe("lower-left corner of cell (0, 0), true world, in the unit of cell_size"),
    nodata: z.number().default(-9999).describe("value that marks a void"),
    crs_epsg: z
      .int()
      .min(1024)
      .max(32766)
      .nullish()
      .default(null)
      .describe("EPSG code of a projected or geographic coordinate system, for GeoTIFF; null = none"),
    crs_is_geographic: z
      .boolean()
      .nullish()
      .default(null)
      .describe("true: x and y are angles; null = determined by crs_epsg"),
    dest_path: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "absolute path of the file to write, with the extension .asc, .tif or .tiff, outside the service's own folders; null = return the file in data_base64",
      ),
    overwrite: OverwriteFile,
  })
  .meta({ id: "ExportRasterRequest" });
export const ExportRasterRequest = withIdleKeys(
  ExportRasterRequestObject,
  idleUnless(({ format }) => /^(geo)?tiff?$/i.test(String(format)), "crs_epsg", "crs_is_geographic"),
);
export type ExportRasterRequest = z.infer<typeof ExportRasterRequest>;

export const ExportRasterResponse = z
  .object({
    success: z.literal(true).describe("the raster was exported"),
    format: z.enum(RASTER_FORMATS).describe("asc: ESRI ASCII grid; tif: GeoTIFF"),
    data_base64: z.string().nullable().describe("contents of the file, base64; null with dest_path"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ExportRasterResponse" });
export type ExportRasterResponse = z.infer<typeof ExportRasterResponse>;
