import { z } from "zod";
import { errorCodes } from "../errors.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { ApiError } from "./errors.ts";
import { listBody } from "./list-request.ts";
import { type CallOptions, type ClientOptions, type RunOptions, Transport } from "./transport.ts";

export type Input<S extends z.ZodType> = z.input<S>;

/**
 * Calls for plain JSON, runs that end in JSON and runs that end in a frame. Checks every response against its schema.
 */
export function makeCalls(options: ClientOptions) {
  const transport = new Transport(options);
  const get = async <S extends z.ZodType>(schema: S, path: string, timeoutMs: number, call?: CallOptions) =>
    checked(schema, await transport.json({ method: "GET", path, timeoutMs }, call));
  const post = async <S extends z.ZodType>(
    schema: S,
    path: string,
    json: unknown,
    timeoutMs: number,
    call?: CallOptions,
  ) => checked(schema, await transport.json({ method: "POST", path, json, timeoutMs }, call));
  /** A request with lists: JSON, or a frame if it has typed arrays. */
  const postLists = async <S extends z.ZodType>(
    schema: S,
    path: string,
    request: object,
    timeoutMs: number,
    call?: CallOptions,
  ) => checked(schema, await transport.json({ method: "POST", path, ...listBody(request), timeoutMs }, call));
  const runJson = async <S extends z.ZodType>(
    schema: S,
    path: string,
    json: object,
    timeoutMs: number,
    run?: RunOptions,
  ) => {
    const outcome = await transport.run({ method: "POST", path, ...listBody(json), timeoutMs }, run);
    if (outcome.kind !== "json")
      throw new ApiError(200, "internal", `${path} answered with a ${outcome.kind}, not JSON`, undefined);
    return checked(schema, outcome.value);
  };
  const runFrame = async <S extends z.ZodType>(schema: S, path: string, json: object, run?: RunOptions) => {
    const timeoutMs = CLIENT_TIMEOUT_MS.heavy;
    const headers = { accept: "application/octet-stream" };
    const outcome = await transport.run({ method: "POST", path, ...listBody(json), headers, timeoutMs }, run);
    if (outcome.kind !== "frame")
      throw new ApiError(200, "internal", `${path} answered with ${outcome.kind}, not a frame`, undefined);
    const failed = FrameFailure.safeParse(outcome.frame.meta); // a frame reports failures in its meta
    if (failed.success) throw new ApiError(200, failed.data.code, failed.data.error, undefined);
    return { meta: checked(schema, outcome.frame.meta), buffers: outcome.frame.buffers };
  };
  /** A run that is reported as Server-Sent Events. */
  const runEvents = async <S extends z.ZodType>(schema: S, path: string, json: object, run?: RunOptions) =>
    checked(schema, await transport.events({ method: "POST", path, json, timeoutMs: CLIENT_TIMEOUT_MS.heavy }, run));
  return { transport, get, post, postLists, runJson, runFrame, runEvents };
}
export type Calls = ReturnType<typeof makeCalls>;

/** What the meta of every frame that reports a failure has. */
const FrameFailure = z.object({ success: z.literal(false), error: z.string(), code: z.enum(errorCodes) });

/** URL path of a session, or of an action on it. */
export function sessionPath(id: string, action?: string): string {
  const path = `/api/cloud/session/${encodeURIComponent(id)}`;
  return action === undefined ? path : `${path}/${action}`;
}

/** Parses a response with its schema, so that a wrong response fails here and not later as a wrong value. */
export function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const { path, message } = result.error.issues[0] ?? { path: [], message: "no issue" };
  throw new ApiError(
    200,
    "internal",
    `the answer breaks its contract at ${path.join(".") || "its root"}: ${message}`,
    value,
  );
}
