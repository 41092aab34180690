import { beforeAll, describe, expect, test } from "vitest";
import { crownBaseOf, heightOf, standCrownWidth, stemRadius } from "../../accuracy/forest/allometry.ts";
import { convexHull, crownCover, outside, type Place, perimeter, polygonArea } from "../../accuracy/forest/hull.ts";
import { layout, STANDS } from "../../accuracy/forest/layout.ts";
import { SPECIES } from "../../accuracy/forest/species.ts";
import { buildStand, ORGAN, type Stand } from "../../accuracy/forest/stand.ts";
import { readStand, standPath } from "../../accuracy/forest/stand-files.ts";
import { StemSection } from "../../accuracy/forest/stem.ts";
import { Surface } from "../../accuracy/forest/surface.ts";
import { Terrain } from "../../accuracy/forest/terrain.ts";
import { growTree } from "../../accuracy/forest/tree.ts";
import { uniform } from "../../accuracy/random.ts";

const SMALL = { kind: "understorey", seed: 3, positions: 4, side: 12, every: 22 } as const;
/** Of the scanner. */
const NOISE_M = 0.004;

let stand: Stand;
beforeAll(async () => {
  stand = await buildStand(SMALL);
});

/** The point's distance to the axis of its cylinder less the radius there. */
function offSurface({ points: { xyz, cylinder }, cylinders }: Stand, i: number): number {
  const at = (k: number) => cylinders[8 * (cylinder[i] ?? 0) + k] ?? Number.NaN;
  const axis = [0, 1, 2].map((k) => at(3 + k) - at(k));
  const from = [0, 1, 2].map((k) => (xyz[3 * i + k] ?? 0) - at(k));
  const square = axis.reduce((sum, value) => sum + value * value, 0);
  const share = Math.min(1, Math.max(0, from.reduce((sum, value, k) => sum + value * (axis[k] ?? 0), 0) / square));
  const distance = Math.hypot(...from.map((value, k) => value - share * (axis[k] ?? 0)));
  return distance - (at(6) + share * (at(7) - at(6)));
}

