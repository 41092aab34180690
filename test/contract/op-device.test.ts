import { expect, test } from "vitest";
import { DeviceInfo } from "../../shared/contract/device-info.ts";
import { IcpSuccess } from "../../shared/contract/icp.ts";
import { parallelBeams, UNIT_GRID } from "../support/lad/beams.ts";
import { ladCalls } from "../support/lad/calls.ts";
import { EXPECTED, NOISY } from "../support/scans/noisy-cloud.ts";
import { lidarScanned, SCANNER, wall } from "../support/session/lidar-scans.ts";
import { cubePoints } from "../support/session/registration.ts";
import { streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ config: { device: "cpu" } });

/** What a service does that found a GPU which then is not there. */
async function withoutItsGpu<T>(body: () => Promise<T>): Promise<T> {
  const { deviceInfo } = made.deps;
  const lost = async () => DeviceInfo.parse({ gpu_present: true, gpu_count: 1, effective_path: "gpu", reason: "here" });
  Object.assign(made.deps, { deviceInfo: lost });
  try {
    return await body();
  } finally {
    Object.assign(made.deps, { deviceInfo });
  }
}
const withLostGpu = (url: string, payload: object) =>
  withoutItsGpu(async () => {
    const response = await made.app.inject({ method: "POST", url, payload });
    expect(response.statusCode).toBe(200);
    return response.json() as { labels: number[]; warnings: string[] };
  });
const cpu = async (url: string, payload: object) =>
  (await made.app.inject({ method: "POST", url, payload })).json() as { labels: number[]; warnings: string[] };

test.each(["ror", "voxel_count", "sor"])(
  "%s requests the GPU if there is one, and reports why the CPU was used",
  async (method) => {
    const answer = await withLostGpu("/api/pointcloud/denoise", { points: NOISY, method });
    expect(answer.warnings.join()).toMatch(/Denoise ran on the CPU: /);
    const plain = await cpu("/api/pointcloud/denoise", { points: NOISY, method });
    expect(plain.warnings.join()).not.toMatch(/CPU/);
    expect(answer.labels).toEqual(plain.labels);
    if (method === "ror") expect(answer.labels).toEqual(EXPECTED);
  },
);

test("the cloth simulation does the same", async () => {
  const answer = await withLostGpu("/api/segment/ground", { points: NOISY, method: "cloth" });
  expect(answer.warnings.join()).toMatch(/ran on the CPU: /);
  const plain = await cpu("/api/segment/ground", { points: NOISY, method: "cloth" });
  expect(plain.warnings.join()).not.toMatch(/CPU/);
  expect(answer.labels).toEqual(plain.labels);
});

test("so does a registration, once for all its batches", async () => {
  const payload = { target_points: cubePoints(8), source_points: cubePoints(8, [0.4, -0.25, 0.15]) };
  const register = async () => (await streamed(made, IcpSuccess, "/api/c2c/icp-register", payload)).tail;
  const lost = await withoutItsGpu(register);
  expect(lost.warnings?.filter((warning) => /^Registration ran on the CPU: /.test(warning))).toHaveLength(1);
  const plain = await register();
  expect(plain.warnings?.join() ?? "").not.toMatch(/CPU/);
  expect(lost.transformation_matrix).toEqual(plain.transformation_matrix);
});

test("so does a scan", async () => {
  const payload = { meshes: [wall(5, 3)], scanners: [SCANNER], rays_per_pulse: 1 };
  const lost = await withoutItsGpu(() => lidarScanned(made, payload));
  expect(lost.meta.warnings?.join()).toMatch(/The scan ran on the CPU: /);
  const plain = await lidarScanned(made, payload);
  expect(plain.meta.warnings?.join() ?? "").not.toMatch(/CPU/);
  expect(lost.names).toEqual(plain.names);
  const positions = "s0.points";
  expect(plain.f32(positions)).toHaveLength(3 * 81);
  expect(lost.f32(positions)).toEqual(plain.f32(positions));
});

test("so does the leaf area, once for all its passes", async () => {
  const { compute } = ladCalls(made);
  const payload = {
    scans: [parallelBeams(1, 20, (i) => (i % 3 === 0 ? 0.2 : null))],
    grid: UNIT_GRID,
    gtheta_spec: { spatial: "constant", spec: { kind: "dewit", dewit: "planophile" } },
    gtheta_per_beam: true,
    check_clumping: true,
  };
  const lost = await withoutItsGpu(() => compute(payload));
  expect(lost.warnings.filter((warning) => /^Tracing beams ran on the CPU: /.test(warning))).toHaveLength(1);
  const plain = await compute(payload);
  expect(plain.warnings.join()).not.toMatch(/CPU/);
  expect(plain.total_leaf_area).toBeGreaterThan(0);
  expect(lost.cells).toEqual(plain.cells);
});
