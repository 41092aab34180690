import type { OpOptions } from "../cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { TilePlan } from "./denoise.ts";

const addon = addonAs<GroundNative>();

export interface ClothParams {
  /** Distance between the particles of the cloth, metres. */
  readonly cloth_resolution: number;
  /** 1 conforming .. 3 stiff. */
  readonly rigidness: number;
  /** Points nearer to the settled cloth are ground; metres. */
  readonly class_threshold: number;
  readonly iterations: number;
  readonly slope_smooth: boolean;
  /** Measure the threshold; `class_threshold` is the fallback. */
  readonly auto_class_threshold: boolean;
  /** Leave low outliers out before the cloth drops. */
  readonly ignore_low_outliers: boolean;
  readonly want_heights: boolean;
  /** From this number of points on, the simulation runs tile by tile. */
  readonly tile_min_points: number;
  readonly tile_target_points: number;
}

export interface GroundLabels {
  /** u8 per row: 1 ground, 2 plant, 0 where `skip` is set. */
  readonly ground_class: NativeColumn;
  readonly num_ground: number;
  readonly num_plant: number;
  /** Points below the ground that were excluded before the surface was computed. */
  readonly low_outliers: number;
}

export interface ClothGround extends GroundLabels {
  /** f32 per row, metres; NaN where undefined. Null unless `want_heights`. */
  readonly height_above_cloth: NativeColumn | null;
  readonly class_threshold_used: number;
  readonly class_threshold_method: "manual" | "knee" | "tail" | "fallback";
  readonly iterations_run: number;
  /** False if the simulation ended at the limit `iterations`. */
  readonly settled: boolean;
  readonly nodes: number;
  readonly tiled: TilePlan | null;
  readonly warnings: readonly string[];
}

/** Pingel et al. 2013; lengths in metres. */
export interface SmrfParams {
  readonly cell_size: number;
  /** Steepest ground, metres per metre. */
  readonly slope: number;
  readonly window_radius: number;
  readonly elevation_threshold: number;
  /** Metres per unit of slope, added to the threshold. */
  readonly elevation_scale: number;
  /** Metres between the lines that cut large objects; 0 = none. */
  readonly net_spacing: number;
}

export interface SmrfGround extends GroundLabels {
  readonly cells: number;
  readonly object_cells: number;
}

/** Labels, measurements and the parameters derived from them: cpp/ops/ground/ground_auto.h. */
export interface AutoGround extends GroundLabels {
  /** Share of the cells with points that have no layer of ground returns within 1 m; null: too few returns to tell. */
  readonly hidden_share: number | null;
  /** Standard deviation of the returns of bare ground, metres; null: not measured. */
  readonly noise_m: number | null;
  readonly frame: GroundFrame;
  readonly derived: {
    readonly point_spacing_m: number;
    readonly roughness_m: number;
    readonly cell_size: number;
    readonly class_threshold: number;
  };
}

/** Measures of a whole cloud, for its parts: cpp/ops/ground/ground_frame.h. Lengths in metres. */
export interface GroundFrame {
  readonly origin: readonly [x: number, y: number];
  readonly z_origin: number;
  readonly slope: readonly [along_x: number, along_y: number];
  readonly lowest_z: number;
  readonly point_count: number;
  readonly point_spacing_m: number;
  readonly outlier_cell_m: number;
  readonly outlier_layer_m: number;
  readonly cell_size: number;
  readonly roughness_m: number;
  readonly typical_returns: number;
  readonly search_noise_m: number;
  readonly noise_m: number;
  readonly middle_m: number;
}

/** A level surface that mirrors, and what it showed: cpp/ops/ground/mirror_images.h. Metres. */
export interface Mirror {
  /** Of the surface, within about 0.1 m. */
  readonly z: number;
  readonly image_count: number;
  readonly depth_m: number;
  readonly x: readonly [from: number, to: number];
  readonly y: readonly [from: number, to: number];
}

export interface MirrorImages {
  readonly mirrors: readonly Mirror[];
  /** u8 per row: 1 where the point is a mirror image; null without mirrors. */
  readonly is_image: NativeColumn | null;
}

/** A second layer of ground: cpp/ops/ground/ground_layers.h. Metres. */
export interface GroundLayers {
  readonly z_m: number;
  readonly spread_m: number;
  readonly share: number;
  readonly n_places: number;
  readonly n_both: number;
  readonly cell_m: number;
  /** Empty without a column of scans. */
  readonly scans: readonly {
    readonly scan: number;
    /** 1 = in the upper layer, -1 = in the lower one, 0 = not told. */
    readonly side: number;
  }[];
}

/** Memory of groundLayers. */
export const groundLayersBytes = (points: number): number => 100 * Math.min(points, 2_500_000);

/** Extent of all finite points, low outliers included; the limit on cloth nodes applies to it. */
export interface GroundExtent {
  readonly finite_count: number;
  /** x and y, metres; 0 without finite points. */
  readonly extent: readonly [number, number];
}

export interface GroundMeasures {
  /** sqrt(occupied area / points). */
  readonly point_spacing_m: number;
  /** 90th percentile of the ground's slope, metres per metre. */
  readonly steepness: number;
}

export interface ClothCost {
  /** (ceil(extent / resolution) + 1)^2 of the larger horizontal extent; the limit applies to it. */
  readonly nodes: number;
  readonly grid_nodes: number;
  readonly bytes: number;
  readonly admissible: boolean;
  /** The finest admissible resolution, rounded up; 0 for an extent of 0. */
  readonly finest_resolution_m: number;
}

