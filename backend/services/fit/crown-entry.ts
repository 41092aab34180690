import type { CrownShape, FittedCrown } from "../../../shared/contract/fit-crown.ts";
import type { NativeCrown } from "../../native/fit.ts";

/** The wire form of a crown. `baseline`: z where the height of the tree begins, in the frame of the crown. */
export function crownEntry(
  id: number,
  { shape, alpha }: { readonly shape: CrownShape; readonly alpha: number | null },
  crown: NativeCrown,
  baseline: number,
): FittedCrown {
  const { center, half, vertices, triangles, normals } = crown;
  const [a_m, b_m, c_m] = half;
  return {
    tree_instance_id: id,
    shape,
    vertices,
    triangles,
    normals: normals.map((value) => Math.round(value * 1e6) / 1e6),
    metrics: {
      tree_height_m: crown.highest_z - baseline,
      crown_volume_m3: crown.volume_m3,
      crown_center: [...center],
      crown_dims_m: [2 * a_m, 2 * b_m, 2 * c_m],
      crown_base_z: center[2] - c_m,
      crown_top_z: center[2] + c_m,
      surface_area_m2: crown.surface_area_m2,
      num_points_used: crown.enclosed_count,
      num_vertices: vertices.length / 3,
      num_triangles: triangles.length / 3,
    },
    params: paramsOf(shape, crown, alpha),
  };
}

function paramsOf(shape: CrownShape, { half, alpha_m, watertight }: NativeCrown, alpha: number | null) {
  const [a_m, b_m, c_m] = half;
  if (shape === "alpha") return { alpha_m: alpha_m ?? 0, alpha_auto: alpha === null, watertight };
  return shape === "cone" ? { base_radius_m: a_m, height_m: 2 * c_m } : { a_m, b_m, c_m };
}
