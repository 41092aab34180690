import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** A cloud whose points carry the id of their tree; one value per row each. */
export interface TreeCloud {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** u8, non-zero = leave out; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly tree_instance: NativeColumn;
  /** Metres; not finite = unknown. */
  readonly height_above_ground: NativeColumn | null;
  /** 1 = ground. */
  readonly ground_class: NativeColumn | null;
  /** The scan of each point; null = one scan, or not known. */
  readonly scan_index?: NativeColumn | null;
  /** When each point was measured, seconds; null = not known. */
  readonly time_s?: NativeColumn | null;
  /** Added to positions: the frame of the results. */
  readonly shift: readonly [number, number, number];
}

/** Names and meanings: shared/contract/cloud-session/tree-inventory.ts. */
export interface InventoryParams {
  readonly fit_method: "ransac" | "hough";
  readonly align_scans: boolean;
  readonly slice_widen_m: readonly number[];
  readonly tree_ids: readonly number[] | null;
  readonly [name: string]: number | string | boolean | readonly number[] | null;
}

/** Tables are f64, row-major; NaN = not measured. */
export interface TreeInventory {
  readonly tree_fields: readonly string[];
  readonly curve_fields: readonly string[];
  readonly stand_fields: readonly string[];
  /** (trees, tree_fields); hull_corners and curve_rows count the rows of the next two. */
  readonly trees: NativeColumn;
  /** (corners, 2) */
  readonly hulls: NativeColumn;
  /** (sections, curve_fields) */
  readonly curve: NativeColumn;
  /** (trees, stand_fields); empty without a stand. */
  readonly stand_trees: NativeColumn;
  /** (skipped, 3): id, points, reason: 0 = fewer than min_points, else its number in `reasons` from 1. */
  readonly skipped: NativeColumn;
  readonly reasons: readonly string[];
  readonly stand: {
    readonly plot_polygon: [number, number][] | null;
    readonly plot_area_m2: number | null;
    readonly plot_source: "ground_class" | "all_points" | "none";
    /** Share of the plot, or of the hull that is none, in or beside cells with points; null without a hull. */
    readonly plot_seen_share: number | null;
    /** Share of the plot that no beam reached near the ground (cpp/ops/trees/unseen_ground.h); null = unknown. */
    readonly unseen_share: number | null;
    /** Share of stem bases, or of crown area if less, on the ground, where that is too few for its hull to be the plot. */
    readonly trees_on_ground_share: number | null;
    readonly crown_union_area_m2: number;
    readonly cover_cell_m: number;
    readonly crown_area_sum_m2: number;
    /** False: too many crowns overlap to measure how far. */
    readonly overlap_known: boolean;
  } | null;
  /** Rows of trees without a finite position. */
  readonly nonfinite_count: number;
  /** Whether views of stems fit each other (cpp/ops/trees/stem_drift.h); null = fewer than four stems are seen by several. */
  readonly view_fit: {
    readonly n_stems: number;
    readonly spread_m: number;
    readonly rest_m: number;
    /** More than views that fit do, and more than noise explains. */
    readonly drifts: boolean;
    readonly aligned: boolean;
  } | null;
  /** Stems that are seen twice, all by one motion (cpp/ops/trees/layer_motion.h); null = scans fit, or drift. */
  readonly scan_layers: {
    readonly n_stems: number;
    readonly n_seen_twice: number;
    /** From one layer to the other at `middle`, metres. */
    readonly x_m: number;
    readonly y_m: number;
    readonly turn_rad: number;
    /** Of the stems that show it, true world, metres. */
    readonly middle: readonly [number, number];
    readonly joins: boolean;
    /** Trees measured with their layers moved together. */
    readonly n_joined: number;
  } | null;
  /** Where stems stand in one scan against another; empty without scan_index. */
  readonly scan_offsets: readonly ScanOffset[];
}

/** Medians over stems that two scans see (cpp/ops/trees/scan_offsets.h), metres. */
export interface ScanOffset {
  readonly scan_a: number;
  readonly scan_b: number;
  readonly n_stems: number;
  /** Of scan_b against scan_a. */
  readonly x_m: number;
  readonly y_m: number;
  readonly spread_m: number;
}

/** A scan's motion by the drift that was taken from it (cpp/ops/trees/align_scans.h), means over its time. */
export interface ScanMove {
  readonly scan_index: number;
  /** Of the middle of the stems, metres. */
  readonly x_m: number;
  readonly y_m: number;
  /** About the middle. */
  readonly turn_rad: number;
  /** Largest distance of the middle, metres. */
  readonly most_m: number;
}

export interface AlignedScans {
  /** vec3d; null: nothing was moved. */
  readonly positions: NativeColumn | null;
  readonly beam_origins: NativeColumn | null;
  readonly view_fit: TreeInventory["view_fit"];
  /** Of the stems, true world, metres. */
  readonly middle: readonly [number, number];
  readonly scans: readonly ScanMove[];
  /** How high the ground of each scan lay above the others; taken from their points. Empty: the ground fits, or none is known. */
  readonly lifts: readonly { readonly scan_index: number; readonly z_m: number }[];
}

export interface InventoryNative {
  alignScans(
    cloud: TreeCloud,
    params: InventoryParams,
    origins: NativeColumn | null,
    options?: OpOptions,
  ): NativeJob<AlignedScans>;
  treeInventory(cloud: TreeCloud, params: InventoryParams, options?: OpOptions): NativeJob<TreeInventory>;
  treeInventoryBytes(rows: number, largest: number, threads: number): number;
  listedStand(
    trees: NativeColumn,
    hulls: NativeColumn,
    plot: NativeColumn,
    params: ListedStandParams,
    options?: OpOptions,
  ): NativeJob<ListedStand>;
}

const addon = addonAs<InventoryNative>();

/** Measures every tree of a cloud, then the stand. */
export const treeInventory: InventoryNative["treeInventory"] = (cloud, params, options) =>
  addon.treeInventory(cloud, params, options);
/** Moves the scans of a cloud so that its stems stand at one place at each time; `origins`: vec3d of each row, moved too. */
export const alignScans: InventoryNative["alignScans"] = (cloud, params, origins, options) =>
  addon.alignScans(cloud, params, origins, options);
/** Memory that treeInventory needs besides its columns, bytes; `threads` 0 = all cores. */
export const treeInventoryBytes: InventoryNative["treeInventoryBytes"] = (rows, largest, threads) =>
  addon.treeInventoryBytes(rows, largest, threads);

/** Stand pass of a joined list: cpp/ops/trees/listed_stand.h. */
export interface ListedStandParams {
  readonly competition_radius_m: number;
  readonly least_distance_m: number;
  readonly cover_cell_m: number;
  readonly most_cover_cells: number;
  readonly most_overlap_pairs: number;
}

export interface ListedStand {
  readonly stand_fields: readonly string[];
  /** f64 (trees, stand_fields); NaN = not known. */
  readonly stand_trees: NativeColumn;
  /** 0 without a plot. */
  readonly plot_area_m2: number;
  readonly crown_union_area_m2: number;
  readonly cover_cell_m: number;
  readonly overlap_known: boolean;
}

/**
 * Competition, crown cover and overlaps of trees that were measured in parts. `trees`: f64 (n, 4) x, y, diameter (NaN =
 * unknown), corners of the hull; `hulls`: f64 (corners, 2), one after the other; `plot`: f64 (corners, 2).
 */
export const listedStand: InventoryNative["listedStand"] = (trees, hulls, plot, params, options) =>
  addon.listedStand(trees, hulls, plot, params, options);
