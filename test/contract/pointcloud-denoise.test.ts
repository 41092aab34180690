import { describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { DenoiseResponse } from "../../shared/contract/pointcloud-denoise.ts";
import { refused } from "../support/app/app.ts";
import { heldUntilCanceled } from "../support/native/native-failure.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { CLEAN_COUNT, EXPECTED, NOISY, noisyCloud, rowsOf, STRAYS } from "../support/scans/noisy-cloud.ts";
import { answered, cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/pointcloud/denoise";
const made = sessionTest({ config: { denoiseTileMinPoints: 1700, denoiseTileTargetPoints: 500 } });
const denoise = (payload: object) => answered(made, DenoiseResponse, URL, payload);
const labelsOf = ({ labels }: DenoiseResponse) => Array.from(labels);

test("ror by default: labels in input order, counts, parameters used", async () => {
  const answer = await denoise({ points: NOISY });
  expect(labelsOf(answer)).toEqual(EXPECTED);
  expect(answer).toMatchObject({
    success: true,
    num_points: NOISY.length,
    flagged: STRAYS,
    kept: CLEAN_COUNT,
    fraction: STRAYS / NOISY.length,
    non_finite: 0,
    over_removal: false,
    warnings: [],
    method: "ror",
    stats: {},
    error: null,
  });
  expect(answer.spacing_m).toBeCloseTo(0.05, 9);
  expect(answer.spacing_p95_m).toBeCloseTo(0.05, 9);
  expect(Object.keys(answer.params_used)).toEqual(["radius", "nb_points"]);
  expect(answer.params_used.radius).toBeCloseTo(0.15, 9);
  expect(answer.params_used.nb_points).toBe(2);
  expect(answer.elapsed_s).toBeGreaterThan(0);
});

describe("methods and their parameters", () => {
  test.each([
    [{ method: "voxel_count" }, { voxel: 0.25, min_points: 2 }, STRAYS],
    [{ method: "voxel_count", voxel: 0.1, min_points: 1 }, { voxel: 0.1, min_points: 1 }, 0],
    [{ method: "sor" }, { nb_neighbors: 20, std_ratio: 4 }, STRAYS],
    [{ method: "sor", nb_neighbors: 1000, std_ratio: 1e6 }, { nb_neighbors: 1000, std_ratio: 1e6 }, 0],
    [{ method: "ror", radius: 0.01, nb_points: 1 }, { radius: 0.01, nb_points: 1 }, NOISY.length],
    [{ radius: null, nb_points: 1, voxel: null }, { radius: 0.15, nb_points: 1 }, STRAYS],
    [
      { method: "auto" },
      {
        nb_neighbors: 16,
        link_factor: 7,
        ball_factor: 0.9,
        most_thin: 0.005,
        surface_factor: 1.4,
        cluster_points: 17,
        gap_factor: 6,
        min_ball_link: 0.375,
        most_uneven: 1.4,
        min_link: 0.3,
        max_link: 0.5,
      },
      STRAYS,
    ],
  ])("%j", async (request, used, flagged) => {
    const answer = await denoise({ points: NOISY, ...request });
    expect(Object.keys(answer.params_used)).toEqual(Object.keys(used));
    for (const [name, value] of Object.entries(used)) expect(answer.params_used[name]).toBeCloseTo(value, 9);
    expect(answer.flagged).toBe(flagged);
  });

  test("voxel_count with a voxel measures no spacing", async () => {
    const spy = vi.spyOn(addon, "pointSpacing");
    const answer = await denoise({ points: NOISY, method: "voxel_count", voxel: 0.2 });
    expect([spy.mock.calls.length, answer.spacing_m, answer.spacing_p95_m]).toEqual([0, null, null]);
    spy.mockRestore();
  });

  test("derived lengths stay between 2 cm and 50 cm; points at one position get fixed lengths", async () => {
    const scaled = (factor: number) => NOISY.map((point) => point.map((value) => value * factor));
    expect((await denoise({ points: scaled(0.01) })).params_used.radius).toBe(0.02);
    expect((await denoise({ points: scaled(6) })).params_used.radius).toBe(0.5); // spacing 0.3 m
    const one = Array.from({ length: 1000 }, () => [1, 2, 3]);
    const ror = await denoise({ points: one });
    expect([ror.params_used.radius, ror.spacing_m, ror.flagged]).toEqual([0.05, null, 0]);
    expect(ror.warnings[0]).toContain("could not be measured");
    expect((await denoise({ points: one, method: "voxel_count" })).params_used.voxel).toBe(0.1);
  });

  test("in sparse clouds derived lengths follow the spacing, and a warning says so", async () => {
    const points = NOISY.map((point) => point.map((value) => value * 20)); // spacing 1 m
    const ror = await denoise({ points });
    expect(ror.params_used.radius).toBeCloseTo(3, 9);
    expect([ror.flagged, ror.over_removal]).toEqual([STRAYS, false]);
    expect(ror.warnings.join()).toMatch(/1\.00 m apart .* radius is 3\.00 m instead of at most 0\.5 m/);
    const cells = await denoise({ points, method: "voxel_count" });
    expect([cells.params_used.voxel, cells.flagged]).toEqual([expect.closeTo(5, 9), STRAYS]);
    const given = await denoise({ points, radius: 3 });
    expect(given.warnings.join()).not.toMatch(/instead of/);
  });

  test("the upper limit of a length ends where it is below 1.5 spacings, not below one", async () => {
    const points = NOISY.map((point) => point.map((value) => value * 8)); // spacing 0.4 m
    const ror = await denoise({ points });
    expect([ror.params_used.radius, ror.flagged]).toEqual([expect.closeTo(1.2, 9), STRAYS]);
    expect(ror.warnings.join()).toMatch(/radius is 1\.20 m instead of at most 0\.5 m/);
    expect((await denoise({ points, method: "voxel_count" })).params_used.voxel).toBeCloseTo(2, 9);
  });

  test("a cloud that contains every point twice has the spacing of its positions", async () => {
    const twice = await denoise({ points: [...NOISY, ...NOISY], nb_points: 3 });
    expect(twice.params_used.radius).toBeCloseTo(0.15, 9);
    expect(twice.flagged).toBe(2 * STRAYS);
    expect(twice.warnings).toEqual([
      "About 100 % of the points stand at the place of another one, which counts as a neighbour: noise that comes twice is not found. Was a file imported or merged twice?",
    ]);
    const few = await denoise({ points: [...NOISY, ...NOISY.slice(0, Math.floor(0.02 * NOISY.length))] });
    expect(few.warnings).toEqual([]);
  });

  test("a warning from 3 % of noise on", async () => {
    const far = Array.from({ length: Math.ceil(0.035 * NOISY.length) }, (_, i) => [100 + 50 * i, 0, 0]);
    const answer = await denoise({ points: [...NOISY, ...far] });
    expect([answer.over_removal, answer.flagged]).toEqual([false, STRAYS + far.length]);
    expect(answer.warnings.join()).toMatch(/4\.1 % of the points are labelled noise/);
  });

  test.each([4, 5, 12, 16])("auto finds clumps of %i points that ror keeps, at any scale", async (size) => {
    const clumps = [0, 1, 2, 3].flatMap((i) => Array.from({ length: size }, (_, j) => [50 + 9 * i, 0.01 * j, 80]));
    const points = [...NOISY, ...clumps];
    expect((await denoise({ points })).flagged).toBe(STRAYS);
    const expected = [...EXPECTED, ...clumps.map(() => 2)];
    for (const scale of [0.001, 1, 100]) {
      const scaled = points.map((point) => point.map((value) => value * scale));
      const answer = await denoise({ points: scaled, method: "auto" });
      expect(labelsOf(answer)).toEqual(expected);
      expect(answer.stats).toEqual({});
    }
    const one = Array.from({ length: 1000 }, () => [1, 2, 3]);
    const alone = await denoise({ points: one, method: "auto" });
    expect([alone.params_used.max_link, alone.flagged]).toEqual([0.05, 0]);
    expect(alone.warnings[0]).toContain("could not be measured");
  });

  test("a sparse scan beside a dense one is no noise", async () => {
    const level = (side: number, spacing: number, x: number): [number, number, number][] =>
      Array.from({ length: side * side }, (_, i) => [
        x + spacing * (i % side) + 0.2 * spacing * ((i * 0.618) % 1),
        spacing * Math.floor(i / side) + 0.2 * spacing * ((i * 0.414) % 1),
        0,
      ]);
    const { flagged, spacing_p95_m } = await denoise({
      points: [...level(100, 0.02, 0), ...level(40, 1, 50)],
      method: "auto",
    });
    expect(spacing_p95_m).toBeGreaterThan(0.5);
    expect(flagged).toBe(0); // 1,600 before
  });

  test("auto finds clumps eight spacings above the thin part of an airborne scan", async () => {
    const thin = Array.from({ length: 900 }, (_, i) => [100 + 1.2 * (i % 30), 1.2 * Math.floor(i / 30), 0]);
    const dense = Array.from({ length: 3600 }, (_, i) => [0.4 * (i % 60), 0.4 * Math.floor(i / 60), 0]);
    const noise = [1, 2, 3].flatMap((size) =>
      Array.from({ length: size }, (_, i) => [100 + 10 * size, 18 + 0.1 * i, 3.3]),
    );
    const answer = await denoise({ points: [...thin, ...dense, ...noise], method: "auto" });
    expect(answer.params_used.max_link).toBeCloseTo(8 * 0.4, 9);
    expect(labelsOf(answer).flatMap((label, i) => (label === 2 ? [i] : []))).toEqual(noise.map((_, i) => 4500 + i));
  });

  test("labels follow the points for any position and order", async () => {
    const moved = NOISY.map(([x, y, z]) => [x + 1e6, y - 4e6, z]);
    expect(labelsOf(await denoise({ points: moved }))).toEqual(EXPECTED);
    expect(labelsOf(await denoise({ points: [...NOISY].reverse() }))).toEqual([...EXPECTED].reverse());
  });
});

test("from the tile threshold on, the labels are the same and the tiles are reported", async () => {
  const points = noisyCloud(30, STRAYS);
  for (const method of ["ror", "voxel_count"]) {
    const answer = await denoise({ points, method });
    const { tiled } = answer.stats;
    expect(tiled?.n).toBe(points.length);
    expect(tiled?.tiles).toBeGreaterThan(3);
    expect(tiled?.buffer_m).toBeCloseTo(method === "ror" ? 0.15 : 0.25, 9);
    expect(labelsOf(answer)).toEqual(points.map((_, i) => (i < 3600 ? 1 : 2)));
  }
  expect((await denoise({ points, method: "sor" })).stats).toEqual({});
});

describe("warnings", () => {
  test("more than a fifth of the points is noise", async () => {
    const answer = await denoise({ points: NOISY, radius: 0.01 });
    expect(answer.over_removal).toBe(true);
    expect(answer.warnings).toEqual([
      "100.0 % of the points are labelled noise; scanner noise is 0.1 to 3 %. Try a larger radius before you remove them.",
    ]);
  });
  test("sor on points that were denoised before", async () => {
    const answer = await denoise({ points: NOISY, method: "sor", previously_denoised: true });
    expect(answer.warnings[0]).toContain("sor takes more points with every pass");
    expect((await denoise({ points: NOISY, previously_denoised: true })).warnings).toEqual([]);
  });
  test("parameters of another method", async () => {
    const set = { radius: 0.3, nb_points: 2, voxel: null, min_points: 3, nb_neighbors: 20, std_ratio: 3 };
    expect((await denoise({ points: NOISY, method: "auto", ...set })).warnings).toEqual([
      "radius belongs to method ror; it was ignored for auto.",
      "min_points belongs to method voxel_count; it was ignored for auto.",
      "std_ratio belongs to method sor; it was ignored for auto.",
    ]);
    const { warnings } = await denoise({ points: NOISY, method: "ror", radius: 0.3, nb_neighbors: 20, std_ratio: 4 });
    expect(warnings).toEqual([]);
  });
  test("unknown keys", async () => {
    expect((await denoise({ points: NOISY, raduis: 1 })).warnings[0]).toContain('"raduis"');
  });
});

describe("a session as source", () => {
  test("all its hits that are not deleted, regardless of the stride", async () => {
    const rows = ["x y z is_miss", "0 0 900 1", ...rowsOf(NOISY).map((row) => `${row} 0`)];
    const { session_id } = await cloud(made, rows);
    const region = { kind: "box", min: [-1, -20, 3], max: [1, 0, 9] }; // the first stray
    await made.app.inject({
      method: "POST",
      url: `/api/cloud/session/${session_id}/delete_region`,
      payload: { region },
    });
    const answer = await denoise({ source: { session_id, max_points: 10, translation: [1, 2, 3] } });
    expect(labelsOf(answer)).toEqual(EXPECTED.slice(0, -1));
  });
  test.each([
    [{ source: { session_id: "00000000" } }, 404, "Cloud session not found: 00000000"],
    [{ source: {} }, 400, "the source has neither a session_id nor a source_path"],
    [{ source: { source_path: "/a.las" } }, 400, expect.stringContaining("no session")],
    [{ source: { session_id: "00000000", translation: [1] } }, 400, expect.stringContaining("translation")],
  ])("%j", async (request, status, detail) => {
    expect(await refusal(made, URL, request)).toEqual([status, detail]);
  });
});

describe("rejected requests", () => {
  test.each([
    [{}, "Send `points` or a `source` descriptor."],
    [{ points: NOISY, method: "dbscan" }, 'method "dbscan" is none of ror, voxel_count, sor, auto'],
    [{ points: NOISY, radius: 0 }, "radius must be a number above 0, not 0"],
    [{ points: NOISY, method: "sor", radius: -1 }, "radius must be a number above 0, not -1"],
    [{ points: NOISY, voxel: -0.1 }, "voxel must be a number above 0, not -0.1"],
    [{ points: NOISY, std_ratio: 0 }, "std_ratio must be a number above 0, not 0"],
    [{ points: NOISY, nb_points: 0 }, "nb_points must be 1 to 4294967294, not 0"],
    [{ points: NOISY, min_points: 4294967295 }, "min_points must be 1 to 4294967294, not 4294967295"],
    [{ points: NOISY, nb_neighbors: 1001 }, "nb_neighbors must be 1 to 1000, not 1001"],
  ])("%j", async (request, detail) => {
    expect(await refusal(made, URL, request)).toEqual([400, detail]);
  });
  test.each([{ points: [[1, 2]] }, { points: NOISY, nb_points: 1.5 }, { points: NOISY, radius: "0.1" }])(
    "%#: 422",
    async (request) => {
      expect((await refusal(made, URL, request))[0]).toBe(422);
    },
  );
});

const FAILED = { success: false, labels: [], num_points: 0, flagged: 0, kept: 0, method: "ror", params_used: {} };

test.each([0, 1, 999])("%i points are too few", async (count) => {
  const answer = await denoise({ points: NOISY.slice(0, count) });
  expect(answer).toMatchObject({
    ...FAILED,
    error: `Need at least 1000 points for noise detection, but there are ${count}; use a larger part of the cloud`,
    code: "invalid_argument",
  });
});

test("1000 points are enough", async () => {
  expect((await denoise({ points: NOISY.slice(0, 1000) })).success).toBe(true);
});

test("an internal failure is reported in `error`", async () => {
  const spy = vi.spyOn(addon, "labelNoise").mockImplementation(() => {
    throw Object.assign(new Error("no memory left"), { code: "out_of_memory" });
  });
  expect(await denoise({ points: NOISY })).toMatchObject({ ...FAILED, error: "no memory left", code: "out_of_memory" });
  spy.mockRestore();
});

test("canceled: 499, and no leftovers", async () => {
  const before = addon.bulkBytesInUse();
  let reached = false;
  const cancel = () => {
    reached = true;
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled("pointSpacing", cancel, () => refused(made, URL, { points: NOISY }));
  expect(reached).toBe(true);
  expect(value).toEqual({ status: 499, detail: "Denoise was canceled.", code: "canceled" });
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});
