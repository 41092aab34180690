import type { Deps } from "../../../deps.ts";
import type { CloudMeta } from "../../../sessions/cloud-session.ts";
import { sourceSession } from "../../run/points.ts";

export type CoordinateSystem = Pick<CloudMeta, "crs_epsg" | "crs_is_geographic" | "crs_wkt" | "crs_geotiff">;

const NONE: CoordinateSystem = { crs_epsg: null, crs_is_geographic: false, crs_wkt: null, crs_geotiff: null };

/**
 * The coordinate system that a file states in place of that of its source. `asked`: id of a session, `none`, or null =
 * no other. Errors: not_found.
 */
export async function systemOf(asked: string | null, deps: Deps): Promise<CoordinateSystem | null> {
  if (asked === null || asked === "") return null;
  if (asked === "none") return NONE;
  const { meta } = (await sourceSession({ session_id: asked, source_path: null }, deps)).state;
  const { crs_epsg, crs_is_geographic, crs_wkt, crs_geotiff } = meta;
  return { crs_epsg, crs_is_geographic, crs_wkt, crs_geotiff: crs_geotiff ?? null };
}
