import { cpus } from "node:os";
import type { MlDevice } from "../../../shared/contract/ml.ts";
import type { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import { withNetwork } from "./network.ts";

/** One probe for each process: keyed by its configuration, which lives as long. */
const probed = new WeakMap<object, Promise<MlDevice>>();

type DeviceDeps = Pick<Deps, "config" | "deviceInfo">;

/**
 * Where networks run. Probed in a process of its own, once; again after a failure that may pass. Never rejects: what
 * fails is in `reason`.
 */
export function mlDevice(deps: DeviceDeps): Promise<MlDevice> {
  const known = probed.get(deps.config);
  if (known) return known;
  const found = probe(deps).catch((error: AppError): MlDevice => {
    if (error.code !== "unsupported") probed.delete(deps.config);
    return { ...onCpu(), runtime: null, reason: error.message };
  });
  probed.set(deps.config, found);
  return found;
}

function onCpu() {
  const device_name = (cpus()[0]?.model ?? "").trim() || `${process.arch} processor`;
  return { device: "cpu", device_name, vram_gb: null, torch: null, cuda: false, mps: false } as const;
}

async function probe({ config, deviceInfo }: DeviceDeps): Promise<MlDevice> {
  const found = await withNetwork(new AbortController().signal, (network) => network.probe(config.mlDevice));
  const { provider, version, failures } = found as { provider: string | null; version: string; failures: string[] };
  if (provider === null)
    return {
      ...onCpu(),
      runtime: null,
      reason: `Networks cannot run: no test computation ran (${failures.join("; ")}).`,
    };
  if (provider === "cuda") {
    const { gpu_name } = await deviceInfo();
    const reason = "Networks run on the GPU: a test computation with CUDA ran.";
    return { ...onCpu(), device: "cuda", device_name: gpu_name ?? "NVIDIA GPU", cuda: true, runtime: version, reason };
  }
  const why = config.mlDevice === "cpu" ? "APP_ML_DEVICE is cpu" : failures.join("; ");
  return { ...onCpu(), runtime: version, reason: `Networks run on the CPU (${why}).` };
}
