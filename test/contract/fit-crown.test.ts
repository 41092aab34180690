import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { CrownFailure, CrownSuccess } from "../../shared/contract/fit-crown.ts";
import { run } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { boxTree, CROWN_HEAD, groundAt, meshFacts } from "../support/session/crowns.ts";
import { checked, cloud, failed, stateOf, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const URL_ = "/api/fit/crown";
const fitted = async (payload: object) => (await streamed(made, CrownSuccess, URL_, payload)).tail;
const failure = async (payload: object) => checked(CrownFailure, (await failed(made, URL_, payload)).tail);
const opened = async (rows: readonly string[], wishes: object = {}) =>
  ({ session_id: (await cloud(made, [CROWN_HEAD, ...rows], wishes)).session_id }) as const;

const TWO = [...boxTree(7, [0, 0, 0]), ...boxTree(3, [20, 5, 2]), ...groundAt([0, 0, 0]), ...groundAt([20, 5, 2])];

describe("shapes", () => {
  test("prism of the leaves: the box, its metrics and its mesh", async () => {
    const source = await opened(TWO);
    const { stages, tail } = await streamed(made, CrownSuccess, URL_, {
      source,
      shape: "prism",
      strictness: 0,
      use_leaf_only: true,
      tree_instance_ids: [7, 3],
    });
    expect(tail).not.toHaveProperty("warnings");
    expect(tail.crowns.map((crown) => crown.tree_instance_id)).toEqual([7, 3]);
    const [, second] = tail.crowns;
    expect(second).toMatchObject({ shape: "prism", params: { a_m: 1, b_m: 0.5, c_m: 1 } });
    expect(second?.metrics).toEqual({
      tree_height_m: 5, // from the stem's foot, 1 m above the ground
      crown_volume_m3: 4,
      crown_center: [20, 5, 7],
      crown_dims_m: [2, 1, 2],
      crown_base_z: 6,
      crown_top_z: 8,
      surface_area_m2: 16,
      num_points_used: 28,
      num_vertices: 8,
      num_triangles: 12,
    });
    expect(meshFacts(second?.vertices ?? [], second?.triangles ?? [])).toEqual({
      volume: expect.closeTo(4, 12),
      closed: true,
      box: [
        [19, 21],
        [4.5, 5.5],
        [6, 8],
      ],
    });
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels).toContain("0.05 Reading points");
    expect(labels).toContain("0.1 Fitting crown 1/2");
    expect(labels).toContain("0.525 Fitting crown 2/2");
    expect(labels.at(-1)).toBe("1 Finalizing");
  });

  test("ellipsoid: through the corners of the box, sqrt(3) times as large", async () => {
    const source = await opened(TWO);
    const request = { source, shape: "ellipsoid", strictness: 0, use_leaf_only: true, tree_instance_ids: [7] };
    const [crown] = (await fitted(request)).crowns;
    const { a_m = 0, b_m = 0, c_m = 0 } = (crown?.params ?? {}) as { a_m?: number; b_m?: number; c_m?: number };
    for (const [found, wanted] of [
      [a_m, 1],
      [b_m, 0.5],
      [c_m, 1],
    ] as const) {
      expect(found).toBeCloseTo(wanted * Math.sqrt(3), 7);
    }
    expect(crown?.metrics.crown_volume_m3).toBeCloseTo(((4 / 3) * Math.PI * 3 * Math.sqrt(3)) / 2, 6);
    expect(crown?.metrics).toMatchObject({ num_vertices: 362, num_triangles: 720 });
    expect(crown?.normals).toHaveLength(3 * 362);
    const facts = meshFacts(crown?.vertices ?? [], crown?.triangles ?? []);
    expect(facts.closed).toBe(true);
    expect(facts.volume / (crown?.metrics.crown_volume_m3 ?? 0)).toBeCloseTo(0.976, 2);
    expect(facts.box[2]?.[1]).toBeCloseTo(crown?.metrics.crown_top_z ?? 0, 12);
  });

  test("points of a tree without a wood class are told, not of other trees", async () => {
    const source = await opened([...TWO, "0 0 9 7 2 0", "20 5 9 3 2 0", "20 5 9.5 3 0 0"]);
    const of = async (ids: number[]) =>
      await fitted({ source, shape: "prism", use_leaf_only: true, tree_instance_ids: ids });
    const one = await of([7]);
    expect(one.warnings).toEqual([
      expect.stringMatching(/^1 point of a tree has no wood class.*crowns leave them out.*use_leaf_only false/),
    ]);
    expect(one.crowns[0]?.metrics.crown_top_z).toBe(6);
    expect((await of([3, 7])).warnings).toEqual([expect.stringMatching(/^3 points of trees have no wood class/)]);
    expect(await fitted({ source, shape: "prism", tree_instance_ids: [3, 7] })).not.toHaveProperty("warnings");
  });

  test("cone: apex over its base", async () => {
    const ring = Array.from({ length: 40 }, (_, i) => {
      const angle = (i * Math.PI) / 20;
      return `${5 + 2 * Math.cos(angle)} ${6 + 2 * Math.sin(angle)} 3 1 2 2`;
    });
    const source = await opened([...ring, "5 6 9 1 2 2", "5 6 0 1 2 1"]);
    const [crown] = (await fitted({ source, shape: "cone", strictness: 0, use_leaf_only: true })).crowns;
    const { base_radius_m = 0, height_m = 0 } = (crown?.params ?? {}) as { base_radius_m?: number; height_m?: number };
    expect(base_radius_m).toBeCloseTo(2, 3); // the file keeps three decimals
    expect(height_m).toBeCloseTo(6, 2);
    expect(crown?.tree_instance_id).toBe(0);
    expect(crown?.metrics.crown_volume_m3).toBeCloseTo((Math.PI / 3) * base_radius_m ** 2 * height_m, 9);
    expect(meshFacts(crown?.vertices ?? [], crown?.triangles ?? []).closed).toBe(true);
  });
});

