import { CloseSessionResponse, SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import type { App } from "../../http/types.ts";

export function closeRoutes(app: App, { sessions, octreeCache }: Deps): void {
  app.delete(
    "/api/cloud/session/:id",
    {
      schema: {
        operationId: "closeSession",
        summary: "Close a cloud session and free its memory and files",
        tags: ["cloud sessions"],
        params: SessionParams,
        response: { 200: CloseSessionResponse },
      },
    },
    async ({ params }) => {
      const deleted = await sessions.delete(params.id);
      await octreeCache.writePins();
      return { session_id: params.id, deleted };
    },
  );
}
