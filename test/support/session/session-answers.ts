/** Id of the octree in `octreeBlock`. */
export const ID = "ab".repeat(20);
/** A legal octree block. */
export const octreeBlock = {
  cache_id: ID,
  cache_dir: "/cache",
  version: "2.0",
  point_count: 3,
  spacing: 0.5,
  scale: [0.001, 0.001, 0.001],
  offset: [0, 0, 0],
  bounds: { min: [0, 0, 0], max: [1, 1, 1] },
  tight_bounds: { min: [0, 0, 0], max: [1, 1, 1] },
  attributes: [],
};
/** A legal tail of a session create. */
export const sessionTail = {
  ...octreeBlock,
  session_id: "s1",
  total_count: 4,
  world_shift: null,
  source_units: null,
  source_unit_scale: null,
  ground_z: 0.1,
  robust_extent: [1, 1, 1],
  has_misses: true,
  miss_slug: "is_miss",
  miss_octree_cache_id: null,
};
