import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { create, scanFile } from "../support/app/app.ts";
import { stopwatch } from "../support/run/stopwatch.ts";
import { sessionTest } from "../support/session/session-test.ts";

/*
 * Every long run on clouds of shapes that are hard for one op or another, canceled at five moments of its run: it ends
 * within 250 ms, what the machine adds left out.
 */

const CANCEL_MS = 250;
const POINTS = Number(process.env.APP_TEST_POINTS ?? 200_000);
/** Parts of the names of the runs to try, separated by commas; none: all. */
const ONLY = (process.env.APP_TEST_CANCEL_OF ?? "").split(",");
const REPORT = process.env.APP_TEST_CANCEL_REPORT;
/** A run is canceled at these parts of the time it takes; one that takes longer than MOST_MS counts as taking that. */
const MOMENTS = [0.02, 0.2, 0.45, 0.7, 0.93];
const MOST_MS = 20_000;
const made = sessionTest({ listening: true, config: { costWarningS: 1e9 } });

const random = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
};
type Place = readonly [number, number, number];
const unit = random(7);
/** Places by the number of the point. */
const SHAPES: Readonly<Record<string, (i: number) => Place>> = {
  volume: () => [40 * unit(), 40 * unit(), 20 * unit()],
  line: (i) => [i * 0.001, 0, 0],
  upright: (i) => [0, 0, i * 0.0001],
  lattice: (i) => [(i % 447) * 0.05, Math.floor(i / 447) * 0.05, 0],
  one_place: () => [1, 2, 3],
  far_apart: (i) => [(i % 2) * 1e7 + unit(), unit(), unit()],
  ball_and_outliers: (i) => (i % 50 === 0 ? [1e4 * unit(), 1e4 * unit(), 1e3 * unit()] : [unit(), unit(), unit()]),
  slope: (i) => [(i % 500) * 0.1, Math.floor(i / 500) * 0.1, (i % 500) * 0.15 + 0.01 * unit()],
};

/** Columns that ops ask for: 1 ground below, trees of 2,000 points, wood. */
function rowsOf(shape: (i: number) => Place, trees: number): string[] {
  const rows = Array.from({ length: POINTS }, (_, i) => {
    const place = shape(i);
    return [
      ...place.map((value) => value.toFixed(4)),
      i % 4 === 0 ? 1 : 2,
      1 + (i % trees),
      place[2].toFixed(3),
      i % 3 === 0 ? 2 : 1,
      i,
    ].join(" ");
  });
  return ["x y z ground_class tree_instance height_above_ground wood_class timestamp", ...rows];
}

const mesh = {
  mesh_vertices: Array.from({ length: 3 * 4000 }, (_, i) => (i % 3 === 2 ? 0.1 : 1) * ((i * 7919) % 400) * 0.1),
  mesh_indices: Array.from({ length: 3 * 8000 }, (_, i) => (i * 104729) % 4000),
};
const TURN = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const grid = { center: [20, 20, 10], size: [40, 40, 20], nx: 20, ny: 20, nz: 10 };
const scan = (session_id: string) => ({
  session_id,
  origin: [20, 20, 2],
  n_theta: 200,
  n_phi: 900,
  theta_min: 30,
  theta_max: 130,
  phi_min: 0,
  phi_max: 360,
});
const HALF = { kind: "box", min: [-1e9, -1e9, -1e9], max: [1e9, 20, 1e9] };

