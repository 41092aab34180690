import { CancelParams, CancelResponse } from "../../shared/contract/cancel.ts";
import type { App, BaseDeps } from "../http/types.ts";

export function cancelRoutes(app: App, { jobs }: BaseDeps): void {
  app.post(
    "/api/cancel/:run_id",
    { schema: { summary: "Cancel a run", params: CancelParams, response: { 200: CancelResponse } } },
    async ({ params: { run_id } }) => ({ canceled: jobs.cancel(run_id), run_id }),
  );
}
