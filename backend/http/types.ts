import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { ZodTypeProvider } from "fastify-type-provider-zod";
import type { DeviceInfo } from "../../shared/contract/device-info.ts";
import type { Config } from "../config.ts";
import type { Admission } from "../jobs/admission.ts";
import type { JobRegistry } from "../jobs/registry.ts";

/** The part of the octree cache that the HTTP layer uses; backend/sessions/octree-cache.ts implements it. */
export interface OctreeFiles {
  /** Folder of a complete octree, marked as recently used; undefined if there is none. `cacheId`: 40 hex digits. */
  path(cacheId: string): Promise<string | undefined> | string | undefined;
}

/** Dependencies of every route. backend/deps.ts adds sessions. */
export interface BaseDeps {
  readonly config: Config;
  readonly jobs: JobRegistry;
  readonly admission: Admission;
  readonly octreeCache: OctreeFiles;
  /** Does not reject if there is no GPU; a failing probe counts as no GPU. */
  readonly deviceInfo: () => Promise<DeviceInfo>;
  readonly version: string;
  readonly logger: FastifyBaseLogger;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** Registers the routes of one file. */
export type RouteFile<D extends BaseDeps = BaseDeps> = (app: App, deps: D) => void;
