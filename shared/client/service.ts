import { CancelResponse } from "../contract/cancel.ts";
import { DeviceInfo } from "../contract/device-info.ts";
import { HealthResponse, RootResponse, VersionResponse } from "../contract/health.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import type { Calls } from "./calls.ts";
import type { CallOptions } from "./transport.ts";

/** Calls about the service itself. */
export const serviceClient = (calls: Calls) => ({
  root: (call?: CallOptions) => calls.get(RootResponse, "/", CLIENT_TIMEOUT_MS.quick, call),
  health: (call?: CallOptions) => calls.get(HealthResponse, "/health", CLIENT_TIMEOUT_MS.quick, call),
  version: (call?: CallOptions) => calls.get(VersionResponse, "/version", CLIENT_TIMEOUT_MS.version, call),
  deviceInfo: (call?: CallOptions) => calls.get(DeviceInfo, "/api/device-info", CLIENT_TIMEOUT_MS.quick, call),
  cancel: (runId: string, call?: CallOptions) =>
    calls.post(CancelResponse, `/api/cancel/${encodeURIComponent(runId)}`, undefined, CLIENT_TIMEOUT_MS.quick, call),
});
