import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { cloudStats, hitMask } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { MOST_FOLDED, type VoxelProjection, voxelProjection } from "../../native/lad.ts";
import * as native from "../../native/scan-meshes.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { numbersColumn, pointsColumn } from "../run/points.ts";
import type { LadGrid } from "./grid.ts";
import { knownCosine, prescribedCosine, type VoxelG } from "./projection.ts";
import type { ReadScan } from "./scans/scans.ts";
import { withoutWood } from "./wood-labels.ts";

/** G where every scan moves: that of leaves with any inclination (contract lad 1.4). */
const MOVING_G = 0.5;
/** Beam origins of a static scanner lie within this box, metres. */
const STILL_M = 1e-3;

/** Memory for the triangulation of scans of so many rows, bytes. */
export function triangulationBytes(rows: readonly number[]): number {
  const total = rows.reduce((sum, count) => sum + count, 0);
  const own = native.scanTriangulationBytes(Math.max(0, ...rows)) + native.scanMeshBytes(total, 2 * total);
  return own + (24 + 8 + 2 * 73) * total;
}

/**
 * G of each voxel from an angular triangulation of the hits in the grid. Scans that move are left out; if all do, G is
 * 0.5, with a warning. Errors: invalid_argument without any triangle.
 */
export async function triangulatedG(
  request: LadRequest,
  scans: readonly ReadScan[],
  grid: LadGrid,
  zenith_count: readonly number[],
  job: Job,
): Promise<VoxelG> {
  const part = job.quiet();
  const triangles: native.ScanTriangles[] = [];
  const moving: string[] = [];
  for (const scan of scans) {
    const origin = await staticOrigin(scan, part);
    if (origin) triangles.push(await scanTriangles(scan, origin, grid, part));
    else moving.push(scan.notes.name);
  }
  const names = moving.slice(0, 10).join(", ");
  if (triangles.length === 0) {
    const text = `${names} moved while scanning and cannot be triangulated: G is taken as ${MOVING_G}.`;
    const profile = Array<number>(grid.box.nz).fill(MOVING_G);
    const hitCosine = () => prescribedCosine([{ constant: MOVING_G }], [MOVING_G], zenith_count, part);
    const column = job.adopt(numbersColumn([MOVING_G])).native;
    return { column, profile, overall: [MOVING_G], beams: null, warnings: [text], hitCosine };
  }
  const { lmax, max_aspect_ratio } = request;
  const limits = { lmax_m: lmax, max_aspect_ratio };
  const mesh = await part.track(() => native.scanMesh(triangles, limits));
  const [vertices, indices, scan_ids] = [mesh.vertices, mesh.indices, mesh.scan_ids].map(
    (column) => part.adopt(new ColumnRef(column)).native,
  ) as [NativeColumn, NativeColumn, NativeColumn];
  const origins = part.adopt(pointsColumn(triangles.map(({ origin }) => [...origin]))).native;
  const found = await part.track(() => voxelProjection({ vertices, indices, scan_ids, origins }, grid.box, limits));
  const column = job.adopt(new ColumnRef(found.g)).native;
  if (found.triangle_count === 0) throw noTriangles(mesh.drops, request);
  const skipped = `${names} moved while scanning and cannot be triangulated: G comes from the other scans.`;
  return {
    column,
    profile: null,
    overall: [found.mean_g],
    beams: null,
    hitCosine: knownCosine(found.hit_cosine),
    warnings: [
      ...(moving.length > 0 ? [skipped] : []),
      OWN_G,
      ...steepWarnings(zenith_count),
      ...facingWarnings(found),
      ...foldWarnings(found),
    ],
  };
}

function facingWarnings({ facing, uniform_azimuths }: VoxelProjection): string[] {
  if (uniform_azimuths) return [];
  const way = facing > 1 ? "face the scanners" : "stand edge on to the scanners";
  return [
    `Most leaves ${way}, like those of a hedge: their triangles project ${facing.toFixed(2)} times as much as with uniform azimuths. G is that of the triangles as they stand, not averaged over azimuths; leaves that the beams graze are missing from it. If you know the leaf angles, send gtheta_override.`,
  ];
}

