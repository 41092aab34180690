import type { Deps } from "../../deps.ts";
import type { OpOptions } from "../../native/cloud/cloud.ts";

/**
 * Where an op with a CUDA twin runs: on the GPU when /api/device-info says so. An op that then cannot use it runs on the
 * CPU and says why in its `warnings`.
 */
export async function opDevice({ deviceInfo }: Pick<Deps, "deviceInfo">): Promise<OpOptions> {
  return { device: (await deviceInfo()).effective_path === "gpu" ? "cuda" : "cpu" };
}
