import type { FileRange } from "../../../shared/client/octree.ts";
import type { Point } from "../../../shared/contract/geometry.ts";
import type { OctreeBlock, OctreeFile } from "../../../shared/contract/octree.ts";
import type { QsmCylinder } from "../../../shared/contract/qsm-records.ts";
import type { BoxRegion, Region } from "../../../shared/contract/region.ts";

/*
 * What the rest of the window knows of the three-dimensional view. Coordinates are true world metres in float64 unless
 * a name says `stored`: world = stored + world_shift of the session. The view draws relative to an origin of its own.
 */

/** Reads a file of an octree, or a part of it: octreeFile of the client. */
export type FetchOctreeFile = (
  cacheId: string,
  file: OctreeFile,
  range?: FileRange,
  options?: { readonly signal?: AbortSignal },
) => Promise<Uint8Array>;

/** A cloud session with the octree that shows it. */
export interface CloudInput {
  readonly session_id: string;
  readonly name: string;
  /** The octree fields of the response that made it; the whole response may be passed. */
  readonly octree: Pick<OctreeBlock, "cache_id" | "attributes"> & Partial<OctreeBlock>;
  /** world = stored + world_shift, metres; null = no shift. */
  readonly world_shift: Point | null;
}

export const COLOURINGS = ["height", "rgb", "intensity", "class", "column", "flat"] as const;
export interface Colouring {
  readonly kind: (typeof COLOURINGS)[number];
  /** Name of the column for "column" and "class"; "class" without it takes the first class column there is. */
  readonly column?: string;
  /** Values at the ends of the colour ramp; absent: from the data (1st and 99th percentile where known). */
  readonly range?: readonly [number, number];
}

/** What the colours mean; colours are CSS colours. */
export type Legend =
  | {
      readonly kind: "ramp";
      readonly title: string;
      readonly unit: string;
      readonly min: number;
      readonly max: number;
      /** From min to max, evenly spaced. */
      readonly colours: readonly string[];
    }
  | {
      readonly kind: "classes";
      readonly title: string;
      readonly entries: readonly { readonly value: number; readonly label: string; readonly colour: string }[];
      /** Values beyond those listed share the colours. */
      readonly more: number;
    };

/** A column that points can be coloured by. */
export interface ColumnInfo {
  readonly name: string;
  readonly label: string;
  /** Whole numbers: classes or instances. */
  readonly is_integer: boolean;
  readonly range: readonly [number, number] | null;
}

export const TOOLS = ["navigate", "measure", "profile", "box", "lasso", "brush", "pick"] as const;
export type Tool = (typeof TOOLS)[number];

/** Axis-aligned box in world metres. */
export interface WorldBox {
  readonly min: Point;
  readonly max: Point;
}

/**
 * What a box, lasso or brush drag selects: one entry per visible cloud, ready for delete_region (`region`) and for a
 * stroke of label_region (`region` and `limit_box`). Rectangles and lassos are polygon regions, brush strokes are
 * squares_union regions, all in the stored frame of the session. `limit_box` is the clip box, null without one;
 * delete_region takes none: with a clip box (unless `region` is that box), use filter or tell the user that the cut goes through the whole cloud.
 */
export interface Selection {
  readonly tool: "box" | "lasso" | "brush";
  readonly entries: readonly {
    readonly session_id: string;
    readonly region: Region;
    readonly limit_box: BoxRegion | null;
  }[];
}

export interface Measurement {
  readonly from: Point;
  readonly to: Point;
  readonly distance_m: number;
  readonly horizontal_m: number;
  readonly vertical_m: number;
}

/** The loaded points in a vertical band between two clicks. */
export interface Profile {
  readonly from: Point;
  readonly to: Point;
  /** Horizontal length and full width of the band, metres. */
  readonly length_m: number;
  readonly width_m: number;
  /** (2 n) distance along the band and world height, metres. */
  readonly points: Float32Array;
  /** (3 n) red, green, blue as in the view. */
  readonly colours: Uint8Array;
  /** Points of the clouds that are not loaded at this level of detail are missing if false. */
  readonly is_complete: boolean;
}

export interface PickedPoint {
  readonly session_id: string;
  readonly position: Point;
  readonly position_stored: Point;
  /** Value of each single-element column, such as tree_instance. */
  readonly values: Readonly<Record<string, number>>;
}

/** Triangles. Positions are relative to `origin`. */
export interface MeshInput {
  readonly name: string;
  readonly origin: Point;
  /** (3 v) metres. */
  readonly vertices: Float32Array;
  /** (3 t); absent: vertices are triangle corners in order. */
  readonly indices?: Uint32Array;
  /** (3 v); absent: from the triangles. */
  readonly normals?: Float32Array;
  /** (3 v) red, green, blue, 0..1; absent: `colour`. */
  readonly colours?: Float32Array;
  /** CSS colour. */
  readonly colour?: string;
}

/** A raster of heights, such as a terrain model; drawn as a surface coloured by height. */
export interface SurfaceInput {
  readonly name: string;
  /** World position of the centre of the cell (0, 0), metres. */
  readonly first_centre: readonly [number, number];
  /** Edge of a cell, metres; y grows with the row. */
  readonly cell_m: number;
  readonly column_count: number;
  readonly row_count: number;
  /** (rows * columns) world heights, metres, row by row; NaN = no value. */
  readonly heights: ArrayLike<number>;
}

