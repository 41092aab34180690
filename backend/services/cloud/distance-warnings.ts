import type { CloudState } from "../../sessions/cloud-session.ts";
import { optionalExtra } from "../octree/columns.ts";

/** Column of the distances to a mesh (services/registration). */
const DISTANCE_SLUG = "mesh_distance";

/** Warns of distances to a mesh, which does not move with the cloud. */
export const distanceWarnings = (base: CloudState): string[] =>
  optionalExtra(base, DISTANCE_SLUG)
    ? [
        `The column ${DISTANCE_SLUG} still has the distances from the former place of the cloud. Measure them again (POST /api/c2m/distance with write_column true).`,
      ]
    : [];
