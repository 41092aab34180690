import type { BaseDeps } from "./http/types.ts";
import type { OctreeCache } from "./sessions/octree-cache.ts";
import type { PendingFiles } from "./sessions/pending-files.ts";
import type { GrowingPlants } from "./sessions/plant-owner.ts";
import type { SceneStore } from "./sessions/scene-store.ts";
import type { SessionStore } from "./sessions/session-store.ts";
import type { SpeciesLibrary } from "./sessions/species-library.ts";
import type { UploadStore } from "./sessions/upload-store.ts";

/** Dependencies of the product's routes in addition to BaseDeps. */
export interface Deps extends BaseDeps {
  readonly sessions: SessionStore;
  readonly octreeCache: OctreeCache;
  readonly pendingFiles: PendingFiles;
  readonly scenes: SceneStore;
  readonly uploads: UploadStore;
  readonly species: SpeciesLibrary;
  readonly plants: GrowingPlants;
}
