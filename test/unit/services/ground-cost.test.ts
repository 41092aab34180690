import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import * as native from "../../../backend/native/classify/ground.ts";
import { groundCost } from "../../../backend/services/classify/ground-cost.ts";
import { clothPlan } from "../../../backend/services/classify/ground-filter.ts";
import { positions } from "../../accuracy/native.ts";
import { uniform } from "../../accuracy/random.ts";

/** Of the machines seen: a cloth that became slower than that everywhere is no slow machine. */
const SLOWEST = 4;
const NO_TILES = { groundTileMinPoints: 1e9, groundTileTargetPoints: 1e9 };

/** A cloth over a square that falls in every step: CPU seconds of its estimate, and a run that measures them. */
function fallingCloth(side_m: number, iterations: number) {
  const random = uniform(1);
  const xyz = Float64Array.from({ length: 30_000 }, (_, i) => (i % 3 === 2 ? 0 : side_m * random()));
  xyz.set([side_m / 2, side_m / 2, -400]); // far below: the cloth never gets there
  const cloud = positions(xyz);
  const measured = { finite_count: xyz.length / 3, extent: [side_m, side_m] as const, measures: null };
  const wish = { cloth_resolution: 0.1, rigidness: 3, class_threshold: 0.5, slope_smooth: false, iterations };
  const full = { ...wish, auto_class_threshold: false, ignore_low_outliers: false };
  const cloth = clothPlan(full, measured, NO_TILES);
  const { seconds } = groundCost({ method: "cloth", wish: full, frame: null }, cloth, measured);
  return {
    estimate_s: seconds * availableParallelism(),
    cpuSeconds: async () => {
      const before = process.cpuUsage();
      const { iterations_run } = await native.clothSimulation(cloud, null, cloth.params).promise;
      const { user, system } = process.cpuUsage(before);
      expect(iterations_run).toBe(iterations);
      return (user + system) / 1e6;
    },
  };
}

test("a cloth that falls in every step takes at most twice the estimate", async () => {
  const large = fallingCloth(100, 15);
  const small = fallingCloth(30, 15);
  const [cpu_s, small_s]: [number[], number[]] = [[], []];
  // A small cloth tells how fast this machine is: some need three times as long for a particle. Estimates are of others, and
  // programs beside this one on the same core double its time, for a while.
  const slowness = () => Math.min(SLOWEST, Math.max(1, Math.min(...small_s) / small.estimate_s));
  const most = () => 2 * large.estimate_s * slowness();
  while (cpu_s.length < 3 || (Math.min(...cpu_s) >= most() && cpu_s.length < 12)) {
    small_s.push(await small.cpuSeconds());
    cpu_s.push(await large.cpuSeconds());
  }
  expect(Math.min(...cpu_s)).toBeLessThan(most());
});
