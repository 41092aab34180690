import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { NativePlant } from "./plants.ts";

/** A change of the factor by which values of the document are scaled. */
export interface NativeMorphEdit {
  /** "" = every shoot type. */
  readonly shoot_type: string;
  readonly parameter:
    | "internode_length_max"
    | "insertion_angle_tip"
    | "girth_area_factor"
    | "gravitropic_curvature"
    | "tortuosity"
    | "leaf_scale"
    | "petiole_length"
    | "petiole_radius"
    | "internode_radius";
  readonly op: "set" | "scale" | "add";
  readonly value: {
    readonly kind: "constant" | "uniform" | "normal" | "weibull";
    readonly a: number;
    readonly b: number;
  };
  /** Limits of the factor. */
  readonly least: number;
  readonly most: number;
}

export interface MorphedPlant {
  readonly plant: NativePlant;
  /** Numbers of the edits of shoot types that the plant does not have. */
  readonly unused: readonly number[];
}

/** The structure document as an editor's tables. */
export interface PlantTables {
  readonly plant_age: string;
  readonly base_position: string;
  /** u8: JSON list of the shoots. */
  readonly shoots: NativeColumn;
}

export interface MorphNative {
  morphPlant(plant: NativePlant, edits: readonly NativeMorphEdit[]): NativeJob<MorphedPlant>;
  plantTables(text: NativeColumn): NativeJob<PlantTables>;
}

const addon = addonAs<MorphNative>();

/** A plant with scaled values; the given one stays as it is. */
export const morphPlant: MorphNative["morphPlant"] = (plant, edits) => addon.morphPlant(plant, edits);
/** Tables of a structure document, u8 (UTF-8). Errors: invalid_file. */
export const plantTables: MorphNative["plantTables"] = (text) => addon.plantTables(text);
