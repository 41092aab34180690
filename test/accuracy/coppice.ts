// A coppice with standards: stools of several stems each, which lean outwards, below single oaks.
import { heightOf } from "./forest/allometry.ts";
import { SPECIES } from "./forest/species.ts";
import type { TreePlan } from "./forest/tree.ts";
import { uniform } from "./random.ts";

export const COPPICE_SIDE_M = 30;

export interface Coppice {
  readonly plans: readonly TreePlan[];
  /** Of each plan: number of its stool, from 1; 0 = a standard. */
  readonly stools: readonly number[];
}

export function coppice(seed: number): Coppice {
  const next = uniform(seed * 29 + 3);
  const [plans, stools]: [TreePlan[], number[]] = [[], []];
  const add = (plan: Omit<TreePlan, "id" | "is_understorey">, stool: number) => {
    plans.push({ ...plan, id: plans.length + 1, is_understorey: false });
    stools.push(stool);
  };
  for (const [x, y] of [
    [6, 23],
    [15, 14],
    [24, 5],
  ] as const)
    add(
      {
        ...{ species: SPECIES.red_oak, x, y, diameter_m: 0.35 + 0.2 * next(), height_m: 19 + 2 * next() },
        ...{ crown_base_m: 9, crown_radius_m: 3.5 },
      },
      0,
    );
  let stool = 0;
  for (let i = 2; i < COPPICE_SIDE_M; i += 3.4)
    for (let j = 2; j < COPPICE_SIDE_M; j += 3.4) {
      const [x, y] = [i + 1.2 * (next() - 0.5), j + 1.2 * (next() - 0.5)];
      if (plans.slice(0, 3).some((oak) => Math.hypot(oak.x - x, oak.y - y) < 1.5)) continue;
      stool += 1;
      const count = 2 + Math.floor(7 * next());
      const [ring, turn] = [0.1 + 0.025 * count, 2 * Math.PI * next()];
      for (let k = 0; k < count; k += 1) {
        const azimuth = turn + (2 * Math.PI * (k + 0.4 * (next() - 0.5))) / count;
        const diameter_m = 0.035 + 0.1 * next();
        const height_m = Math.min(11, 0.85 * heightOf(SPECIES.sugar_maple, 100 * diameter_m));
        add(
          {
            ...{ species: stool % 2 === 0 ? SPECIES.american_beech : SPECIES.sugar_maple, diameter_m, height_m },
            ...{ x: x + ring * Math.cos(azimuth), y: y + ring * Math.sin(azimuth) },
            ...{ crown_base_m: 0.45 * height_m, crown_radius_m: 0.6 + 5 * diameter_m },
            lean: { degrees: 3 + 12 * next(), azimuth },
          },
          stool,
        );
      }
    }
  return { plans, stools };
}