/** Every long run; {id} is the session. */
const RUNS: readonly (readonly [name: string, path: string, body: (id: string) => object])[] = [
  ...["ror", "sor", "voxel_count", "auto"].map(
    (method) => [`denoise ${method}`, "/api/cloud/session/{id}/denoise", () => ({ method })] as const,
  ),
  ...["cloth", "smrf", "auto"].map(
    (method) => [`ground ${method}`, "/api/cloud/session/{id}/segment_ground", () => ({ method })] as const,
  ),
  ...["chm", "default", "auto"].map(
    (method) =>
      [`trees ${method}`, "/api/cloud/session/{id}/segment_trees", () => ({ method, acknowledge_cost: true })] as const,
  ),
  ...["sota", "connectivity", "geometric"].map(
    (method) => [`wood ${method}`, "/api/cloud/session/{id}/segment_wood", () => ({ method })] as const,
  ),
  ["stems", "/api/cloud/session/{id}/detect_stems", () => ({})],
  ["inventory", "/api/cloud/session/{id}/tree_inventory", () => ({})],
  ["qsms", "/api/cloud/session/{id}/tree_qsm", () => ({ acknowledge_cost: true })],
  ...["dtm", "dsm", "chm"].map(
    (surface_type) =>
      [`dem ${surface_type}`, "/api/cloud/session/{id}/dem", () => ({ surface_type, cell_size: 0.25 })] as const,
  ),
  ["transform", "/api/cloud/session/{id}/transform", () => ({ matrix: TURN })],
  ["rebuild", "/api/cloud/session/{id}/rebuild_octree", () => ({})],
  ["extract column", "/api/cloud/session/{id}/extract_by_column", () => ({ slug: "tree_instance" })],
  ["split", "/api/cloud/session/{id}/split", () => ({ region: HALF })],
  ["bake", "/api/cloud/session/{id}/bake", () => ({})],
  ["backfill", "/api/cloud/session/{id}/backfill-misses", () => ({ origin: [20, 20, 2], n_theta: 400, n_phi: 1000 })],
  ...["delaunay", "ball_pivoting", "poisson", "alpha_shape"].map(
    (method) =>
      [`mesh ${method}`, "/api/triangulate", (id: string) => ({ source: { session_id: id }, method })] as const,
  ),
  ["mesh lidar", "/api/triangulate/lidar", (id) => ({ scans: [scan(id)] })],
  ["spacing", "/api/triangulate/check-spacing", (id) => ({ scans: [scan(id)] })],
  ["skeleton", "/api/skeleton/extract", (id) => ({ source: { session_id: id }, acknowledge_cost: true })],
  ["qsm", "/api/qsm/build", (id) => ({ source: { session_id: id }, acknowledge_cost: true })],
  ...["ellipsoid", "prism", "cone", "alpha"].map(
    (shape) => [`crown ${shape}`, "/api/fit/crown", (id: string) => ({ source: { session_id: id }, shape })] as const,
  ),
  ["c2m", "/api/c2m/distance", (id) => ({ source: { session_id: id }, ...mesh })],
  ["icp mesh", "/api/c2m/icp-register", (id) => ({ source: { session_id: id }, ...mesh })],
  [
    "icp clouds",
    "/api/c2c/icp-register",
    (id) => ({ source_source: { session_id: id }, target_source: { session_id: id } }),
  ],
  ["lad", "/api/lad/compute", (id) => ({ scans: [scan(id)], grid, gtheta_override: true, gtheta: 0.5 })],
  ...["laz", "e57", "ply", "txt", "ptx", "xyz"].map(
    (format) =>
      [`export ${format}`, "/api/pointcloud/export", (id: string) => ({ source: { session_id: id }, format })] as const,
  ),
];

const note = (line: string) => {
  if (REPORT) appendFileSync(REPORT, `${line}\n`);
};

/** Starts a run, cancels it after `after_ms` if it still runs, and tells how long it took to end. */
async function canceled(path: string, body: object, after_ms: number) {
  let status = 0;
  let text = "";
  const began = performance.now();
  let over = false;
  const answer = fetch(made.base + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
    .then(async (reply) => {
      status = reply.status;
      text = Buffer.from(await reply.arrayBuffer()).toString("latin1");
    })
    .finally(() => {
      over = true;
    });
  while (!over && performance.now() - began < after_ms) await new Promise((resolve) => setTimeout(resolve, 5));
  const ran_ms = performance.now() - began;
  const running = made.deps.jobs.size > 0 && !over;
  const stop = stopwatch();
  if (running) made.deps.jobs.cancelAll();
  await answer;
  await made.deps.jobs.idle();
  return { running, ran_ms, times: stop(), status, text };
}

test.each(Object.keys(SHAPES))("%s", { timeout: 7_200_000 }, async (shape) => {
  if (process.env.APP_TEST_SHAPE && process.env.APP_TEST_SHAPE !== shape) return;
  const slow: string[] = [];
  const file = scanFile(made, rowsOf(SHAPES[shape] as (i: number) => Place, 100));
  for (const [name, path, body] of RUNS) {
    if (!ONLY.some((part) => name.includes(part))) continue;
    const trial = async (after: number) => {
      const { session_id: id } = await create(made, file);
      const result = await canceled(path.replace("{id}", id), body(id), after);
      await made.deps.sessions.delete(id);
      return result;
    };
    const whole = await trial(MOST_MS);
    const error = /"(?:error|detail)":\s*("[^"]{1,140}|\[.{1,140})/.exec(whole.text)?.[1] ?? "";
    note(
      `${shape} ${name}: ${whole.status} ${Math.round(whole.ran_ms)} ms ${whole.running ? `canceled ${Math.round(whole.times.own_ms)} (${Math.round(whole.times.ms)}) ms` : error}`,
    );
    for (const moment of MOMENTS) {
      const { running, times, ran_ms } = await trial(Math.min(MOST_MS, whole.ran_ms) * moment);
      const line = `${shape} ${name} after ${Math.round(ran_ms)} ms: ${Math.round(times.own_ms)} of ${Math.round(times.ms)} ms`;
      if (running) note(line);
      if (running && times.own_ms > CANCEL_MS) {
        slow.push(line);
        note(`SLOW ${line}`);
      }
    }
  }
  expect(slow).toEqual([]);
});