describe("scanned stand", () => {
  test("wood returns lie on the cylinders of their trees, within the noise", () => {
    const { points, orders, trees } = stand;
    const sums = new Map<number, [number, number, number]>();
    let [foreign, worst] = [0, 0];
    for (const [i, organ] of points.organ.entries()) {
      if (organ !== ORGAN.wood) continue;
      const [cylinder, tree] = [points.cylinder[i] ?? 0, trees[(points.tree[i] ?? 0) - 1]];
      if (!tree) throw new Error("wood of no tree");
      const own = cylinder - tree.first_cylinder;
      if (own < 0 || own >= tree.cylinder_count) foreign += 1;
      const off = offSurface(stand, i);
      const stem = orders[cylinder] === 0;
      const shape = stem ? 0.08 * ((tree.dbh_m ?? 0.04) / 2) * 1.8 + 4 * tree.bark_m : 0.001;
      worst = Math.max(worst, Math.abs(off) - shape);
      const sum = sums.get(orders[cylinder] ?? 0) ?? [0, 0, 0];
      sums.set(orders[cylinder] ?? 0, [sum[0] + 1, sum[1] + off, sum[2] + off * off]);
    }
    expect(foreign).toBe(0);
    expect(worst).toBeLessThan(5 * NOISE_M);
    for (const [order, [count, sum, squares]] of sums) {
      if (count < 300) continue;
      expect(Math.abs(sum / count), `mean of order ${order}`).toBeLessThan(0.0016);
      expect(Math.sqrt(squares / count), `spread of order ${order}`).toBeLessThan(1.3 * NOISE_M);
      expect(Math.sqrt(squares / count)).toBeGreaterThan(0.4 * NOISE_M);
    }
    expect(sums.get(0)?.[0]).toBeGreaterThan(2000);
    expect(sums.get(1)?.[0]).toBeGreaterThan(300);
  });

  test("leaves lie in the crowns, tops at the heights, ground on the ground, counts are those of the ids", () => {
    const { points, trees } = stand;
    const [top, hits] = [new Float64Array(trees.length + 1), new Uint32Array(trees.length + 1)];
    let [leaves, beyond, buried, unlabelled] = [0, 0, 0, 0];
    for (const [i, organ] of points.organ.entries()) {
      const id = points.tree[i] ?? 0;
      hits[id] = (hits[id] ?? 0) + 1;
      const [x, y, z] = [points.xyz[3 * i] ?? 0, points.xyz[3 * i + 1] ?? 0, points.xyz[3 * i + 2] ?? 0];
      const tree = trees[id - 1];
      if ((organ === ORGAN.ground) !== (tree === undefined)) unlabelled += 1;
      if (!tree) buried = Math.max(buried, Math.abs(points.height[i] ?? 9));
      else top[id] = Math.max(top[id] ?? 0, z - tree.base[2]);
      if (!tree || organ !== ORGAN.leaf) continue;
      leaves += 1;
      beyond = Math.max(beyond, outside(tree.crown_hull, [x, y]));
    }
    expect(unlabelled).toBe(0);
    expect(buried).toBeLessThan(5 * NOISE_M);
    expect(beyond).toBeLessThan(5 * NOISE_M);
    expect(leaves).toBeGreaterThan(10_000);
    let near = 0;
    for (const { id, height_m, hits: told } of trees) {
      expect(hits[id]).toBe(told);
      expect(top[id]).toBeLessThan(height_m + 5 * NOISE_M);
      if (told > 2000 && (top[id] ?? 0) > height_m - 0.3) near += 1;
    }
    expect(near).toBeGreaterThan(0.7 * trees.filter((tree) => tree.hits > 2000).length);
    expect(trees.filter((tree) => tree.hits >= 200).length).toBeGreaterThan(20);
  });

  test("stems at breast height are as thick as told", () => {
    const { points, trees, orders } = stand;
    let seen = 0;
    for (const { id, dbh_m, dbh_place, stem_arc_deg, ellipticity } of trees) {
      if (!dbh_m || !dbh_place || dbh_m < 0.08 || stem_arc_deg < 250) continue;
      const radii: number[] = [];
      for (let i = 0; i < points.tree.length; i += 1) {
        if (points.tree[i] !== id || orders[points.cylinder[i] ?? 0] !== 0) continue;
        if (Math.abs((points.xyz[3 * i + 2] ?? 0) - dbh_place[2]) > 0.15) continue;
        radii.push(Math.hypot((points.xyz[3 * i] ?? 0) - dbh_place[0], (points.xyz[3 * i + 1] ?? 0) - dbh_place[1]));
      }
      if (radii.length < 100) continue;
      seen += 1;
      const mean = radii.reduce((sum, r) => sum + r, 0) / radii.length;
      expect(Math.abs(2 * mean - dbh_m)).toBeLessThan(0.06 * dbh_m * (1 + 4 * (ellipticity - 1)));
    }
    expect(seen).toBeGreaterThan(1);
  });

  test("is kept, and made again the same", async () => {
    const kept = readStand(standPath(SMALL));
    expect(kept?.trees).toEqual(stand.trees);
    expect(kept?.points.xyz.every((value, k) => value === stand.points.xyz[k])).toBe(true);
    expect(kept?.orders.every((value, k) => value === stand.orders[k])).toBe(true);
    expect(kept?.points.scan.every((value, k) => value === stand.points.scan[k])).toBe(true);
    const plan = layout(SMALL.kind, SMALL.seed, SMALL.side)[0];
    if (!plan) throw new Error("no tree");
    const ground = new Terrain(SMALL.seed * 101, SMALL.side, 3).height;
    expect(JSON.parse(JSON.stringify(growTree(plan, SMALL.seed, ground, new Surface()).truth))).toEqual(
      Object.fromEntries(Object.entries(stand.trees[0] ?? {}).filter(([name]) => !/hits|arc|first_cyl/.test(name))),
    );
  });
});

