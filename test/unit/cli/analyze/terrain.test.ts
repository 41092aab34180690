import { expect, test, vi } from "vitest";
import type { Covered, RasterPlace } from "../../../../backend/cli/analyze/cell-size.ts";
import type { AnalyzeClient } from "../../../../backend/cli/analyze/run.ts";
import { canopy, labelTerrain, terrainSummary } from "../../../../backend/cli/analyze/terrain.ts";
import { Progress } from "../../../../backend/cli/progress.ts";
import type { Scene, SceneKind } from "../../../../backend/cli/report/findings.ts";
import { terrainFacts } from "../../../../backend/cli/report/terrain-report.ts";
import { ApiError } from "../../../../shared/client/index.ts";
import { fakeService, smallTail, textSink } from "../../../support/cli/analyze-fake.ts";

const OPTIONS = { denoise: true, ground: "auto" as "auto" | false, dem: true };
const NOISE = {
  flagged: 2,
  kept: 98,
  over_removal: false,
  method: "ror",
  params_used: { radius: 0.5 },
  spacing_p95_m: 0.9,
  kept_bounds: { min: [0, 0, 0], max: [7, 1, 1] },
  warnings: ["first"],
};
const GROUND = {
  num_ground: 50,
  num_plant: 50,
  low_outliers: 1,
  method: "auto",
  params_used: {},
  point_spacing_m: 1,
  noise_count: 5,
  kept_bounds: { min: [0, 0, 0], max: [6, 1, 1] },
  warnings: [],
};

function steps(
  client: Partial<Record<keyof AnalyzeClient, unknown>>,
  options: Partial<typeof OPTIONS> = {},
  kind: SceneKind = "plot",
) {
  const scene: Scene = { kind, asked: true, reason: "--scene" };
  const service = fakeService();
  return {
    service,
    with: {
      scene,
      placeOf: ({ tight_bounds }: Covered): RasterPlace | undefined =>
        tight_bounds ? { cell_size: 1, bbox: [tight_bounds.min[0], 0, tight_bounds.max[0], 1] } : undefined,
      options: { ...OPTIONS, ...options } as never,
      client: { ...service.client, ...client } as AnalyzeClient,
      progress: new Progress(textSink()),
      signal: new AbortController().signal,
    },
  };
}

test("steps that the options leave out are not requested", async () => {
  const { service, with: run } = steps({}, { denoise: false, ground: false, dem: false });
  const { tail, terrain } = await labelTerrain(smallTail(), run);
  const crowns = await canopy("0badcafe", terrain, run, 0);
  expect(service.calls).toEqual([]);
  expect(tail).toEqual(smallTail());
  expect(terrainSummary(terrain, crowns)).toEqual({
    noise: { done: false, asked: false, reason: "left out (--no-denoise)" },
    left_out_as_noise: 0,
    ground: { done: false, asked: false, reason: "left out (--no-ground)" },
    dtm: { done: false, asked: false, reason: "left out (--no-dem)" },
    dsm: { done: false, asked: false, reason: "left out (--no-dem)" },
    chm: { done: false, asked: false, reason: "left out (--no-dem)" },
    warnings: [],
  });
});

test("a refusal by the service becomes the outcome of the step, and dependent steps are left out", async () => {
  const { service, with: run } = steps({});
  const { terrain } = await labelTerrain(smallTail(), run);
  expect(terrain).toMatchObject({
    noise: { done: false, asked: true, reason: expect.stringContaining("1000 points") },
    ground: { done: false, reason: "no ground in this fixture" },
    dtm: { done: false, reason: "the ground is not known" },
  });
  expect(service.calls).toEqual(["denoiseSession", "segmentGroundSession"]);
});

test("with --no-ground the terrain finds its own ground; a failure there becomes its outcome", async () => {
  const { service, with: run } = steps({}, { denoise: false, ground: false });
  const { terrain } = await labelTerrain(smallTail(), run);
  expect(terrain.dtm).toMatchObject({ done: false, reason: "no terrain in this fixture" });
  expect(service.calls).toEqual(["sessionDem"]);
});

test.each([
  [2, 50],
  [49, 9951],
])("%i ground points beside %i plants give no terrain; the labels get an octree", async (num_ground, num_plant) => {
  const segmentGroundSession = async () => ({ ...GROUND, num_ground, num_plant });
  const { service, with: run } = steps({ segmentGroundSession, denoiseSession: async () => NOISE });
  const { terrain } = await labelTerrain(smallTail(), run);
  expect(terrain.dtm).toMatchObject({ done: false, reason: expect.stringContaining("are too few for a terrain") });
  expect(terrain.warnings).toEqual(["first"]);
  expect(service.calls).toEqual(["rebuildOctree"]);
});

