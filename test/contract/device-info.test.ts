import { expect, test } from "vitest";
import { describeDevice, deviceInfo } from "../../backend/services/run/device.ts";
import { DeviceInfo } from "../../shared/contract/device-info.ts";
import { baseAppOfTest } from "../support/app/base-app.ts";

test("/api/device-info returns what the native layer found", async () => {
  const found: DeviceInfo = {
    gpu_present: true,
    gpu_count: 2,
    gpu_name: "Test GPU",
    driver_version: "999.1",
    effective_path: "gpu",
    reason: "GPU acceleration is active",
  };
  const made = await baseAppOfTest({ deps: { deviceInfo: async () => found } });
  const answer = await made.app.inject({ url: "/api/device-info" });
  expect([answer.statusCode, answer.json()]).toEqual([200, found]);
});

test("a failing probe counts as no GPU, with the reason, and is not an error", async () => {
  const made = await baseAppOfTest({ deps: { deviceInfo: () => Promise.reject(new Error("driver too old")) } });
  const answer = await made.app.inject({ url: "/api/device-info" });
  expect([answer.statusCode, answer.json()]).toEqual([
    200,
    {
      gpu_present: false,
      gpu_count: 0,
      gpu_name: null,
      driver_version: null,
      effective_path: "cpu",
      reason: "No compatible GPU was found (the probe failed: driver too old); the CPU is used.",
    },
  ]);
});

test("a probe that hangs is stopped, one that throws is handled", async () => {
  expect(await deviceInfo(() => new Promise(() => undefined), 10)).toMatchObject({
    effective_path: "cpu",
    reason: expect.stringContaining("no answer within 0.01 s"),
  });
  const broken = () => {
    throw new Error("no module");
  };
  expect((await deviceInfo(broken, 10)).reason).toContain("no module");
});

test("omitted fields have the defaults of the contract", () => {
  expect(DeviceInfo.parse({})).toEqual({
    gpu_present: false,
    gpu_count: 0,
    gpu_name: null,
    driver_version: null,
    effective_path: "cpu",
    reason: "",
  });
});

test("the effective path and its reason", () => {
  const gpu = { gpu_count: 1, gpu_name: "Test GPU", driver_version: "999.1", reason: "" };
  const none = { gpu_count: 0, gpu_name: null, driver_version: null, reason: "no driver" };
  const path = (...args: Parameters<typeof describeDevice>) => {
    const { gpu_present, effective_path, reason } = DeviceInfo.strict().parse(describeDevice(...args));
    return [gpu_present, effective_path, reason];
  };
  expect(path(gpu, "auto", "linux")).toEqual([true, "gpu", "GPU acceleration is active on Test GPU."]);
  expect(path(gpu, "cpu", "linux")).toEqual([true, "cpu", expect.stringContaining("APP_DEVICE=cpu")]);
  expect(path(gpu, "auto", "darwin")).toEqual([true, "cpu", expect.stringContaining("macOS")]);
  expect(path(none, "auto", "win32")).toEqual([
    false,
    "cpu",
    "No compatible GPU was found (no driver); the CPU is used.",
  ]);
});
