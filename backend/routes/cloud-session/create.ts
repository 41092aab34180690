import { CreateSessionRequest, CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { Deps } from "../../deps.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { createCloudSession } from "../../services/cloud/import/import.ts";
import { checkCreateRequest } from "../../services/cloud/import/request.ts";

export function createRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/create",
    {
      schema: { summary: "Read a file into a new cloud session", tags: ["cloud session"], body: CreateSessionRequest },
      config: { tail: CreateSessionTail },
    },
    async ({ body, unknownKeys }, reply) => {
      const request = await checkCreateRequest(body, unknownKeys); // 404 and 400 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => createCloudSession(request, deps, job));
    },
  );
}
