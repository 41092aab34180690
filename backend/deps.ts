import type { BaseDeps } from "./http/types.ts";
import type { OctreeCache } from "./sessions/octree-cache.ts";
import type { SessionStore } from "./sessions/session-store.ts";

/** What the routes of the product can reach beside the basics. */
export interface Deps extends BaseDeps {
  readonly sessions: SessionStore;
  readonly octreeCache: OctreeCache;
}