export interface GroundNative {
  clothSimulation(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: ClothParams,
    options?: OpOptions,
    frame?: GroundFrame | null,
  ): NativeJob<ClothGround>;
  smrf(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: SmrfParams,
    options?: OpOptions,
    frame?: GroundFrame | null,
  ): NativeJob<SmrfGround>;
  /** `constants` replaces some of groundConstants(), which only measurements of accuracy do. */
  groundAuto(
    positions: NativeColumn,
    skip: NativeColumn | null,
    options?: OpOptions,
    constants?: Readonly<Record<string, number>>,
    frame?: GroundFrame | null,
  ): NativeJob<AutoGround>;
  groundConstants(): Readonly<Record<string, number>>;
  groundExtent(positions: NativeColumn, skip: NativeColumn | null, options?: OpOptions): NativeJob<GroundExtent>;
  groundMeasures(positions: NativeColumn, skip: NativeColumn | null, options?: OpOptions): NativeJob<GroundMeasures>;
  mirrorImages(positions: NativeColumn, skip: NativeColumn | null, options?: OpOptions): NativeJob<MirrorImages>;
  groundLayers(
    positions: NativeColumn,
    skip: NativeColumn | null,
    scans: NativeColumn | null,
    options?: OpOptions,
  ): NativeJob<GroundLayers | null>;
  groundResidual(positions: NativeColumn, labels: NativeColumn, options?: OpOptions): NativeJob<number>;
  upAxis(positions: NativeColumn, skip: NativeColumn | null, options?: OpOptions): NativeJob<Float64Array>;
  labelDifferences(a: NativeColumn, b: NativeColumn, options?: OpOptions): NativeJob<number>;
  groundOfFile(
    positions: NativeColumn,
    skip: NativeColumn | null,
    classes: NativeColumn,
    ground: readonly number[],
    options?: OpOptions,
  ): NativeJob<GroundLabels>;
  labelsByClass(labels: NativeColumn, classes: NativeColumn, options?: OpOptions): NativeJob<Float64Array>;
  clothSimulationCost(points: number, extent: readonly [number, number], clothResolution: number): ClothCost;
}

/** Cloth simulation filter over the rows that `skip` does not mark. */
export const clothSimulation: GroundNative["clothSimulation"] = (positions, skip, params, options, frame) =>
  addon.clothSimulation(positions, skip, params, options, frame);
/** Simple morphological filter over the rows that `skip` does not mark. */
export const smrf: GroundNative["smrf"] = (positions, skip, params, options, frame) =>
  addon.smrf(positions, skip, params, options, frame);
/** Ground filter that derives its parameters from the cloud, over the rows that `skip` does not mark. */
export const groundAuto: GroundNative["groundAuto"] = (positions, skip, options, constants, frame) =>
  addon.groundAuto(positions, skip, options, constants, frame);
/** The constants of groundAuto by name. */
export const groundConstants: GroundNative["groundConstants"] = () => addon.groundConstants();
/** Finite points and their extent, over the rows that `skip` does not mark. */
export const groundExtent: GroundNative["groundExtent"] = (positions, skip, options) =>
  addon.groundExtent(positions, skip, options);
/** Measurements for deriving filter parameters, over the rows that `skip` does not mark. */
export const groundMeasures: GroundNative["groundMeasures"] = (positions, skip, options) =>
  addon.groundMeasures(positions, skip, options);
/** What level surfaces mirror, of the rows that `skip` does not mark. */
export const mirrorImages: GroundNative["mirrorImages"] = (positions, skip, options) =>
  addon.mirrorImages(positions, skip, options);
/** A second layer of ground above the first, of the rows that `skip` does not mark. */
export const groundLayers: GroundNative["groundLayers"] = (positions, skip, scans, options) =>
  addon.groundLayers(positions, skip, scans, options);
/** Median distance of the points labelled 1 from the plane through their neighbours, metres; NaN = unknown. */
export const groundResidual: GroundNative["groundResidual"] = (positions, labels, options) =>
  addon.groundResidual(positions, labels, options);
/** How even the lower side of the cloud is if +x, +y, +z, -x, -y, -z pointed upwards, 0 to 1 or NaN, over the rows that `skip` does not mark. */
export const upAxis: GroundNative["upAxis"] = (positions, skip, options) => addon.upAxis(positions, skip, options);
/** Number of rows in which two label columns differ. */
export const labelDifferences: GroundNative["labelDifferences"] = (a, b, options) =>
  addon.labelDifferences(a, b, options);
/** Ground is what has one of the classes `ground`, over the rows that `skip` does not mark. */
export const groundOfFile: GroundNative["groundOfFile"] = (positions, skip, classes, ground, options) =>
  addon.groundOfFile(positions, skip, classes, ground, options);
/** Numbers of ground and plant labels of each class 0 to 255, one after the other. */
export const labelsByClass: GroundNative["labelsByClass"] = (labels, classes, options) =>
  addon.labelsByClass(labels, classes, options);
/** Cost of a cloth over `points` in an extent of x by y metres; check `admissible` before a run. */
export const clothSimulationCost: GroundNative["clothSimulationCost"] = (points, extent, clothResolution) =>
  addon.clothSimulationCost(points, extent, clothResolution);
