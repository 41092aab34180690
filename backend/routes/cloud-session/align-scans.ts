import { AlignScansRequest, AlignScansTail } from "../../../shared/contract/cloud-session/align-scans.ts";
import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";
import { alignScans } from "../../services/trees/align-scans.ts";

export function alignScansRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/align_scans",
    {
      schema: {
        operationId: "alignScans",
        summary: "Move the scans of a session, and the visits of a scanner that drifts, onto each other by its stems",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: AlignScansRequest,
      },
      config: { problems: [NO_SESSION, CLOUD_CHANGED, NO_SPACE], tail: AlignScansTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 here, before the stream opens
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await alignScans(session, body, deps, job), unknownKeys),
      );
    },
  );
}
