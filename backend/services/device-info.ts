import { DeviceInfo } from "../../shared/contract/device-info.ts";
import { DEVICE_PROBE_TIMEOUT_MS } from "../../shared/limits.ts";

/** Runs the probe with a time limit. A probe that fails or hangs means no GPU; the reason says so. Never rejects. */
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
