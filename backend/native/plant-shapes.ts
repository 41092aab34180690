import type { Blade, PlantShapes } from "../../shared/contract/plant-shapes.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** An organ of size 1, to be placed many times. The caller owns the columns. */
export interface OrganPrototype {
  /** "leaf/<shape>/<variant>", "flower/<shape>/open", "flower/<shape>/closed", "fruit/<shape>" */
  readonly name: string;
  /** Organ code. */
  readonly organ: number;
  /** Index in `textures`. */
  readonly texture: number | null;
  /** Of a leaf: one-sided area of the blade of length 1, less the holes of the texture; else the surface. */
  readonly area: number;
  /** f32 (3 V). */
  readonly positions: NativeColumn;
  /** u32 (3 T). */
  readonly indices: NativeColumn;
  /** f32 (3 T), one colour per triangle. */
  readonly colors: NativeColumn;
  /** f32 (2 V), v downwards. */
  readonly uvs: NativeColumn | null;
}

export interface PlantPrototypes {
  readonly prototypes: OrganPrototype[];
  readonly textures: string[];
}

/** The flat blade of length 1: x along the midrib, y to the left; its texture spans x_min .. x_max, +- half_width. */
export interface BladeOutline {
  readonly outline: [number, number][];
  readonly x_min: number;
  readonly x_max: number;
  readonly half_width: number;
}

export interface PlantShapesNative {
  plantPrototypes(shapes: PlantShapes, detail: number): NativeJob<PlantPrototypes>;
  bladeOutline(blade: Blade, points: number): BladeOutline;
}

const addon = addonAs<PlantShapesNative>();

/** The shapes with every field of the native side. */
export function completeShapes(shapes: PlantShapes): PlantShapes {
  const organs = (all: PlantShapes["fruits"]) =>
    Object.fromEntries(
      Object.entries(all).map(([name, organ]) => [
        name,
        { ...organ, bodies: organ.bodies.map((body) => ({ ...body, tip_color: body.tip_color ?? body.color })) },
      ]),
    );
  return { ...shapes, flowers: organs(shapes.flowers), fruits: organs(shapes.fruits) };
}

/** Builds all prototypes of a species; `detail` is a factor for their divisions, 0.05 .. 4. */
export const plantPrototypes: PlantShapesNative["plantPrototypes"] = (shapes, detail) =>
  addon.plantPrototypes(completeShapes(shapes), detail);
/** The outline as a closed polygon of about `points` corners, counter-clockwise. */
export const bladeOutline: PlantShapesNative["bladeOutline"] = (blade, points) => addon.bladeOutline(blade, points);