test("alpha: a lattice has an exact volume before smoothing, and a closed mesh", async () => {
  const rows = Array.from(
    { length: 1000 },
    (_, i) => `${i % 10} ${Math.floor(i / 10) % 10} ${Math.floor(i / 100)} 1 2 2`,
  );
  const source = await opened([...rows, "80 80 80 1 2 2"]);
  const tail = await fitted({ source, shape: "alpha", alpha: 1, tree_instance_ids: [1] });
  const [crown] = tail.crowns;
  expect(tail.warnings).toEqual([expect.stringContaining("every second one gives 73 % less; the same crown")]);
  expect(crown?.params).toEqual({ alpha_m: 1, alpha_auto: false, watertight: true });
  expect(crown?.metrics.num_points_used).toBe(1000);
  expect((crown?.metrics.crown_volume_m3 ?? 0) / 729).toBeCloseTo(1, 2); // smoothing moves edges and corners
  const { closed, volume } = meshFacts(crown?.vertices ?? [], crown?.triangles ?? []);
  expect([closed, volume]).toEqual([true, expect.closeTo(crown?.metrics.crown_volume_m3 ?? 0, 6)]);
  const auto = (await fitted({ source, shape: "alpha", strictness: 0.5 })).crowns[0]?.params;
  expect(auto).toMatchObject({ alpha_auto: true, watertight: true });
  const all = await fitted({ source, shape: "alpha", strictness: 0 });
  expect(all.warnings).toEqual(["Tree 0: the alpha shape holds 1000 of 1001 crown points."]);
  expect((await failure({ source, shape: "alpha", alpha: 0.1 })).warnings).toEqual([
    "Tree 0: alpha is too small: no part of the crown is closed to a ball of this radius; skipped.",
  ]);
});

