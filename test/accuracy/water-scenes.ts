// Trees around still water. Water gives no echo of its own but mirrors: a beam that meets it obliquely measures what stands
// beyond, as far below the surface as it is above. A mirror image behind a hole in the ground is exactly that.
import { uniform } from "./random.ts";
import { groundMesh, type Height, mirrored, type RockTree, Scenery, smooth, uneven } from "./rock-scenes.ts";
import type { instanced } from "./thick-trees.ts";

export const WATER_SIDE_M = 40;
const TREES = 20;
/** Of stems below the ground, less than the water: a beam below the water sees what the bank hides. */
const BELOW_M = 0.2;

interface Water {
  readonly ground: Height;
  readonly level_m: number;
}

/** Outside of an ellipse with these half axes: 0 at its border, growing outwards. */
const beyond = (x: number, y: number, a: number, b: number) => Math.hypot(x / a, y / b) - 1;

const WATERS: Readonly<Record<string, Water>> = {
  pond: { ground: (x, y) => uneven(x, y) - 1.4 * (1 - smooth(beyond(x, y, 5, 4) / 0.5)), level_m: -0.7 },
  /** Eight metres wide, its banks 2.5 m high. */
  river: {
    ground: (x, y) => uneven(x, y) - 3.5 * (1 - smooth((Math.abs(x - 1.5 * Math.sin(0.15 * y)) - 3.5) / 2.5)),
    level_m: -2.5,
  },
  /** Half of the plot. */
  lake: { ground: (x, y) => uneven(x, y) - 1.5 * smooth((x + Math.sin(0.3 * y)) / 4), level_m: -0.5 },
};

export const WATER = Object.keys(WATERS);

export interface WaterScene extends Water {
  readonly trees: readonly RockTree[];
  /** Without and with what the water mirrors. */
  readonly dry: ReturnType<typeof instanced>;
  readonly mirrored: ReturnType<typeof instanced>;
}

export function waterScene(kind: string, seed = 7): WaterScene {
  const next = uniform(seed);
  const { ground, level_m } = WATERS[kind] as Water;
  const scenery = new Scenery();
  while (scenery.trees.length < TREES) {
    const [x, y] = [(next() - 0.5) * 36, (next() - 0.5) * 36];
    if (ground(x, y) < level_m + 0.15 || !scenery.isFree(x, y, 3.5)) continue;
    const [high, radius] = [10 + 6 * next(), 0.1 + 0.1 * next()];
    scenery.plant([x, y, ground(x, y)], { high, radius, wide: 1.8, below: BELOW_M }, next);
  }
  scenery.put(groundMesh(ground, WATER_SIDE_M, level_m));
  const dry = scenery.meshes;
  return { trees: scenery.trees, ground, level_m, dry, mirrored: mirrored(dry, 2, level_m) };
}
