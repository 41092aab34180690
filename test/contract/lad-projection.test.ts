import { describe, expect, test } from "vitest";
import { LadSuccess } from "../../shared/contract/lad-compute.ts";
import { encodeFrame } from "../../shared/wire/phb1.ts";
import { readRun } from "../support/app/run-body.ts";
import { parallelBeams, UNIT_GRID } from "../support/lad/beams.ts";
import { LAD_URL, ladCalls, ladRequest } from "../support/lad/calls.ts";
import { failed, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const { run: run_, compute, failure, refusedWith } = ladCalls(made);

describe("projection function", () => {
  const g = async (gtheta_spec: object, grid: object = UNIT_GRID) => await compute({ grid, gtheta_spec });
  const tall = { ...UNIT_GRID, size: [1, 1, 2], nz: 2 };

  test("distributions of leaf inclinations, seen from the side", async () => {
    const value = async (spec: object) => (await g({ spatial: "constant", spec })).cells[0]?.gtheta;
    expect(await value({ kind: "dewit", dewit: "spherical" })).toBe(0.5);
    expect(await value({ kind: "dewit", dewit: "planophile" })).toBeCloseTo(8 / (3 * Math.PI * Math.PI), 3);
    expect(await value({ kind: "dewit", dewit: "erectophile" })).toBeCloseTo(16 / (3 * Math.PI * Math.PI), 3);
    expect(await value({ kind: "beta", beta_mu: 1, beta_nu: 1 })).toBeCloseTo(4 / (Math.PI * Math.PI), 3);
    expect(await value({ kind: "constant", value: 0.25 })).toBe(0.25);
  });

  /** Level and vertical beams through a voxel of 1 m, whose shares that end inside are those of planophile leaves. */
  const crossed = (density: number) => {
    const level = 8 / (3 * Math.PI * Math.PI); // closed forms of G
    const vertical = 8 / (3 * Math.PI);
    const scan = (g: number, turned: boolean) => {
      const hits = Math.round(400 * (1 - Math.exp(-density * g)));
      const beams = parallelBeams(1, 20, (i) => ((i * 7) % 400 < hits ? 0.25 : null));
      const swap = ([x = 0, y = 0, z = 0]: readonly number[]) => (turned ? [z, y, x] : [x, y, z]);
      const { is_miss, origin_x = [], origin_y = [], origin_z = [] } = beams.scalar_columns;
      const [x, z] = turned ? [origin_z, origin_x] : [origin_x, origin_z];
      return {
        origin: swap(beams.origin),
        points: beams.points.map(swap),
        scalar_columns: { is_miss, origin_x: x, origin_y, origin_z: z },
      };
    };
    return [scan(level, false), scan(vertical, true)];
  };
  const planophile = { spatial: "constant", spec: { kind: "dewit", dewit: "planophile" } };

  test("gtheta_per_beam: each beam has the G of its own angle", async () => {
    const scans = crossed(2);
    const mean = await compute({ scans, gtheta_spec: planophile });
    const each = await compute({ scans, gtheta_spec: planophile, gtheta_per_beam: true });
    expect(each.cells[0]?.lad).toBeCloseTo(2, 1);
    expect(mean.cells[0]?.lad).toBeLessThan(1.8);
    expect([mean.gtheta_per_beam, each.gtheta_per_beam]).toEqual([false, true]);
    const told = "G of these leaves lies between 0.27 and 0.85 for 90 % of the beams, and one mean stands for all";
    expect([mean, each].map(({ warnings }) => warnings.join().includes(told))).toEqual([true, false]);
    const level = await compute({ scans: scans.slice(0, 1), gtheta_spec: planophile });
    expect(level.warnings.join()).not.toContain("G of these leaves");
    for (const field of ["gtheta", "beam_count", "path_length_total", "hit_count"] as const)
      expect(each.cells[0]?.[field]).toBe(mean.cells[0]?.[field]);
    const profile = [planophile.spec, { kind: "constant", value: 0.5 }];
    const layers = { grid: tall, scans, gtheta_spec: { spatial: "profile", profile } };
    const by_layer = await compute({ ...layers, gtheta_per_beam: true });
    const plain = await compute(layers);
    expect(by_layer.cells[1]?.lad).toBeCloseTo(plain.cells[1]?.lad ?? 0, 9);
    expect(by_layer.cells[0]?.lad).not.toBeCloseTo(plain.cells[0]?.lad ?? 0, 2);
    const spherical = { spatial: "constant", spec: { kind: "dewit", dewit: "spherical" } };
    const same = [false, true].map((gtheta_per_beam) => compute({ scans, gtheta_spec: spherical, gtheta_per_beam }));
    const [a, b] = await Promise.all(same);
    expect(b?.cells[0]?.lad).toBe(a?.cells[0]?.lad);
  });

  test("gtheta_per_beam needs a distribution", async () => {
    const [status, message] = await refusedWith({ gtheta_per_beam: true });
    expect(status).toBe(400);
    expect(message).toMatch(/^gtheta_per_beam needs the distribution of the leaf inclinations/);
    const nz = 600;
    const profile = Array.from({ length: nz }, () => planophile.spec);
    const deep = { grid: { ...UNIT_GRID, nz }, gtheta_spec: { spatial: "profile", profile }, gtheta_per_beam: true };
    expect((await refusedWith(deep))[1]).toMatch(/at most 512 layers, and gtheta_spec has 600/);
    const mesh = { mesh_vertices: [0, 0, 0, 0, 1, 0, 0, 0, 1], mesh_indices: [0, 1, 2], mesh_scan_ids: [0] };
    const of_mesh = { gtheta_per_beam: true, gtheta_override: false, gtheta: null, ...mesh };
    expect((await refusedWith(of_mesh))[1]).toMatch(/^gtheta_per_beam needs the distribution/);
  });

  test("one value per layer, from below", async () => {
    const profile = [
      { kind: "constant", value: 0.25 },
      { kind: "constant", value: 1 },
    ];
    const tail = await g({ spatial: "profile", profile }, tall);
    expect(tail.gtheta_profile).toEqual([0.25, 1]);
    expect(tail.cells.map(({ gtheta }) => gtheta)).toEqual([0.25, 1]);
    expect(tail.cells[0]?.lad).toBeCloseTo(4 * (tail.cells[1]?.lad ?? 0), 9);
  });

  test("from a mesh, as JSON and as a frame; without triangles a voxel is not solved", async () => {
    const mesh = {
      mesh_vertices: [0, -0.25, -0.25, 0, 0.25, -0.25, 0, -0.25, 0.25],
      mesh_indices: [0, 1, 2],
      mesh_scan_ids: [0],
    };
    const grid = { ...UNIT_GRID, nx: 2, size: [2, 1, 1] };
    const fields = { ...ladRequest({ grid }), gtheta_override: false, gtheta: null };
    const { stages, tail } = await streamed(made, LadSuccess, LAD_URL, { ...fields, ...mesh });
    expect(stages.map(([, label]) => label)).toContain("Reusing triangulation");
    const along = [10, -0.25, -0.25];
    const range = Math.hypot(...along);
    expect(tail.cells[1]?.gtheta).toBeCloseTo(10 / range, 9);
    expect(tail.cells[0]).toMatchObject({ gtheta: 0, lad: 0, lad_solved: false, under_sampled: false });
    expect(tail.gtheta_profile).toBeNull();
    const frame = encodeFrame(fields, {
      mesh_vertices: Float32Array.from(mesh.mesh_vertices),
      mesh_indices: Uint32Array.from(mesh.mesh_indices),
      mesh_scan_ids: Uint32Array.from(mesh.mesh_scan_ids),
    });
    const headers = { "content-type": "application/octet-stream" };
    const answer = await made.app.inject({ method: "POST", url: LAD_URL, headers, payload: Buffer.from(frame) });
    const { outcome } = readRun(answer.rawPayload);
    expect(outcome.kind === "json" && outcome.value).toEqual(tail);
    const away = { ...fields, ...mesh, mesh_vertices: mesh.mesh_vertices.map((value) => value + 50) };
    expect((await failed(made, LAD_URL, away)).error).toMatch(/No triangle of the mesh lies in the grid/);
    for (const [change, sentence] of [
      [{ mesh_scan_ids: [1] }, /mesh_scan_ids\[0\] is not the number of one of the 1 scans/],
      [{ mesh_indices: [0, 1, 3] }, /mesh_indices\[2\] is 3/],
    ] as const) {
      expect((await failed(made, LAD_URL, { ...fields, ...mesh, ...change })).error).toMatch(sentence);
    }
  });

  test.each<[string, object, RegExp]>([
    ["an override without a value", { gtheta: null }, /needs gtheta or gtheta_spec/],
    ["G above one", { gtheta: 1.2 }, /gtheta is 1\.2: G must be above 0 and at most 1/],
    ["G of zero", { gtheta: 0 }, /gtheta is 0/],
    ["both", { mesh_vertices: [0, 0, 0], mesh_indices: [0, 0, 0], mesh_scan_ids: [0] }, /exclude each other/],
    ["half a mesh", { gtheta_override: false, gtheta: null, mesh_vertices: [0, 0, 0] }, /needs mesh_vertices, mesh_/],
    ["a short profile", { gtheta_spec: { spatial: "profile", profile: [] } }, /has 0 values; a grid of 1 layers/],
    ["no law", { gtheta_spec: { spatial: "constant", spec: { kind: "dewit" } } }, /spec\.dewit is missing/],
    [
      "a Beta law without shape",
      { gtheta_spec: { spatial: "constant", spec: { kind: "beta", beta_mu: 2, beta_nu: 0 } } },
      /beta_nu is 0: both shapes/,
    ],
    ["no spec", { gtheta_spec: { spatial: "constant" } }, /needs spec/],
  ])("%s is refused", async (_name, change, sentence) => {
    expect(await refusedWith(change)).toEqual([400, expect.stringMatching(sentence)]);
  });
});

describe("from an own triangulation", () => {
  /** A fan of pulses from (-6, 0, 0) to a wall of leaves at x = 0, leaning by `angle` or turned by `turn`, with gaps. */
  const wall = (angle: number, more: object = {}, turn = 0) => {
    const points: number[][] = [];
    const is_miss: number[] = [];
    const timestamp: number[] = [];
    for (let row = 0; row < 40; row += 1) {
      for (let column = 0; column < 40; column += 1) {
        const [y, z] = [(column - 19.5) * 0.025, (row - 19.5) * 0.025];
        const along = [6, y, z];
        const reach = 6 / (6 - z * Math.tan(angle) - y * Math.tan(turn)); // x = z tan(angle) + y tan(turn)
        const miss = (row >> 2) % 2 === 1;
        points.push(along.map((part, axis) => (axis === 0 ? -6 : 0) + part * (miss ? 100 : reach)));
        is_miss.push(miss ? 1 : 0);
        timestamp.push(points.length);
      }
    }
    return { origin: [-6, 0, 0], points, scalar_columns: { is_miss, timestamp }, ...more };
  };
  const free = { gtheta_override: false, gtheta: null, grid: { ...UNIT_GRID, size: [2, 2, 2] } };

  test("G is the cosine between the beams and leaves that lean or turn together", async () => {
    for (const degrees of [0, 30, 50]) {
      const angle = (degrees * Math.PI) / 180;
      for (const leaves of [wall(angle), wall(0, {}, angle)]) {
        const { stages, tail } = await run_({ ...free, scans: [leaves] });
        expect(Math.abs((tail.cells[0]?.gtheta ?? 0) - Math.cos(angle))).toBeLessThan(0.02); // beams fan by 5 degrees
        expect(tail.gtheta_profile).toBeNull();
        expect(stages.map(([, label]) => label)).toContain("Triangulating hit points");
      }
    }
  });

  test("leaves that all face the scanner, or none, are told", async () => {
    const told = async (turn: number) => {
      const { warnings } = await compute({ ...free, scans: [wall(0, {}, turn)] });
      return warnings.filter((text) => text.startsWith("Most leaves")).join();
    };
    expect(await told(0.06)).toMatch(
      /face the scanners, like those of a hedge: their triangles project 1\.[2-4]\d times/,
    );
    expect(await told(Math.PI / 4)).toMatch(/are turned to one side of the beams/); // their mean cosine is that of uniform azimuths
    expect(await told((62 * Math.PI) / 180)).toMatch(/edge on to the scanners.*project 0\.\d+ times/);
  });

  test("hits too far apart for the limits tell no leaf angles", async () => {
    const { error } = await failure({ ...free, scans: [wall(0)], lmax: 0.0362 }); // the hits are 0.025 m apart
    expect(error).toMatch(/^None of the \d+ triangles in the grid tells leaf angles: with lmax 0\.0362 m.*Raise lmax/);
  });

  test("beams farther apart than two fifths of a leaf are told", async () => {
    const told = async (element_width: number) => {
      const { warnings } = await compute({ ...free, scans: [wall(0)], element_width });
      return warnings.filter((text) => text.includes("element_width")).join();
    };
    expect(await told(0.05)).toMatch(/^Beams are 0\.025 m apart .*width \(element_width\) is 0\.05 m/);
    expect(await told(0.1)).toBe("");
    expect(await told(0)).toBe("");
    const error = async (element_width: number) =>
      (await compute({ ...free, scans: [wall(0)], element_width })).gtheta_common_error ?? 0;
    expect(await error(0.05)).toBeCloseTo(Math.hypot(await error(0), 0.5 * (0.5 - 0.35)), 2);
    expect(await error(0.1)).toBeCloseTo(await error(0), 4);
  });

  test("ranges as noisy as the hits are apart are told", async () => {
    const wide = { lmax: 0.2, max_aspect_ratio: 20 };
    const told = async (noise: number) => {
      const leaves = wall(0);
      const points = leaves.points.map((at, i) => [(at[0] ?? 0) + noise * Math.sin(i * i), at[1], at[2]]);
      const { warnings } = await compute({ ...free, ...wide, scans: [{ ...leaves, points }] });
      return warnings.filter((text) => text.includes("fold against")).join();
    };
    expect(await told(0)).toBe("");
    expect(await told(0.06)).toMatch(/^[2-9]\d % of the triangles fold against all their neighbours/);
  });

  test("limits of the triangles; values that are not used are told", async () => {
    const { error } = await failure({ ...free, scans: [wall(0)], lmax: 0.001 });
    expect(error).toMatch(/lmax 0\.001 m and max_aspect_ratio 4.*Raise lmax/);
    const tail = await compute({ ...free, gtheta: 0.3, scans: [wall(0)] });
    expect(tail.cells[0]?.gtheta).toBeCloseTo(1, 2);
    expect(tail.warnings.join()).toMatch(/gtheta and gtheta_spec are not used/);
    expect(tail.warnings.join()).toMatch(/how often beams of their angles give one of leaves of each inclination/);
  });

  /** Planophile square leaves of 0.25 m at random in a cube of 2 m, 1.2 m2/m3, seen by rasters of 100 x 100 pulses from 6 m. */
  const foliage = () => {
    let state = 12345;
    const unit = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    const [edge, outer] = [0.25, 2.4]; // also those whose edge alone lies in the cube
    const leaves = Array.from({ length: Math.round((1.2 * outer ** 3) / edge ** 2) }, () => {
      let tilt = Math.PI * unit() * 0.5;
      while (unit() > (1 + Math.cos(2 * tilt)) / 2) tilt = Math.PI * unit() * 0.5;
      const turn = 2 * Math.PI * unit();
      const [c, s] = [Math.cos(tilt), Math.sin(tilt)];
      return {
        at: [0, 1, 2].map(() => outer * (unit() - 0.5)),
        u: [c * Math.cos(turn), c * Math.sin(turn), -s],
        v: [-Math.sin(turn), Math.cos(turn), 0],
        n: [s * Math.cos(turn), s * Math.sin(turn), c],
      };
    });
    const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, k) => sum + x * (b[k] ?? 0), 0);
    const range = (from: readonly number[], along: readonly number[]) => {
      let nearest = 100;
      for (const { at, u, v, n } of leaves) {
        const away = at.map((x, k) => x - (from[k] ?? 0));
        const t = dot(away, n) / dot(along, n);
        if (!(t > 0 && t < nearest)) continue;
        const off = along.map((x, k) => x * t - (away[k] ?? 0));
        if (Math.abs(dot(off, u)) < edge / 2 && Math.abs(dot(off, v)) < edge / 2) nearest = t;
      }
      return nearest;
    };
    return (above: boolean) => {
      const origin = above ? [0, 0, 6] : [6, 0, 0];
      const [points, is_miss]: [number[][], number[]] = [[], []];
      for (let i = 0; i < 100; i += 1) {
        for (let j = 0; j < 100; j += 1) {
          const [y, z] = [(i - 49.5) * 0.004, (j - 49.5) * 0.004];
          const along = above ? [z, y, -1] : [-1, y, z];
          const far = range(origin, along);
          points.push(along.map((x, k) => (origin[k] ?? 0) + x * far));
          is_miss.push(far === 100 ? 1 : 0);
        }
      }
      return { origin, points, scalar_columns: { is_miss } };
    };
  };

  test("scans from the side and from above: each beam has the G of its own angle", async () => {
    const scan = foliage();
    const scans = [scan(false), scan(true)];
    const limits = { lmax: 0.12, max_aspect_ratio: 6 };
    const both = await compute({ ...free, ...limits, scans });
    expect(both.gtheta_per_beam).toBe(true);
    expect(Math.abs((both.cells[0]?.lad ?? 0) / 1.2 - 1)).toBeLessThan(0.15); // 265 leaves
    expect(both.clumping_check?.voxel_count ?? 0).toBeGreaterThanOrEqual(0);
    const flat = {
      gtheta_override: true,
      gtheta_spec: { spatial: "constant", spec: { kind: "dewit", dewit: "planophile" } },
    };
    const given = await compute({ ...free, ...flat, scans, gtheta_per_beam: true });
    expect(given.gtheta_common_error).toBeNull();
    const common = both.gtheta_common_error ?? Number.NaN;
    expect(common).toBeGreaterThan(0.02);
    expect(common).toBeLessThan(0.1);
    const { lad, leaf_area, leaf_area_ci_upper, lad_std, lad_std_total } = both.cells[0] ?? {};
    expect(both.cells[0]?.ci_valid).toBe(true);
    // Common to all voxels, and what is by chance in this one.
    const more = Math.sqrt((lad_std_total ?? 0) ** 2 - (lad_std ?? 0) ** 2) / (lad ?? 0);
    expect(more).toBeGreaterThan(common);
    expect(leaf_area_ci_upper).toBeCloseTo((leaf_area ?? 0) + 1.96 * 8 * (lad_std_total ?? 0), 9);
    const points = (await compute({ ...free, ...limits, scans, element_width: 0 })).cells[0];
    const alone = Math.hypot(points?.lad_std ?? 0, 0.02 * (points?.lad ?? 0));
    expect(points?.lad_std_total).toBeCloseTo(alone, 3);
    // Seen from one side, the leaves of a voxel are as they happen to be turned.
    const large = { ...free, ...flat, scans: scans.slice(0, 1), element_width: 0.1 };
    const [one] = (await compute(large)).cells;
    expect(one?.lad_std_total ?? 0).toBeGreaterThan(1.2 * (one?.lad_std ?? 0));
    expect(Math.abs((both.cells[0]?.lad ?? 0) / (given.cells[0]?.lad ?? 1) - 1)).toBeLessThan(0.1);
    const level = { ...free, ...limits, scans: scans.slice(0, 1) };
    expect((await compute(level)).gtheta_per_beam).toBe(false);
    expect((await compute({ ...level, gtheta_per_beam: true })).gtheta_per_beam).toBe(true);
  });

  test("leaves without uniform azimuths have one G for all beams, and that is told", async () => {
    const { gtheta_per_beam, warnings } = await compute({ ...free, scans: [wall(0)], gtheta_per_beam: true });
    expect(gtheta_per_beam).toBe(false);
    expect(warnings.join()).toMatch(/All beams of a voxel have that G, in spite of gtheta_per_beam/);
  });

  test("moving scans cannot be triangulated", async () => {
    const pose = (t: number) => ({ t, x: -6, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 });
    const trajectory = { poses: [pose(0), pose(2000)] };
    const alone = await compute({ ...free, scans: [wall(0.5, { trajectory })] });
    expect(alone.cells[0]?.gtheta).toBe(0.5);
    expect(alone.warnings[0]).toMatch(/Scan 1 moved while scanning.*G is taken as 0\.5/);
    const both = await compute({ ...free, scans: [wall(0), wall(0, { trajectory, label: "cart" })] });
    expect(both.cells[0]?.gtheta).toBeCloseTo(1, 2);
    expect(both.warnings).toContainEqual(
      expect.stringMatching(/Scan "cart" moved while scanning.*from the other scans/),
    );
  });
});
