import { dirname } from "node:path";
import { addonAs, addonPath } from "./load.ts";

const addon = addonAs<DeviceNative>();

export interface NativeDeviceInfo {
  readonly gpu_count: number;
  readonly gpu_name: string | null;
  readonly driver_version: string | null;
  /** Why there is no usable GPU; empty if there is one. */
  readonly reason: string;
}
export interface DeviceNative {
  /** Loads pc_cuda from a folder and probes it; never throws for a missing GPU. */
  probeDevice(folder: string): NativeJobOfDevice;
}
interface NativeJobOfDevice {
  readonly promise: Promise<NativeDeviceInfo>;
}

/** Runtime probe for a usable NVIDIA GPU. */
export const probeDevice = (): Promise<NativeDeviceInfo> => addon.probeDevice(dirname(addonPath())).promise;