test.each([
  [2, true, [0, 0, 6, 1]],
  [60, false, [smallTail().tight_bounds?.min[0], 0, smallTail().tight_bounds?.max[0], 1]],
])("%i of 100 points are noise: left out of ground and rasters, %j", async (flagged, skip_noise, bbox) => {
  const denoiseSession = vi.fn(async () => ({ ...NOISE, flagged, kept: 100 - flagged }));
  const segmentGroundSession = vi.fn(async () => GROUND);
  const sessionDem = vi.fn(async () => {
    throw new ApiError(200, "invalid_argument", "none", undefined);
  });
  const { service, with: run } = steps({ denoiseSession, segmentGroundSession, sessionDem });
  const { terrain } = await labelTerrain(smallTail(), run);
  expect(denoiseSession.mock.calls).toEqual([["0badcafe", { method: "auto", defer_octree: true }, expect.anything()]]);
  expect(terrain.noise).toMatchObject({ flagged });
  expect(terrain.left_out_as_noise).toBe(skip_noise ? 5 : null);
  expect(terrain.noise).not.toHaveProperty("kept_bounds");
  await canopy("0badcafe", { ...terrain, dtm: { done: true } as never }, run, 0);
  expect(service.calls).not.toContain("filter");
  const asked = [...segmentGroundSession.mock.calls, ...sessionDem.mock.calls] as unknown as [string, object][];
  expect(asked.map(([, request]) => request)).toEqual([
    expect.objectContaining({ method: "auto", skip_noise }),
    ...["dtm", "dsm", "chm"].map((surface_type) =>
      expect.objectContaining({ surface_type, skip_noise, cell_size: 1, bbox }),
    ),
  ]);
});

const tooFew = async () => {
  throw new ApiError(400, "invalid_argument", "Need at least 1000 points", undefined);
};

test.each([
  ["--no-denoise", { denoise: false }, {}],
  ["too few points to look for noise", {}, { denoiseSession: tooFew }],
])("%s: what the file names as noise is left out all the same, and its place", async (_why, options, client) => {
  const segmentGroundSession = vi.fn(async () => GROUND);
  const sessionDem = vi.fn(tooFew);
  const { with: run } = steps({ ...client, segmentGroundSession, sessionDem }, options);
  const { terrain } = await labelTerrain(smallTail(), run);
  const asked = [...segmentGroundSession.mock.calls, ...sessionDem.mock.calls] as unknown as [string, object][];
  expect(asked.map(([, request]) => request)).toEqual([
    expect.objectContaining({ method: "auto", skip_noise: true }),
    expect.objectContaining({ surface_type: "dtm", skip_noise: true, bbox: [0, 0, 6, 1] }),
  ]);
  expect(terrain.left_out_as_noise).toBe(5);
  expect(terrain.ground).not.toHaveProperty("noise_count");
});

const PLOT: Scene = { kind: "plot", asked: true, reason: "--scene" };

test.each([
  [2, 5, ["Noise by the file's classes", "3, left out as well"]],
  [2, 2, undefined],
  [60, null, ["Ground and surfaces", "from all points: a scanner makes less noise"]],
] as const)("%i points labelled, %j left out: the row %j", async (flagged, left_out_as_noise, row) => {
  const { with: run } = steps({ denoiseSession: async () => ({ ...NOISE, flagged, kept: 100 - flagged }) });
  const { terrain } = await labelTerrain(smallTail(), run);
  const none = { done: false, asked: false, reason: "" } as const;
  const facts = terrainFacts({ ...terrain, left_out_as_noise, dtm: none, dsm: none, chm: none }, PLOT);
  expect(facts.filter(([name]) => /classes|surfaces/.test(name))).toEqual(row ? [row] : []);
});

test.each([
  [100, 34, true],
  [100, 30, false],
])("of %i cells of the surface %i are interpolated: a warning, %j", async (cells, interpolated_cells, said) => {
  const { with: run } = steps({ denoiseSession: async () => NOISE });
  const { terrain } = await labelTerrain(smallTail(), run);
  const made = {
    ...{ done: true as const, cell_m: 1, void_cells: 0, interpolated_cells, range: null, ground_source: null },
    ...{ cells: [10, cells / 10] as const, grid: {} as never, warnings: [] },
  };
  const { warnings } = terrainSummary(terrain, { dsm: made, chm: { ...made, interpolated_cells: null } });
  expect(warnings.filter((text) => /34 % of the cells.*interpolated across gaps/.test(text))).toHaveLength(
    said ? 1 : 0,
  );
});

test("every other failure fails the run", async () => {
  const denoiseSession = async () => {
    throw new ApiError(503, "out_of_memory", "no memory", undefined);
  };
  await expect(labelTerrain(smallTail(), steps({ denoiseSession }).with)).rejects.toThrow("no memory");
});

test.each(["tree", "object"] as const)("the scene %s has noise, and neither ground nor heights", async (kind) => {
  const { service, with: run } = steps({ denoiseSession: async () => NOISE }, {}, kind);
  const { terrain } = await labelTerrain(smallTail(), run);
  const crowns = await canopy("0badcafe", terrain, run, 0);
  const none = { done: false, asked: false, reason: expect.stringContaining("no land") };
  expect(terrainSummary(terrain, crowns)).toMatchObject({
    noise: { done: true },
    ...{ ground: none, dtm: none, dsm: none, chm: none },
  });
  expect(service.calls).toEqual(["rebuildOctree"]);
});
