// Leaf projection function from triangles of scans.
import { hitMask } from "../../backend/native/cloud/cloud.ts";
import { type BeamScan, type VoxelProjection, voxelProjection } from "../../backend/native/lad.ts";
import { type ScanTriangles, scanMesh, triangulateScan, voxelPoints } from "../../backend/native/scan-meshes.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import type { TriangleLimits } from "./lad-reference.ts";
import { coordinatesOf, positions } from "./native.ts";

/** G of each voxel from an angular triangulation of the scans. */
export async function triangleG(
  scans: readonly BeamScan[],
  multi: boolean,
  grid: VoxelBox,
  { lmax, max_aspect_ratio }: TriangleLimits,
): Promise<VoxelProjection> {
  const triangles: ScanTriangles[] = [];
  for (const { positions: xyz, origins, is_miss, deleted, target_index } of scans) {
    const { skip } = await hitMask(is_miss, deleted, xyz.length).promise;
    // Later returns and misses (99) have a number above 0.
    const first = multi && target_index ? target_index : skip;
    const { points } = await voxelPoints(xyz, first, [0, 0, 0], grid).promise;
    const origin = [...coordinatesOf(origins)] as unknown as [number, number, number];
    const { indices } = await triangulateScan(points, origin).promise;
    triangles.push({ points, indices, origin, is_multi_return: multi });
  }
  const limits_of_mesh = { lmax_m: lmax, max_aspect_ratio };
  const mesh = await scanMesh(triangles, limits_of_mesh).promise;
  const origins = positions(Float64Array.from(triangles.flatMap(({ origin }) => [...origin])));
  return voxelProjection({ ...mesh, origins }, grid, limits_of_mesh).promise;
}