/** Beams this near to the vertical, degrees, see leaves at which G of triangles fails if most of them are so. */
const STEEP_DEG = 25;

function steepWarnings(zenith_count: readonly number[]): string[] {
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
  const steep = sum(zenith_count.slice(0, Math.round((zenith_count.length * STEEP_DEG) / 90)));
  const share = steep / sum(zenith_count);
  if (!(share > 0.5)) return [];
  return [
    `${Math.round(100 * share)} % of the beams are within ${STEEP_DEG} degrees of the vertical, where G of triangles is too low: the leaf area was 115 to 133 % of the truth in scans of known leaves. If you know the leaf angles, send gtheta_override with gtheta_per_beam.`,
  ];
}

function foldWarnings({ folded }: VoxelProjection): string[] {
  if (folded <= MOST_FOLDED) return [];
  const percent = Math.round(100 * folded);
  return [
    `${percent} % of the triangles fold against all their neighbours, as leaves do not: the ranges are about as noisy as hits are apart, or lmax joins many leaves. Noise makes G too low, by 2 to 12 % where it equals that distance and by 40 % at four times, and leaf area too high by as much. If you know the leaf angles, send gtheta_override.`,
  ];
}

/** Shares of docs/accuracy.md, "Leaf area density", for short and long edges. */
const OWN_G =
  "G comes from triangles of the scans, weighed by how often leaves of their inclination give one: in scans of known leaves the leaf area was 95 to 103 % of the truth with one return per pulse (flat leaves that level beams meet edge on: 78 %), 80 to 109 % with several, 72 to 92 % in trees. Range noise of a sixth of lmax makes it up to 13 % higher. If you know the leaf angles, send gtheta_override.";

/** Where a scanner stood, true world; null if it moved. */
export async function staticOrigin({ beams, notes }: ReadScan, job: Job): Promise<Triple | null> {
  if (notes.moving) return null;
  const { bounds } = await job.track(() => cloudStats(beams.origins, null));
  if (!bounds) return null;
  const { min, max } = bounds;
  if (Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]) > STILL_M) return null;
  const at = (axis: 0 | 1 | 2) => (min[axis] + max[axis]) / 2 + beams.shift[axis];
  return [at(0), at(1), at(2)];
}

/** Candidate triangles of the hits in the grid that are no wood, of first returns if there are several per pulse. */
async function scanTriangles(scan: ReadScan, origin: Triple, grid: LadGrid, job: Job): Promise<native.ScanTriangles> {
  const { beams, returns } = scan;
  const mask = await job.track(() => hitMask(beams.is_miss, beams.deleted, beams.positions.length));
  const hits = await withoutWood(scan, mask.skip ? job.adopt(new ColumnRef(mask.skip)).native : null, job);
  const first = returns
    ? await job.track(() => native.firstReturns(returns.target_index, returns.target_count, hits))
    : null;
  const skip = first?.skip ? job.adopt(new ColumnRef(first.skip)).native : hits;
  const read = await job.track(() => native.voxelPoints(beams.positions, skip, beams.shift, grid.box));
  const points = job.adopt(new ColumnRef(read.points)).native;
  const found = await job.track(() => native.triangulateScan(points, origin));
  const indices = job.adopt(new ColumnRef(found.indices)).native;
  return { points, indices, origin, is_multi_return: first?.is_multi_return ?? false };
}

function noTriangles({ candidates, lmax, aspect }: native.TriangleDrops, request: LadRequest): AppError {
  const limits = `lmax ${request.lmax} m and max_aspect_ratio ${request.max_aspect_ratio}`;
  return new AppError(
    "invalid_argument",
    candidates === 0
      ? "No triangles: fewer than three hits of a scan lie in the grid, so G is not known. Use gtheta_override."
      : `No triangles in the grid with ${limits}: of ${candidates} candidates, ${lmax} are longer and ${aspect} are thinner. Raise lmax, or use gtheta_override.`,
  );
}
