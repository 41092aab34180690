import { createHash, timingSafeEqual } from "node:crypto";
import cors from "@fastify/cors";
import type { FastifyRequest } from "fastify";
import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import type { App } from "./types.ts";

/*
 * Any web page the user visits can send requests to 127.0.0.1. Every request therefore passes these checks, in order:
 *
 * check         passes when                                                       status otherwise
 * Host          a loopback name with our port (prevents DNS rebinding)            403
 * Origin        absent, a loopback page, app://localhost, file://, or configured  403
 * fetch site    not cross-site, or sent with an allowed Origin                    403
 * preflight     answered here for allowed origins, without a token
 * content type  JSON, octet-stream or multipart if there is a body (the types of  415
 *               HTML forms are rejected, because they need no preflight)
 * token         none is configured, or the Bearer token matches                   401
 *               (/health, /version and the files of /app need no token)
 */

const LOOPBACK_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;
const APP_ORIGINS: readonly string[] = ["app://localhost", "file://"];
const HOST = /^(localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?$/i;
const BODY_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/octet-stream",
  "multipart/form-data",
]);
/** Paths that need no token. */
export const OPEN_PATHS: ReadonlySet<string> = new Set(["/health", "/version"]);
/** The files of the window, which contain no data of the user. */
const PAGE_FILE = /^\/app(\/[^/]*)?$/;

/** Whether a request needs no token. */
function isOpen({ method, url }: Pick<FastifyRequest, "method" | "url">): boolean {
  const path = url.split("?", 1)[0] ?? "";
  return OPEN_PATHS.has(path) || ((method === "GET" || method === "HEAD") && PAGE_FILE.test(path));
}

export function originAllowed(origin: string, configured: readonly string[]): boolean {
  return LOOPBACK_ORIGIN.test(origin) || APP_ORIGINS.includes(origin) || configured.includes(origin);
}

/**
 * `port` undefined: unknown (there is no real socket), so any port is accepted. A Host without a port means port 80.
 */
export function hostAllowed(host: string | undefined, port: number | undefined): boolean {
  const match = HOST.exec(host ?? "");
  if (!match) return false;
  return port === undefined || Number(match[2] ?? 80) === port;
}

/** Installs the checks for every route. */
export async function installGuard(app: App, config: Config): Promise<void> {
  app.addHook("onRequest", async (request) => checkSource(request, config.allowedOrigins));
  app.addHook("onRequest", async (request, reply) => {
    // Chromium requires this header before a page from another address space may reach the loopback address.
    if (request.method === "OPTIONS" && request.headers["access-control-request-private-network"] === "true") {
      reply.header("access-control-allow-private-network", "true");
    }
  });
  await app.register(cors, {
    origin: (origin, done) => done(null, origin !== undefined && originAllowed(origin, config.allowedOrigins)),
    credentials: true,
    methods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: [
      "Accept-Ranges",
      "Content-Disposition",
      "Content-Length",
      "Content-Range",
      "X-Run-Id",
      "X-Warnings",
    ],
    maxAge: 600,
  });
  const matches = config.authToken === undefined ? undefined : tokenMatcher(config.authToken);
  app.addHook("onRequest", async (request, reply) => {
    checkContentType(request);
    if (!matches || isOpen(request)) return;
    if (matches(request.headers.authorization)) return;
    reply.header("www-authenticate", "Bearer");
    throw new AppError("unauthorized", "this service needs its access token (Authorization: Bearer ...)");
  });
}

function checkSource({ headers, raw }: FastifyRequest, configured: readonly string[]): void {
  if (!hostAllowed(headers.host, raw.socket?.localPort)) {
    throw new AppError(
      "forbidden",
      `the host ${headers.host ?? "(none)"} is not this service; use 127.0.0.1 and its port`,
    );
  }
  const { origin } = headers;
  if (origin !== undefined && !originAllowed(origin, configured)) {
    throw new AppError("forbidden", `pages of ${origin} may not use this service; APP_ALLOWED_ORIGINS adds origins`);
  }
  if (headers["sec-fetch-site"] === "cross-site" && origin === undefined) {
    throw new AppError("forbidden", "a page of another site may not use this service");
  }
}

/**
 * Treats a body without a content type as JSON, as the contract demands. That is safe: browsers send an Origin with
 * every POST, and it has been checked by then.
 */
function checkContentType({ headers, method }: FastifyRequest): void {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (!hasBody || method === "GET" || method === "HEAD" || method === "OPTIONS") return;
  const given = headers["content-type"]?.trim() ?? "";
  if (given === "") {
    headers["content-type"] = "application/json";
    return;
  }
  const type = given.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (!BODY_TYPES.has(type)) {
    throw Object.assign(new Error("unsupported media type"), {
      code: "FST_ERR_CTP_INVALID_MEDIA_TYPE",
      statusCode: 415,
    });
  }
}

/** Compares digests of equal length, so that the response time reveals nothing about the token. */
function tokenMatcher(token: string): (header: string | undefined) => boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const wanted = digest(token);
  return (header) => {
    const given = /^Bearer +(\S+)$/i.exec(header ?? "")?.[1];
    return given !== undefined && timingSafeEqual(digest(given), wanted);
  };
}
