import { DeviceInfo } from "../../shared/contract/device-info.ts";
import type { App, BaseDeps } from "../http/types.ts";
import { deviceInfo } from "../services/run/device.ts";

export function deviceInfoRoutes(app: App, deps: BaseDeps): void {
  app.get(
    "/api/device-info",
    {
      schema: {
        operationId: "deviceInfo",
        tags: ["service"],
        summary: "Report which device computations use, and why",
        response: { 200: DeviceInfo },
      },
    },
    () => deviceInfo(deps.deviceInfo),
  );
}
