import type { FastifyReply } from "fastify";
import type { Job } from "../jobs/job.ts";
import type { JobRegistry } from "../jobs/registry.ts";
import { withoutPaths } from "./private-paths.ts";

/** Starts a run that answers with plain JSON. The client gets no run id, so it cancels the run by disconnecting. */
export async function runJson<T>(reply: FastifyReply, jobs: JobRegistry, body: (job: Job) => Promise<T>): Promise<T> {
  let hangUp: () => void = () => undefined;
  const onStart = (job: Job) => {
    hangUp = () => job.cancel();
    if (reply.raw.destroyed) job.cancel();
    reply.raw.once("close", hangUp);
  };
  const label = `${reply.request.method} ${reply.request.routeOptions.url ?? ""}`;
  try {
    return await jobs.run(body, { label, onStart, shown: withoutPaths(reply.request) });
  } finally {
    reply.raw.off("close", hangUp);
  }
}
