import { CloseSessionResponse, SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import { SESSION_TAKEN } from "../../http/problems.ts";
import type { App } from "../../http/types.ts";
import { closeCloud } from "../../services/cloud/close.ts";

export function closeRoutes(app: App, deps: Deps): void {
  app.delete(
    "/api/cloud/session/:id",
    {
      schema: {
        operationId: "closeSession",
        summary: "Close a cloud session and free its memory, its files and its octrees",
        tags: ["cloud sessions"],
        params: SessionParams,
        response: { 200: CloseSessionResponse },
      },
      config: { problems: [SESSION_TAKEN] },
    },
    ({ params }) => closeCloud(params.id, deps),
  );
}
