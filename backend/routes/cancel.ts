import { CancelParams, CancelResponse } from "../../shared/contract/cancel.ts";
import type { App, BaseDeps } from "../http/types.ts";

export function cancelRoutes(app: App, { jobs }: BaseDeps): void {
  app.post(
    "/api/cancel/:run_id",
    {
      schema: {
        operationId: "cancel",
        summary: "Cancel a run",
        tags: ["service"],
        params: CancelParams,
        response: { 200: CancelResponse },
      },
    },
    async ({ params: { run_id } }) => {
      const canceled = jobs.cancel(run_id);
      return { canceled, cancelled: canceled, run_id };
    },
  );
}
