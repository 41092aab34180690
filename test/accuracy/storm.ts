// A forest after a storm: trees that stand, hang or were broken off, stems on the ground, stumps, log piles and brash.
import type { Job } from "../../backend/jobs/job.ts";
import { stemRadius } from "./forest/allometry.ts";
import { layout } from "./forest/layout.ts";
import { buildScene, type Scene } from "./forest/scene.ts";
import type { Surface } from "./forest/surface.ts";
import type { TreePlan } from "./forest/tree.ts";
import { type Uniform, uniform } from "./random.ts";
import type { Height } from "./relief.ts";
import { Builder, thingOf } from "./things.ts";
import { add, unit, type Vector } from "./vector.ts";

export const STORM_SIDE_M = 40;
export const STORM_THINGS = ["lying", "snag", "stump", "pile", "brash"] as const;
export type StormThing = (typeof STORM_THINGS)[number];
export const stormThingOf = (id: number): StormThing | null => thingOf(STORM_THINGS, id);

type Build = Builder<StormThing>;

/** A stem that was thrown, with its root plate, the stubs of its branches and, while it is green, its leaves. */
function thrown(build: Build, plan: TreePlan, ground: Height, next: Uniform): void {
  const code = build.id("lying");
  const radius = stemRadius(plan.species, plan.diameter_m, plan.height_m);
  const azimuth = 2 * Math.PI * next();
  const way: Vector = [Math.cos(azimuth), Math.sin(azimuth), 0];
  const has_plate = next() < 0.6;
  const lifted = has_plate ? 0.15 + plan.diameter_m : 0;
  const length = 0.95 * plan.height_m;
  const at = (along: number): Vector => {
    const [x, y] = [plan.x + along * way[0], plan.y + along * way[1]];
    return [x, y, ground(x, y) + radius(along) + lifted * (1 - along / length) + 0.02];
  };
  const step = 0.25;
  for (let along = 0; along + step < length; along += step)
    build.tube(code, at(along), at(along + step), [radius(along), radius(along + step)], 20, along === 0);
  if (has_plate)
    build.tube(code, add(at(0), way, -0.35), at(0), [2.2 * plan.diameter_m + 0.3, plan.diameter_m], 14, true);
  const is_green = next() < 0.5;
  for (let along = 0.35 * length; along < 0.97 * length; along += 0.22) {
    const [u, turn] = [1 - along / length, Math.PI * (next() - 0.5) * 1.9];
    const across: Vector = [-way[1] * Math.sin(turn), way[0] * Math.sin(turn), Math.cos(turn)];
    const long = (0.4 + 2.2 * u) * (0.5 + 0.5 * next());
    const from = at(along);
    const tip = add(from, unit(add(across, way, 0.5)), long);
    const low = ground(tip[0], tip[1]) + 0.03;
    const to: Vector = [tip[0], tip[1], Math.max(tip[2], low)];
    build.bar(code, from, to, 0.004 + 0.012 * u);
    if (!is_green) continue;
    for (let k = 0; k < 60; k += 1) {
      const place = add(from, add(to, from, -1), 0.2 + 0.8 * next());
      build.leaf(code, add(place, [next() - 0.5, next() - 0.5, next() - 0.5], 0.5), next);
    }
  }
}

/** A stem that was broken off, with the stubs of some branches; `cut`: a stump. */
function broken(build: Build, plan: TreePlan, high: number, ground: Height, next: Uniform): void {
  const code = build.id("snag");
  const radius = stemRadius(plan.species, plan.diameter_m, plan.height_m);
  const at = (along: number): Vector => [plan.x, plan.y, ground(plan.x, plan.y) + along];
  for (let along = -0.5; along + 0.2 < high; along += 0.2)
    build.tube(code, at(along), at(along + 0.2), [radius(along), radius(along + 0.2)], 28);
  for (let k = 0; k < 5; k += 1) {
    const [along, azimuth] = [1.5 + (high - 1.5) * next(), 2 * Math.PI * next()];
    const out: Vector = [Math.cos(azimuth), Math.sin(azimuth), 0.3];
    build.bar(code, at(along), add(at(along), out, 0.25 + 0.5 * next()), 0.015);
  }
  // Splinters at the break.
  for (let k = 0; k < 6; k += 1) {
    const azimuth = 2 * Math.PI * next();
    const from: Vector = add(at(high - 0.25), [Math.cos(azimuth), Math.sin(azimuth), 0], 0.7 * radius(high));
    build.tube(code, from, add(from, [0, 0, 0.3 + 0.5 * next()]), [0.3 * radius(high), 0.004], 6);
  }
}

