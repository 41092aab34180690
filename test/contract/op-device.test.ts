import { expect, test } from "vitest";
import { DeviceInfo } from "../../shared/contract/device-info.ts";
import { EXPECTED, NOISY } from "../support/scans/noisy-cloud.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ config: { device: "cpu" } });

/** The answer of a service that found a GPU which then is not there. */
async function withLostGpu(url: string, payload: object): Promise<{ labels: number[]; warnings: string[] }> {
  const { deviceInfo } = made.deps;
  const lost = async () => DeviceInfo.parse({ gpu_present: true, gpu_count: 1, effective_path: "gpu", reason: "here" });
  Object.assign(made.deps, { deviceInfo: lost });
  try {
    const response = await made.app.inject({ method: "POST", url, payload });
    expect(response.statusCode).toBe(200);
    return response.json();
  } finally {
    Object.assign(made.deps, { deviceInfo });
  }
}
const cpu = async (url: string, payload: object) =>
  (await made.app.inject({ method: "POST", url, payload })).json() as { labels: number[]; warnings: string[] };

test.each(["ror", "voxel_count", "sor"])(
  "%s requests the GPU if there is one, and reports why the CPU was used",
  async (method) => {
    const answer = await withLostGpu("/api/pointcloud/denoise", { points: NOISY, method });
    expect(answer.warnings.join()).toMatch(/Denoise ran on the CPU: /);
    expect(answer.warnings.join()).toMatch(/Point spacing ran on the CPU: /);
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
