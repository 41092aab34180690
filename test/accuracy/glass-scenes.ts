// Trees of a street before a building of glass. A pane gives no echo of its own here, but shows what stands before it.
import { uniform } from "./random.ts";
import { groundMesh, type Height, mirrored, type RockTree, Scenery, uneven } from "./rock-scenes.ts";
import { type Corners, type instanced, type P, quad } from "./thick-trees.ts";

export const GLASS_SIDE_M = 36;
/** Of the front of the building, y. */
const FRONT_M = 9;
const FLOOR_M = 3;
const BAY_M = 2;
/** Stems end there below the ground. */
const BELOW_M = 0.3;

/** Height of the wall below a pane, width of the post beside it, metres. */
interface Front {
  readonly sill_m: number;
  readonly post_m: number;
  readonly floors: number;
}

const FRONTS: Readonly<Record<string, Front | null>> = {
  glass: { sill_m: 0.6, post_m: 0.3, floors: 5 },
  /** A pane of 1 by 1.5 m in every bay. */
  windows: { sill_m: 0.9, post_m: 1, floors: 3 },
  /** A wall of masonry alone, with a yard of trees behind it. */
  wall: null,
};

export const GLASS = Object.keys(FRONTS);

export interface GlassScene {
  readonly trees: readonly RockTree[];
  readonly ground: Height;
  readonly meshes: ReturnType<typeof instanced>;
}

function front({ sill_m, post_m, floors }: Front): Corners {
  const out: Corners = [];
  const lintel = sill_m > 0.7 ? 0.6 : 0;
  for (let x = -GLASS_SIDE_M / 2; x < GLASS_SIDE_M / 2; x += BAY_M)
    for (let z = 0; z < floors * FLOOR_M; z += FLOOR_M) {
      const part = (from: number, to: number, low: number, high: number) =>
        quad(
          out,
          ...([
            [from, low],
            [to, low],
            [to, high],
            [from, high],
          ].map(([u = 0, v = 0]): P => [x + u, FRONT_M, z + v]) as [P, P, P, P]),
        );
      part(0, BAY_M, 0, sill_m);
      part(0, post_m, sill_m, FLOOR_M);
      if (lintel > 0) part(post_m, BAY_M, FLOOR_M - lintel, FLOOR_M);
    }
  return out;
}

export function glassScene(kind: string, seed = 7): GlassScene {
  const next = uniform(seed);
  const ground: Height = (x, y) => 0.3 * uneven(x, y);
  const scenery = new Scenery();
  const plant = (x: number, y: number) => {
    const [high, radius] = [8 + 3 * next(), 0.1 + 0.06 * next()];
    scenery.plant([x, y, ground(x, y)], { high, radius, wide: 1.6, below: BELOW_M }, next);
  };
  for (let x = -14; x <= 14; x += 4) plant(x, 4 + 1.5 * (next() - 0.5));
  for (let x = -12; x <= 12; x += 8) plant(x, -8);
  const of = FRONTS[kind] ?? null;
  if (!of) for (let x = -14; x <= 14; x += 4) plant(x, 14 + 1.5 * (next() - 0.5));
  scenery.put(of ? front(of) : front({ sill_m: FLOOR_M, post_m: 0, floors: 1 }));
  const wall = scenery.places.length - 1;
  scenery.put(groundMesh(ground, GLASS_SIDE_M));
  const { meshes } = scenery;
  return { trees: scenery.trees, ground, meshes: of ? mirrored(meshes, 1, FRONT_M, wall) : meshes };
}
