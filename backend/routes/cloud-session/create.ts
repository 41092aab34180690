import { CreateSessionRequest, CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { Deps } from "../../deps.ts";
import { NO_FILE, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { createCloudSession } from "../../services/cloud/import/import.ts";
import { checkCreateRequest } from "../../services/cloud/import/request.ts";

const UNKNOWN_UNIT: ProblemExample = {
  code: "invalid_argument",
  detail: 'source_units "inch" is not one of m, km, cm, mm, ft, ftUS, in',
};

export function createRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/create",
    {
      schema: {
        operationId: "createSession",
        summary: "Read a file into a new cloud session",
        tags: ["cloud sessions"],
        body: CreateSessionRequest,
      },
      config: { problems: [NO_FILE, UNKNOWN_UNIT, NO_SPACE], tail: CreateSessionTail },
    },
    async ({ body, unknownKeys }, reply) => {
      const request = await checkCreateRequest(body, unknownKeys); // 404 and 400 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => createCloudSession(request, deps, job));
    },
  );
}
