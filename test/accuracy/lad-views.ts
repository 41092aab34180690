// Leaf area of stored pulses without voxels: what several scanners see of the same leaves.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { captureRecapture } from "../../backend/native/capture-recapture.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import type { BeamScan } from "../../backend/native/lad.ts";
import { pointToMeshDistance } from "../../backend/native/registration.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { REFERENCE_FOLDER, type TriangleLimits } from "./lad-reference.ts";
import { triangleG } from "./lad-triangles.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";

const ORGAN_LEAF = 1;

/** The triangles of a case's scene: leaves, and wood if the scene has any. */
function sceneOf(name: string) {
  const folder = join(REFERENCE_FOLDER, name);
  const vertices: number[] = [];
  const corners: number[] = [];
  for (const line of gunzipSync(readFileSync(join(folder, "scene.obj.gz")))
    .toString()
    .split("\n")) {
    const [kind, ...rest] = line.trim().split(/\s+/);
    if (kind === "v") vertices.push(...rest.slice(0, 3).map(Number));
    else if (kind === "f") corners.push(...rest.map((corner) => Number.parseInt(corner, 10) - 1));
  }
  const codes = join(folder, "scene_organ_code.npy.gz");
  const bytes = existsSync(codes) ? gunzipSync(readFileSync(codes)) : null;
  const triangles = corners.length / 3;
  const organs = bytes?.subarray(bytes.length - triangles); // one byte each, behind the header
  const isLeaf = (t: number) => !organs || organs[t] === ORGAN_LEAF;
  const part = (wanted: boolean) => corners.filter((_, k) => isLeaf(Math.floor(k / 3)) === wanted);
  const mesh = (indices: readonly number[]) => ({
    vertices: positions(Float64Array.from(vertices)),
    indices: column("u32", Uint32Array.from(indices)),
  });
  const wood = part(false);
  return { leaves: mesh(part(true)), wood: wood.length > 0 ? mesh(wood) : null };
}

/** u8 per row, 1 = a hit that lies on a leaf rather than on wood; null without wood. */
async function leafHits(name: string, scans: readonly BeamScan[]): Promise<(NativeColumn | null)[]> {
  const { leaves, wood } = sceneOf(name);
  if (!wood) return scans.map(() => null);
  const params = { shift: [0, 0, 0], stride: 1, with_sides: false, bands_m: [] } as const;
  return await Promise.all(
    scans.map(async (scan) => {
      const to = async (mesh: typeof leaves) =>
        values((await pointToMeshDistance(scan.positions, scan.is_miss, mesh, params).promise).distances);
      const [leaf, other] = [await to(leaves), await to(wood)];
      return column(
        "u8",
        Uint8Array.from(leaf as Float32Array, (away, i) => (away <= (other[i] ?? 0) ? 1 : 0)),
      );
    }),
  );
}

/** Leaf area in the grid, m2, with the true mean G and with that of triangles within each of the limits. */
export async function seenAreas(
  name: string,
  scans: readonly BeamScan[],
  grid: VoxelBox,
  true_g: number,
  limits: readonly TriangleLimits[],
): Promise<number[]> {
  const whole = { ...grid, nx: 1, ny: 1, nz: 1 };
  const is_leaf = await leafHits(name, scans);
  const foliage = scans.map((scan, k) => {
    const leaf = is_leaf[k] && values(is_leaf[k]);
    const miss = scan.is_miss && values(scan.is_miss);
    if (!leaf) return scan;
    const wood = Uint8Array.from(leaf as Uint8Array, (one, i) => (one === 0 && miss?.[i] === 0 ? 1 : 0));
    return { ...scan, deleted: column("u8", wood) };
  });
  const gs = [true_g];
  for (const one of limits) gs.push((await triangleG(foliage, false, whole, one)).mean_g);
  const viewed = scans.map(({ positions: xyz, origins, shift, is_miss }, k) => ({
    origin: [...coordinatesOf(origins)] as unknown as readonly [number, number, number],
    rows: [{ positions: xyz, shift, is_miss, deleted: null, is_leaf: is_leaf[k] ?? null }],
  }));
  const areas: number[] = [];
  for (const g of gs) {
    const params = { g: column("f64", Float64Array.of(g)), range_noise_m: 0, leaf_width_m: 0.05 };
    areas.push((await captureRecapture(viewed, whole, params).promise).leaf_area_m2 ?? Number.NaN);
  }
  return areas;
}
