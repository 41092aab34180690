import type { FastifyContextConfig, FastifySchema } from "fastify";
import type { z } from "zod";
import type { ProblemExample } from "../problems.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a streamed run ends with; shown in the documentation, since a stream has no response schema. */
    tail?: z.ZodType;
    /** The PHB1 frame that a streamed run ends with. */
    frame?: z.ZodType;
    /** The PHX1 stream that the route answers with. */
    points?: z.ZodType;
    /** The multipart form that the route takes. */
    upload?: z.ZodType;
    /** What the route itself refuses a request with, an example each. */
    problems?: readonly ProblemExample[];
    /** Answers that are files, as the OpenAPI document shows them, by status. */
    responses?: Readonly<Record<string, object>>;
    /** Name of a long computation that answers 499 when it was canceled. */
    tool?: string;
  }
  interface FastifySchema {
    /** Stable name of the operation; the clients name their methods after it. */
    operationId?: string;
    summary?: string;
    tags?: readonly string[];
    hide?: boolean;
  }
}

/** A route as Fastify knows it. */
export interface DocumentedRoute {
  readonly methods: readonly string[];
  readonly url: string;
  readonly schema: FastifySchema | undefined;
  readonly config: FastifyContextConfig;
}
