import { DeviceInfo } from "../../../shared/contract/device-info.ts";
import { DEVICE_PROBE_TIMEOUT_MS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { OpOptions } from "../../native/cloud/cloud.ts";

/** Runs the probe with a time limit. If it fails or hangs, reports no GPU and the cause in `reason`. Never rejects. */
export async function deviceInfo(
  probe: () => Promise<DeviceInfo>,
  timeoutMs = DEVICE_PROBE_TIMEOUT_MS,
): Promise<DeviceInfo> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([probe(), late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return DeviceInfo.parse({ reason: `No compatible GPU was found (the probe failed: ${why}); the CPU is used.` });
  } finally {
    clearTimeout(timer);
  }
}

/** Result of the native run-time probe. */
export interface FoundDevice {
  readonly gpu_count: number;
  readonly gpu_name: string | null;
  readonly driver_version: string | null;
  /** Why there is no usable GPU; empty if there is one. */
  readonly reason: string;
}

/**
 * Where computations run: on the GPU if one is usable, the host is not a Mac and APP_DEVICE is not cpu. `reason` is a
 * sentence for the user, never empty.
 */
export function describeDevice(
  found: FoundDevice,
  setting: "cpu" | "auto",
  platform: NodeJS.Platform = process.platform,
): DeviceInfo {
  const gpu_present = found.gpu_count > 0;
  const base = {
    gpu_present,
    gpu_count: found.gpu_count,
    gpu_name: gpu_present ? found.gpu_name : null,
    driver_version: found.driver_version,
  };
  if (platform === "darwin") {
    return {
      ...base,
      effective_path: "cpu",
      reason: "On macOS computations run on the CPU: Apple hardware has no CUDA.",
    };
  }
  if (!gpu_present) {
    const why = found.reason === "" ? "" : ` (${found.reason})`;
    return { ...base, effective_path: "cpu", reason: `No compatible GPU was found${why}; the CPU is used.` };
  }
  const name = found.gpu_name ?? "an NVIDIA GPU";
  if (setting === "cpu") {
    return {
      ...base,
      effective_path: "cpu",
      reason: `${name} is available, but APP_DEVICE=cpu keeps computations on the CPU.`,
    };
  }
  return { ...base, effective_path: "gpu", reason: `GPU acceleration is active on ${name}.` };
}

/**
 * Device for an op with a CUDA twin: the one that /api/device-info reports. An op that cannot use the GPU runs on the
 * CPU and gives the cause in its `warnings`.
 */
export async function opDevice({ deviceInfo }: Pick<Deps, "deviceInfo">): Promise<OpOptions> {
  return { device: (await deviceInfo()).effective_path === "gpu" ? "cuda" : "cpu" };
}