export interface QsmInput {
  readonly name: string;
  readonly cylinders: readonly Pick<QsmCylinder, "start" | "end" | "radius" | "rank">[];
}

/** A plant or canopy: the meta and the buffers of a PHB1 frame of the plant endpoints, with or without instances. */
export interface PlantInput {
  readonly name: string;
  /** Where the frame's zero is in the world, metres: `origin` of the meta. */
  readonly origin: Point;
  readonly buffers: Readonly<Record<string, Float32Array | Uint32Array | undefined>>;
  /** With instances. */
  readonly prototype_first_triangle?: readonly number[];
}

/** Something shown in addition to the clouds. */
export interface ViewObject {
  readonly name: string;
  visible: boolean;
  remove(): void;
}

export interface ViewStats {
  /** Frames drawn in the last second; 0 while nothing changes, because nothing is drawn then. */
  readonly frames_per_second: number;
  /** Mean time of the last frames on the main thread, ms. */
  readonly frame_ms: number;
  readonly visible_points: number;
  readonly loaded_points: number;
  /** Octree parts requested and not yet drawn. */
  readonly pending_nodes: number;
}

type Stop = () => void;

/** Handlers return a function that removes them. */
export interface CloudView {
  /** Resolves when the first points are drawn. Rejects if the octree cannot be read; the cloud is then not added. */
  addCloud(cloud: CloudInput): Promise<void>;
  /** Shows the octree after an edit. The old one stays until the first points of the new one are there. */
  updateCloud(cloud: CloudInput): Promise<void>;
  removeCloud(sessionId: string): void;
  setVisible(sessionId: string, visible: boolean): void;
  /** Columns of all clouds, without the coordinates. */
  columns(): readonly ColumnInfo[];
  /** "rgb", "intensity", ... fall back to "height" for clouds without that column; the legend tells. */
  setColouring(colouring: Colouring): void;
  colouring(): Colouring;
  /** Null for "flat", "rgb" and without a cloud. */
  legend(): Legend | null;
  /** Called when the legend or the list of columns may have changed. */
  onLegend(handler: (legend: Legend | null) => void): Stop;
  /** Edge of a point, pixels, 1..16. */
  setPointSize(pixels: number): void;
  /** Draws only points inside; null: all. */
  setClipBox(box: WorldBox | null): void;
  clipBox(): WorldBox | null;
  /** Box around the visible clouds; null without one. */
  bounds(): WorldBox | null;
  /** Selects what is in the clip box, as a drag would; nothing without one. The way to select by keyboard. */
  selectClipBox(): void;
  setTool(tool: Tool): void;
  tool(): Tool;
  onTool(handler: (tool: Tool) => void): Stop;
  /** Half the edge of the brush's square, pixels. */
  setBrushSize(pixels: number): void;
  /** Full width of the band of a profile, metres. */
  setProfileWidth(metres: number): void;
  onSelection(handler: (selection: Selection) => void): Stop;
  onMeasure(handler: (measurement: Measurement) => void): Stop;
  onProfile(handler: (profile: Profile) => void): Stop;
  /** Null: clicked beside all points. */
  onPick(handler: (point: PickedPoint | null) => void): Stop;
  /** Removes drawn measurements, profiles and selections. */
  clearMarks(): void;
  /** Draws the points of one tree (column tree_instance) in a strong colour and the others paler; null: as before. */
  highlightTree(id: number | null): void;
  addMesh(mesh: MeshInput): ViewObject;
  addSurface(surface: SurfaceInput): ViewObject;
  addQsm(qsm: QsmInput): ViewObject;
  addPlant(plant: PlantInput): ViewObject;
  /** Moves the camera so that everything visible, or `box`, is seen. */
  fit(box?: WorldBox): void;
  stats(): ViewStats;
  /** Called about once a second while something is loaded or drawn, and when that ends. */
  onStats(handler: (stats: ViewStats) => void): Stop;
  /** Called with a sentence when a part of an octree could not be read; the view tries it again later. */
  onProblem(handler: (message: string) => void): Stop;
  /** Called with a session whose octree the service no longer has: its cache was cleared, or full. */
  onEvicted(handler: (sessionId: string) => void): Stop;
  dispose(): void;
}

/** The words of the view; strings.ts has them. */
export interface ViewStrings {
  /** Accessible name of the canvas, with the keys that move the camera. */
  readonly canvasLabel: string;
  readonly height: string;
  readonly intensity: string;
  readonly noWebgl: string;
  /** Names of known class values by column, such as classification -> 2 -> "Ground". */
  readonly classNames: Readonly<Record<string, Readonly<Record<number, string>>>>;
  readonly classValue: (column: string, value: number) => string;
  /** Title of a legend of classes that are too many to look for. */
  readonly valuesBetween: (column: string, low: number, high: number) => string;
}

export interface CloudViewOptions {
  readonly strings: ViewStrings;
  readonly fetchOctreeFile: FetchOctreeFile;
}