test("alpha: a volume that depends on the automatic radius is told", async () => {
  // Clumps on a sphere, and rods to them from its middle: gaps of many widths.
  const even = (i: number, step: number) => 2 * ((i * step) % 1) - 1;
  const rows = Array.from({ length: 60 }, (_, k) => k).flatMap((k) => {
    const z = 1 - (2 * k + 1) / 60;
    const across = Math.sqrt(1 - z * z);
    const way = [across * Math.cos(2.4 * k), across * Math.sin(2.4 * k), z];
    return Array.from({ length: 200 }, (_, i) => {
      const off = [even(i + 1, 0.7548776662), even(i + 1, 0.5698402909), even(i + 1, 0.8191725134)];
      const at = way.map((v, axis) => (i % 2 ? v + 0.1 * (off[axis] ?? 0) : (v * i) / 200 + 0.04 * (off[axis] ?? 0)));
      return `${at.map((v) => (10 * v).toFixed(3)).join(" ")} 1 2 2`;
    });
  });
  const source = await opened(rows);
  const tail = await fitted({ source, shape: "alpha", strictness: 0 });
  const { alpha_m = 0 } = (tail.crowns[0]?.params ?? {}) as { alpha_m?: number };
  const told = tail.warnings?.find((text) => text.startsWith("The volume of the crown depends on alpha"));
  const wide = await fitted({ source, shape: "alpha", strictness: 0, alpha: 2 * alpha_m });
  const growth = (wide.crowns[0]?.metrics.crown_volume_m3 ?? 0) / (tail.crowns[0]?.metrics.crown_volume_m3 ?? 1);
  expect(growth).toBeGreaterThan(1.1);
  expect(told).toContain(`(${alpha_m.toPrecision(2)} m): with twice that it is larger by about `);
  const solid = 1 + Number(/about (\d+) %/.exec(told ?? "")?.[1]) / 100; // the mesh is smoothed
  expect(Math.abs(solid / growth - 1)).toBeLessThan(0.15);
  expect(wide.warnings?.join() ?? "").not.toContain("depends on alpha");
});

describe("what a volume depends on is told", () => {
  const part = (i: number, step: number) => 2 * (((i + 1) * step) % 1) - 1;
  const places = Array.from({ length: 40_000 }, (_, i) =>
    [0.8191725134, 0.6710436067, 0.5497004779].map((step) => part(i, step)),
  );
  const ball = places.filter((place) => Math.hypot(...place) <= 1);
  const rowsOf = (some: typeof ball) => some.map((place) => `${place.map((v) => (2 * v).toFixed(4)).join(" ")} 1 2 2`);
  const TRUTH = (4 / 3) * Math.PI * 8;

  test.each(["alpha", "ellipsoid"])("%s: a side with few points, which strictness leaves out", async (shape) => {
    const source = await opened(rowsOf(ball.filter(([x = 0], i) => x < 0 || i % 20 === 0)));
    const { crowns, warnings } = await fitted({ source, shape });
    const all = (await fitted({ source, shape, strictness: 0 })).crowns[0]?.metrics.crown_volume_m3 ?? 0;
    const own = crowns[0]?.metrics.crown_volume_m3 ?? 0;
    expect(own / TRUTH).toBeLessThan(0.75);
    expect(all / TRUTH).toBeGreaterThan(0.9);
    const told = warnings?.find((text) => text.includes("depends on strictness (0.5)")) ?? "";
    expect(Number(/larger by (\d+) %/.exec(told)?.[1]) / 100 + 1).toBeCloseTo(all / own, 0.5);
    const even = await fitted({ source: await opened(rowsOf(ball.slice(0, 3000))), shape });
    expect(even).not.toHaveProperty("warnings");
  });

  test("alpha: a radius that the points are too few for", async () => {
    const given = { shape: "alpha", strictness: 0, alpha: 0.5 };
    const few = await fitted({ source: await opened(rowsOf(ball.slice(0, 600))), ...given });
    const many = await fitted({ source: await opened(rowsOf(ball)), ...given });
    expect(few.crowns[0]?.metrics.crown_volume_m3).toBeLessThan(0.9 * TRUTH);
    expect(few.warnings?.join()).toMatch(
      /depends on the density of the points: every second one gives \d+ % less; the/,
    );
    expect(many).not.toHaveProperty("warnings");
    const two = rowsOf(ball.slice(0, 3000))
      .flatMap((row) => [row, `1${row}`])
      .filter((row) => !row.includes("1-"));
    const half = await fitted({ source: await opened(two), ...given });
    expect(half.warnings?.join()).toMatch(/holds \d+ of \d+ crown points; a larger alpha joins more of them/);
  });

  test("alpha: an automatic radius with too few points", async () => {
    const tail = await fitted({ source: await opened(rowsOf(ball.slice(0, 60))), shape: "alpha", strictness: 0 });
    expect(tail.warnings?.join()).toMatch(/every second one gives \d+ % less; the points are few for the gaps/);
  });
});

