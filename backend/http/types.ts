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

/** What the HTTP layer asks of the octree cache; backend/sessions/octree-cache.ts is the implementation. */
export interface OctreeFiles {
  /** Folder of a complete octree and a note that it was used; undefined when there is none. `cacheId`: 40 hex digits. */
  path(cacheId: string): Promise<string | undefined> | string | undefined;
}

/** What every route can reach. Sessions and services are added by the composition that owns them. */
export interface BaseDeps {
  readonly config: Config;
  readonly jobs: JobRegistry;
  readonly admission: Admission;
  readonly octreeCache: OctreeFiles;
  /** Never rejects for a missing GPU; a failing probe means none. */
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