describe("sizes of trees", () => {
  test("lie in the range of real ones", () => {
    for (const species of Object.values(SPECIES)) {
      expect(heightOf(species, 5)).toBeGreaterThan(2.8);
      expect(heightOf(species, 30)).toBeGreaterThan(14);
      expect(heightOf(species, 70)).toBeLessThan(30);
      expect(standCrownWidth(species, 25)).toBeGreaterThan(3.5);
      expect(standCrownWidth(species, 25)).toBeLessThan(7);
      const base = crownBaseOf(species, 25, 17, { basal_area: 30, crowns_of_larger: 100 });
      expect(base).toBeGreaterThan(4);
      expect(base).toBeLessThan(11);
    }
  });

  test("the stem has its diameter at breast height and gets thinner upwards", () => {
    for (const species of Object.values(SPECIES)) {
      for (const [dbh, height] of [
        [0.055, 4],
        [0.25, 17],
        [0.7, 29],
      ] as const) {
        const radius = stemRadius(species, dbh, height);
        expect(2 * radius(1.3)).toBeCloseTo(dbh, 9);
        let bulges = 0;
        for (let along = 0; along < height; along += 0.1) if (radius(along + 0.1) > 1.01 * radius(along)) bulges += 1;
        expect(bulges).toBe(0);
        expect(radius(height)).toBeLessThan(0.01);
        expect(radius(0)).toBeLessThan(1.6 * dbh);
      }
    }
  });

  test("stands have their numbers of trees; crowns that stay apart do", () => {
    const trees = new Map(STANDS.map((kind) => [kind, layout(kind, 1, 30)]));
    const counts = STANDS.map((kind) => trees.get(kind)?.length);
    expect(counts).toEqual([36, 72, 207, 54, 100]); // of 0.09 ha: 400, 800, 2300, 600 per hectare; 10 rows of 10
    expect(trees.get("understorey")?.slice(0, 72)).toEqual(trees.get("interlocked"));
    const apart = trees.get("apart") ?? [];
    for (const a of apart)
      for (const b of apart)
        if (a.id < b.id) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThan(a.crown_radius_m + b.crown_radius_m);
  });

  test("a section has the girth of its radius, whatever its shape", () => {
    const section = new StemSection(() => 0.2, 1.15, 0.004, { girth_m: 1.2566, length_m: 10 }, uniform(2));
    const places = Array.from({ length: 20_000 }, (_, k): Place => {
      const azimuth = (2 * Math.PI * k) / 20_000;
      return [section.ellipse(azimuth) * Math.cos(azimuth), section.ellipse(azimuth) * Math.sin(azimuth)];
    });
    expect(perimeter(places)).toBeCloseTo(2 * Math.PI, 5);
    const bark = places.map((_, k) => section.bark((2 * Math.PI * k) / 20_000, 1.234));
    expect(bark.reduce((sum, value) => sum + value, 0) / bark.length).toBeCloseTo(0, 9);
  });
});

describe("crowns in plan", () => {
  test("hull, area and distance of a square with points in it; cover of two that overlap", () => {
    const square: Place[] = [
      [0, 0],
      [2, 0],
      [2, 2],
      [0, 2],
    ];
    expect(polygonArea(convexHull([...square, [1, 1], [1, 0], [0.5, 1.9]]))).toBe(4);
    expect(outside(square, [3, 1])).toBe(1);
    expect(outside(square, [1, 1])).toBe(-1);
    const moved = square.map(([x, y]): Place => [x + 1, y]);
    expect(crownCover([square, moved], 0.05)).toMatchObject({
      crowns_m2: expect.closeTo(8, 6),
      covered_m2: expect.closeTo(6, 6),
      covered_twice_m2: expect.closeTo(2, 6),
      shared: 0.5,
    });
  });
});
