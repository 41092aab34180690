import { SessionsResponse } from "../../../shared/contract/cloud-session/sessions.ts";
import type { Deps } from "../../deps.ts";
import type { App } from "../../http/types.ts";

export function sessionsRoutes(app: App, { sessions }: Deps): void {
  app.get(
    "/api/cloud/sessions",
    {
      schema: {
        operationId: "listSessions",
        summary: "List the cloud sessions, also those that are damaged or cannot be changed",
        tags: ["cloud sessions"],
        response: { 200: SessionsResponse },
      },
    },
    async () => ({ sessions: await sessions.summaries() }),
  );
}