function stump(build: Build, [x, y]: readonly [number, number], ground: Height, next: Uniform): void {
  const [r, high] = [0.1 + 0.2 * next(), 0.15 + 0.7 * next() ** 2];
  const z = ground(x, y);
  build.tube(build.id("stump"), [x, y, z - 0.4], [x, y, z + high], [1.25 * r, r], 28, true);
}

/** Logs of one length upon each other, along x. */
function pile(build: Build, [x, y]: readonly [number, number], ground: Height, next: Uniform): void {
  const code = build.id("pile");
  const [r, rows] = [0.13, 5];
  const z = ground(x, y) + 0.05;
  for (let row = 0; row < rows; row += 1)
    for (let k = 0; k < 9 - row; k += 1) {
      const one = r * (0.75 + 0.25 * next());
      const across = y + (k - (8 - row) / 2) * 2 * r;
      const [from, to] = [x - 2 + 0.15 * next(), x + 2 + 0.15 * next()];
      const up = z + r + row * 1.75 * r;
      build.tube(code, [from, across, up], [to, across, up], [one, 0.9 * one], 16, true);
    }
}

/** Branches that were thrown together. */
function brash(build: Build, [x, y]: readonly [number, number], ground: Height, next: Uniform): void {
  const code = build.id("brash");
  for (let k = 0; k < 260; k += 1) {
    const [range, azimuth] = [1.6 * Math.sqrt(next()), 2 * Math.PI * next()];
    const top = 1.5 * (1 - (range / 1.7) ** 2);
    const [px, py] = [x + range * Math.cos(azimuth), y + range * Math.sin(azimuth)];
    const from: Vector = [px, py, ground(px, py) + 0.03 + top * next()];
    const way: Vector = [next() - 0.5, next() - 0.5, 0.5 * (next() - 0.4)];
    const to = add(from, unit(way), 0.5 + next());
    build.bar(code, from, [to[0], to[1], Math.max(to[2], ground(to[0], to[1]) + 0.02)], 0.003 + 0.015 * next() ** 2);
  }
}

export interface Storm extends Scene {
  /** Diameter at breast height of each stem that was broken off, metres, and where it stands. */
  readonly snags: readonly {
    readonly x: number;
    readonly y: number;
    readonly dbh_m: number;
    readonly height_m: number;
  }[];
  /** Ids of trees that hang in others. */
  readonly hung: readonly number[];
}

export async function buildStorm(seed: number, job: Job): Promise<Storm> {
  const next = uniform(seed * 23 + 5);
  const all = layout("interlocked", seed, STORM_SIDE_M);
  const [standing, down, snapped]: [TreePlan[], TreePlan[], TreePlan[]] = [[], [], []];
  for (const plan of all) {
    const fate = next();
    if (fate < 0.22) down.push(plan);
    else if (fate < 0.32) snapped.push(plan);
    else if (fate < 0.38)
      standing.push({ ...plan, lean: { degrees: 25 + 25 * next(), azimuth: 2 * Math.PI * next() } });
    else standing.push(plan);
  }
  const plans = standing.map((plan, k) => ({ ...plan, id: k + 1 }));
  const snags = snapped.map((plan) => {
    const height_m = Math.min(0.7 * plan.height_m, 2.2 + 8 * next());
    const radius = stemRadius(plan.species, plan.diameter_m, plan.height_m);
    return { plan, x: plan.x, y: plan.y, dbh_m: 2 * radius(1.3), height_m };
  });
  const free = (): [number, number] => {
    for (;;) {
      const [x, y] = [2 + (STORM_SIDE_M - 4) * next(), 2 + (STORM_SIDE_M - 4) * next()];
      const tripod = (v: number) => Math.abs((v % (STORM_SIDE_M / 2)) - STORM_SIDE_M / 4) < 3;
      if (!(tripod(x) && tripod(y))) return [x, y];
    }
  };
  const scene = await buildScene("interlocked", seed, STORM_SIDE_M, job, {
    plans,
    build: (surface: Surface, ground: Height) => {
      const build = new Builder(STORM_THINGS, surface, ground);
      for (const plan of down) thrown(build, plan, ground, next);
      for (const { plan, height_m } of snags) broken(build, plan, height_m, ground, next);
      for (let k = 0; k < 25; k += 1) stump(build, free(), ground, next);
      for (let k = 0; k < 3; k += 1) pile(build, free(), ground, next);
      for (let k = 0; k < 5; k += 1) brash(build, free(), ground, next);
    },
  });
  const hung = plans.flatMap(({ id, lean }) => (lean ? id : []));
  return { ...scene, snags: snags.map(({ plan, ...rest }) => rest), hung };
}
