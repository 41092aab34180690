import type { FastifyContextConfig, FastifySchema } from "fastify";
import type { z } from "zod";
import type { ProblemExample } from "../problems.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** JSON tail of a streamed run. Used for documentation only, because a stream has no response schema. */
    tail?: z.ZodType;
    /** JSON result of a run without a stream: the route itself answers, without a response schema. */
    answer?: z.ZodType;
    /** Events of a run that is sent as Server-Sent Events: one object with a field per event. */
    events?: z.ZodType;
    /** PHB1 frame at the end of a streamed run; beside `answer`: for "Accept: application/octet-stream". */
    frame?: z.ZodType;
    /** PHX1 stream that the route returns. */
    points?: z.ZodType;
    /** Multipart form that the route expects. */
    upload?: z.ZodType;
    /** The body is bytes, of any length up to MAX_UPLOAD_BYTES, which the route reads as they arrive; what they are. */
    rawBody?: string;
    /**
     * The JSON body may have MAX_LIST_BODY_BYTES: its lists and long texts are read into native columns, off the event
     * loop. true: the body may also be a PHB1 frame.
     */
    lists?: true | "json";
    /** With lists: largest JSON text besides them, bytes; absent = MAX_BODY_BYTES. It is parsed on the event loop. */
    restBytes?: number;
    /** One example of each error that the route itself reports. */
    problems?: readonly ProblemExample[];
    /** OpenAPI descriptions of responses that are files, by status. */
    responses?: Readonly<Record<string, object>>;
    /** Name of a computation for the sentence that says it was canceled; default: the run. */
    tool?: string;
  }
  interface FastifySchema {
    /** Stable name of the operation; clients name their methods after it. */
    operationId?: string;
    summary?: string;
    tags?: readonly string[];
    hide?: boolean;
  }
}

/** A route as registered with Fastify. */
export interface DocumentedRoute {
  readonly methods: readonly string[];
  readonly url: string;
  readonly schema: FastifySchema | undefined;
  readonly config: FastifyContextConfig;
}
