// A street as a car scans it: trees in two rows, and posts, signs, wires, cars, hedges, fences and houses beside them.
import type { Job } from "../../backend/jobs/job.ts";
import { buildScene, type Scene } from "./forest/scene.ts";
import { SPECIES } from "./forest/species.ts";
import type { Surface } from "./forest/surface.ts";
import type { TreePlan } from "./forest/tree.ts";
import { type Uniform, uniform } from "./random.ts";
import type { Height } from "./relief.ts";
import { Builder, thingOf } from "./things.ts";
import type { Vector } from "./vector.ts";

/** Length of the street, along x; its middle lies at half of it along y. */
export const SIDE_M = 60;
export const MIDDLE_M = SIDE_M / 2;
const TREES_M = 6;
const HOUSES_M = 12;

export const THINGS = ["lamp", "sign", "utility", "bollard", "fence", "car", "hedge", "house"] as const;
export type Thing = (typeof THINGS)[number];
export const streetThingOf = (id: number): Thing | null => thingOf(THINGS, id);

function furnish(surface: Surface, ground: Height, next: Uniform) {
  const build = new Builder(THINGS, surface, ground);
  for (const side of [-1, 1]) {
    const kerb = MIDDLE_M + side * (TREES_M - 0.5);
    for (let x = 8; x < SIDE_M; x += 22) {
      const lamp = build.id("lamp");
      build.post(lamp, [x + 4, kerb], [0.09, 0.05], [0, 8]);
      const top = ground(x + 4, kerb) + 8;
      build.bar(lamp, [x + 4, kerb, top], [x + 4, kerb - side * 1.5, top + 0.3], 0.04);
      build.box(lamp, [x + 4, kerb - side * 1.7], [0.25, 0.6], [8.2, 8.4]);
    }
    for (let x = 3; x < SIDE_M; x += 17) {
      const sign = build.id("sign");
      build.post(sign, [x, kerb], [0.03, 0.03], [0, 2.9]);
      build.box(sign, [x, kerb], [0.03, 0.6], [2.2, 2.85]);
    }
    for (let x = 10; x < SIDE_M; x += 15) {
      const car = build.id("car");
      build.box(car, [x, kerb - side * 1.4], [4.4, 1.8], [0.2, 0.9]);
      build.box(car, [x - 0.2, kerb - side * 1.4], [2.4, 1.6], [0.9, 1.45]);
    }
    for (let x = 1; x < SIDE_M; x += 1.5) build.post(build.id("bollard"), [x, kerb - side * 0.2], [0.05, 0.05], [0, 1]);
    for (let x = 7.5; x < SIDE_M; x += 15) {
      const house = build.id("house");
      const wall = MIDDLE_M + side * (HOUSES_M + 4);
      const high = 8 + 4 * next();
      build.box(house, [x, wall], [11, 8], [-1, high]);
      // Balconies and bay windows stand out of the wall, drain pipes stand before it.
      for (const [k, at] of [-3.5, 0, 3.5].entries())
        for (let h = 3; h + 2 < high; h += 3)
          build.box(house, [x + at, MIDDLE_M + side * (HOUSES_M - 0.4)], k === 1 ? [2.5, 0.8] : [1.2, 0.3], [
            h,
            h + (k === 1 ? 1 : 1.6),
          ]);
      build.post(house, [x + 5.2, MIDDLE_M + side * (HOUSES_M - 0.1)], [0.05, 0.05], [0, high]);
    }
    for (let x = 3; x < SIDE_M; x += 15) {
      const at = [x + 4, MIDDLE_M + side * (HOUSES_M - 2.2)] as const;
      if (side < 0) build.leaves(build.id("hedge"), at, [9, 0.8, 1.6], next);
      else {
        const fence = build.id("fence");
        for (let k = -30; k <= 30; k += 1) build.post(fence, [at[0] + 0.15 * k, at[1]], [0.012, 0.012], [0, 1.3]);
      }
    }
  }
  const poles = [5, 30, 55].map((x) => [x, MIDDLE_M + 8.5] as const);
  for (const at of poles) {
    const pole = build.id("utility");
    build.post(pole, at, [0.15, 0.11], [0, 9]);
    const z = ground(at[0], at[1]);
    build.bar(pole, [at[0], at[1] - 1, z + 8.6], [at[0], at[1] + 1, z + 8.6], 0.05);
  }
  const wire = build.id("utility");
  for (const y of [-0.9, 0.9])
    for (let k = 0; k < 24; k += 1) {
      const at = (i: number): Vector => {
        const x = -4 + (i * (SIDE_M + 8)) / 24;
        const u = (x - 5) / 25 - Math.floor((x - 5) / 25);
        return [x, MIDDLE_M + 8.5 + y, ground(30, MIDDLE_M + 8.5) + 8.7 - 1.6 * u * (1 - u)];
      };
      build.bar(wire, at(k), at(k + 1), 0.01);
    }
}

function treesOf(next: Uniform): TreePlan[] {
  const species = [SPECIES.sugar_maple, SPECIES.red_oak, SPECIES.american_beech];
  const plans: TreePlan[] = [];
  for (const side of [-1, 1])
    for (let x = 5; x < SIDE_M; x += 9) {
      const diameter_m = 0.05 + 0.5 * next() ** 2;
      const height_m = 3 + 26 * diameter_m + 2 * next();
      plans.push({
        ...{ id: plans.length + 1, species: species[plans.length % 3] as TreePlan["species"] },
        ...{ x: x + 0.5 * next(), y: MIDDLE_M + side * TREES_M, diameter_m, height_m },
        ...{
          crown_base_m: Math.max(2.2, 0.28 * height_m),
          crown_radius_m: 1.3 + 5 * diameter_m,
          is_understorey: false,
        },
      });
    }
  return plans;
}

export const buildStreet = (seed: number, job: Job): Promise<Scene> => {
  const next = uniform(seed * 17 + 3);
  const plans = treesOf(next);
  return buildScene("apart", seed, SIDE_M, job, { plans, build: (surface, ground) => furnish(surface, ground, next) });
};