describe("which points", () => {
  test("without ids the whole cloud is one tree, without its ground", async () => {
    const source = await opened(TWO);
    const { crowns } = await fitted({ source, shape: "prism", strictness: 0 });
    expect(crowns.map((crown) => [crown.tree_instance_id, crown.metrics.crown_base_z])).toEqual([[0, 1]]);
    expect(crowns[0]?.metrics.tree_height_m).toBe(8);
    expect((await fitted({ source, shape: "prism", strictness: 0, tree_instance_ids: [] })).crowns).toEqual(crowns);
  });

  test("deleted points and misses do not count; every second point with max_points", async () => {
    const rows = ["x y z is_miss", ...Array.from({ length: 60 }, (_, i) => `${i} ${i % 2} ${i % 3} 0`), "5 5 900 1"];
    const { session_id } = await cloud(made, rows);
    const source = { session_id };
    await made.remove(session_id, 40, 60);
    const [crown] = (await fitted({ source, shape: "prism", strictness: 0 })).crowns;
    expect(crown?.metrics).toMatchObject({ num_points_used: 40, crown_dims_m: [39, 1, 2] });
    const thin = await fitted({ source: { ...source, max_points: 20 }, shape: "prism", strictness: 0 });
    expect(thin.crowns[0]?.metrics).toMatchObject({ num_points_used: 20, crown_dims_m: [38, expect.closeTo(2e-6), 2] });
    expect(thin.warnings).toEqual([expect.stringMatching(/^Tree 0: the crown points do not differ along an axis/)]);
  });

  test("world shift and translation are added", async () => {
    const far = TWO.map((row) => {
      const [x, y, ...rest] = row.split(" ");
      return [Number(x) + 450_000, Number(y) + 5_400_000, ...rest].join(" ");
    });
    const source = await opened(far, { world_shift: [450_000, 5_400_000, 0] });
    const request = { shape: "prism", strictness: 0, use_leaf_only: true, tree_instance_ids: [3] };
    const [crown] = (await fitted({ source: { ...source, translation: [0, 0, 100] }, ...request })).crowns;
    expect(crown?.metrics).toMatchObject({ crown_center: [450_020, 5_400_005, 107], tree_height_m: 5 });
    expect(crown?.vertices.slice(0, 3)).toEqual([450_019, 5_400_004.5, 106]);
  });

  test("ground_class: a tree's own ground, else the ground in its extent, else its lowest point", async () => {
    const own = [...boxTree(1, [0, 0, 0]), "0.5 0.5 -0.75 1 1 0"];
    const none = boxTree(9, [60, 0, 0]);
    const source = await opened([...TWO.map((row) => row.replace(" 7 2", " 5 2")), ...none]);
    const request = { shape: "prism", strictness: 0, ground_baseline: "ground_class" };
    const heights = async (from: object, ids: number[]) =>
      (await fitted({ source: from, ...request, tree_instance_ids: ids })).crowns.map((c) => c.metrics.tree_height_m);
    expect(await heights(source, [5, 3, 9])).toEqual([6, 6, 5]);
    const up = [...TWO.map((row) => row.replace(" 7 2", " 5 2")), ...none].map((row) => {
      const [x, y, z, ...rest] = row.split(" ");
      return [x, y, Number(z) + 1000, ...rest].join(" ");
    });
    const high = await opened(up, { world_shift: [0, 0, 1000] });
    expect(await heights({ ...high, translation: [0, 0, 7] }, [5, 3, 9])).toEqual([6, 6, 5]);
    const [height] = await heights(await opened(own), [1]);
    expect(height).toBeCloseTo(6.75, 9);
  });
});

