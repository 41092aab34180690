// Trees on both sides of a power line.
import { uniform } from "./random.ts";
import { groundMesh, type Height, Scenery, uneven } from "./rock-scenes.ts";
import { type Corners, type P, tube } from "./thick-trees.ts";

export const WIRES_SIDE_M = 36;
const TREES = 24;
/** Half of the width that is kept free of trees. */
const FREE_M = 7;
const WIRES_Y = [-3, 0, 3] as const;
const LOWEST_M = 11;
const SAG_PER_M = 0.006;
/** What a flight sees as wide as its beams, and tripods as wide as it is. */
const WIRE_M: Readonly<Record<string, number>> = { air: 0.12, tripods: 0.012 };

export function wireScene(scans: string, seed = 7) {
  const next = uniform(seed);
  const ground: Height = uneven;
  const scenery = new Scenery();
  while (scenery.trees.length < TREES) {
    const [x, y] = [(next() - 0.5) * 34, (next() - 0.5) * 34];
    if (Math.abs(y) < FREE_M || !scenery.isFree(x, y, 3.5)) continue;
    const [high, radius] = [12 + 6 * next(), 0.1 + 0.1 * next()];
    scenery.plant([x, y, ground(x, y)], { high, radius, wide: 1.8, below: 0.3 }, next);
  }
  const wires: Corners = [];
  for (const y of WIRES_Y)
    tube(
      wires,
      Array.from({ length: 41 }, (_, k): P => [k - 20, y, LOWEST_M + SAG_PER_M * (k - 20) ** 2]),
      WIRE_M[scans] ?? 0,
    );
  scenery.put(wires);
  scenery.put(groundMesh(ground, WIRES_SIDE_M));
  return { trees: scenery.trees, ground, meshes: scenery.meshes, side_m: WIRES_SIDE_M };
}
