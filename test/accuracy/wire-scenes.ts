// Trees on both sides of a power line.
import { uniform } from "./random.ts";
import { groundMesh, type Height, NOWHERE, type RockTree, stem, uneven } from "./rock-scenes.ts";
import { type Corners, crown, instanced, type P, tube } from "./thick-trees.ts";

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
  const [trees, prototypes, places]: [RockTree[], Corners[], P[]] = [[], [], []];
  while (trees.length < TREES) {
    const [x, y] = [(next() - 0.5) * 34, (next() - 0.5) * 34];
    if (Math.abs(y) < FREE_M || trees.some((one) => Math.hypot(one.x - x, one.y - y) < 3.5)) continue;
    const [high, radius] = [12 + 6 * next(), 0.1 + 0.1 * next()];
    const out = stem(radius, high, 0.3);
    crown({ height_m: high, crown_m: 1.8 }, 0.4 * high, next, out, 0.02 + 0.1 * radius, 4000);
    let top = 0;
    for (let k = 2; k < out.length; k += 3) top = Math.max(top, out[k] ?? 0);
    trees.push({ x, y, z: ground(x, y), height_m: top, dbh_m: 2 * radius });
    prototypes.push(out);
    places.push([x, y, ground(x, y)]);
  }
  const wires: Corners = [];
  for (const y of WIRES_Y)
    tube(
      wires,
      Array.from({ length: 41 }, (_, k): P => [k - 20, y, LOWEST_M + SAG_PER_M * (k - 20) ** 2]),
      WIRE_M[scans] ?? 0,
    );
  prototypes.push(wires, groundMesh(ground, WIRES_SIDE_M));
  places.push([0, 0, 0], [0, 0, 0]);
  return { trees, ground, meshes: instanced(prototypes, places, NOWHERE), side_m: WIRES_SIDE_M };
}
