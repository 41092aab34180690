import { type CloudMeta, META_DEFAULTS } from "../../../backend/sessions/cloud-session.ts";

/** The description of a cloud nobody knows anything about. */
export const EMPTY_META: CloudMeta = {
  extra_dims_meta: [],
  world_shift: null,
  crs_epsg: null,
  crs_is_geographic: false,
  crs_wkt: null,
  source_units: null,
  source_unit_scale: null,
  gps_time_encoding: null,
  source_scale_m: null,
  source_path: null,
  ascii_format: null,
  column_plan: null,
  octree_cache_id: null,
  rendered_octree_cache_id: null,
  octree_pose: null,
  octree_point_count: null,
  octree_stale_gen: 0,
  miss_octree_cache_id: null,
  miss_octree_origin: null,
  ...META_DEFAULTS,
};