describe("warnings", () => {
  test("trees without points, and with too few", async () => {
    const source = await opened([...TWO, "50 50 5 8 2 2", "50 51 5 8 2 2", "50 52 6 8 2 2"]);
    const tail = await fitted({ source, shape: "cone", strictness: 0, tree_instance_ids: [8, 7, 11, 7] });
    expect(tail.crowns.map((crown) => crown.tree_instance_id)).toEqual([7]);
    expect(tail.warnings).toEqual([
      "Tree 8: too few crown points (3); skipped.",
      "Tree 11: too few crown points (0); skipped.",
    ]);
  });

  test("a tree that cannot be fitted does not fail the others", async () => {
    const level = Array.from({ length: 9 }, (_, i) => `${50 + (i % 3)} ${i} 5 8 2 2`);
    const source = await opened([...TWO, ...level, ...Array.from({ length: 9 }, () => "70 1 5 9 2 2")]);
    const tail = await fitted({ source, shape: "cone", tree_instance_ids: [8, 9, 7] });
    expect(tail.crowns.map((crown) => crown.tree_instance_id)).toEqual([7]);
    expect(tail.warnings).toEqual([
      "Tree 8: all crown points have the same height, so there is no cone around them; skipped.",
      "Tree 9: all crown points are at one place; skipped.",
      expect.stringContaining("The volume of the crown depends on strictness (0.5)"),
    ]);
  });

  test("labels that an option needs and the cloud lacks, and unknown keys", async () => {
    const { session_id } = await cloud(made, [
      "x y z",
      ...Array.from({ length: 30 }, (_, i) => `${i} ${i % 5} ${i % 7}`),
    ]);
    const wish = { tree_instance_ids: [4], use_leaf_only: true, ground_baseline: "ground_class", strictnes: 1 };
    const tail = await fitted({ source: { session_id }, shape: "prism", ...wish });
    expect(tail.crowns.map((crown) => crown.tree_instance_id)).toEqual([0]);
    expect(tail.warnings).toEqual([
      expect.stringContaining('"strictnes"'),
      "The cloud has no column tree_instance: the whole cloud is fitted as one tree.",
      "The cloud has no column wood_class: wood is not told from leaves.",
      "The cloud has no column ground_class: heights begin at the lowest point of a tree.",
    ]);
  });
});

test("strictness leaves strays outside; values outside 0..1 are clamped", async () => {
  const ball = Array.from({ length: 2000 }, (_, i) => {
    const z = 1 - (2 * i + 1) / 2000;
    const angle = i * 2.399963229728653; // golden angle
    const r = Math.sqrt(1 - z * z);
    return `${r * Math.cos(angle)} ${r * Math.sin(angle)} ${z + 5} 1 2 2`;
  });
  const strays = Array.from({ length: 60 }, (_, i) => `${1 + (3 * i) / 60} 0 5 1 2 2`);
  const source = await opened([...ball, ...strays]);
  const volume = async (strictness: number) => {
    const [crown] = (await fitted({ source, shape: "ellipsoid", strictness })).crowns;
    return (crown?.metrics.crown_volume_m3 ?? 0) / ((4 / 3) * Math.PI);
  };
  expect(await volume(0)).toBeGreaterThan(2);
  expect(await volume(0.2)).toBeGreaterThan(0.99);
  expect(await volume(0.2)).toBeLessThan(1.03);
  expect(await volume(-3)).toBe(await volume(0));
  expect(await volume(7)).toBe(await volume(1));
});

test("the session is not changed", async () => {
  const source = await opened(TWO);
  const before = await stateOf(made, source.session_id);
  await fitted({ source, shape: "cone", tree_instance_ids: [7] });
  expect(await stateOf(made, source.session_id)).toBe(before);
});

test("a run that is canceled inside a large tree ends within 250 ms and leaves no memory behind", async () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i % 211} ${i % 103} ${i % 307} 1 2 2`);
  const source = await opened(rows);
  const before = addon.bulkBytesInUse();
  for (const [shape, phase] of [
    ["prism", "Finding stray points"],
    ["alpha", "Building tetrahedra"],
    ["alpha", "Fitting the crown"],
  ] as const) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "fitCrown", phase }, stop, async () => {
      const started = await openRun(made.base, URL_, { source, shape, tree_instance_ids: [1] });
      return started.outcome;
    });
    expect([phase, reached, value.kind]).toEqual([phase, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
  expect((await run(made, URL_, { source, shape: "prism" })).outcome.kind).toBe("json");
});
