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
import { ONE_PLACE_M } from "../surfaces/one-place.ts";
import { notableSpread, voxelBeamG } from "./beam-projection.ts";
import type { LadGrid } from "./grid.ts";
import { knownCosine, prescribedCosine, type VoxelG } from "./projection.ts";
import type { ReadScan } from "./scans/scans.ts";
import { withoutWood } from "./wood-labels.ts";

/** G where every scan moves: that of leaves with any inclination (contract lad 1.4). */
const MOVING_G = 0.5;

/** Memory for the triangulation of scans of so many rows, bytes. */
export function triangulationBytes(rows: readonly number[]): number {
  const total = rows.reduce((sum, count) => sum + count, 0);
  const own = native.scanTriangulationBytes(Math.max(0, ...rows)) + native.scanMeshBytes(total, 2 * total);
  return own + (24 + 8 + 2 * 73) * total;
}

/**
 * G of each voxel from an angular triangulation of the hits in the grid, and of each beam if G of the beams differs or
 * `per_beam` asks for it. Scans that move are left out; if all do, G is 0.5, with a warning. Errors: invalid_argument
 * without a triangle that tells inclinations.
 */
export async function triangulatedG(
  request: LadRequest,
  per_beam: boolean,
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
    return { column, profile, overall: [MOVING_G], beams: null, error: null, warnings: [text], hitCosine };
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
  const beams = found.beam_g && voxelBeamG(found.beam_factors, job.adopt(new ColumnRef(found.beam_g)).native);
  if (found.error) job.adopt(new ColumnRef(found.error.scatter));
  if (found.triangle_count === 0) throw noTriangles(mesh.drops, request);
  if (found.telling_count === 0) throw nothingTold(found, request);
  const skipped = `${names} moved while scanning and cannot be triangulated: G comes from the other scans.`;
  return {
    column,
    profile: null,
    overall: [found.mean_g],
    beams: found.uniform_azimuths && beams && (per_beam || notableSpread(beams, zenith_count)) ? beams : null,
    error: found.error && {
      ...found.error,
      bias: Math.hypot(found.error.bias, sparseError(found, request.element_width)),
    },
    hitCosine: knownCosine(found.hit_cosine),
    warnings: [
      ...(moving.length > 0 ? [skipped] : []),
      OWN_G,
      ...hardlySeenWarnings(found),
      ...facingWarnings(found, per_beam),
      ...foldWarnings(found),
      ...sparseWarnings(found, request.element_width),
    ],
  };
}

/** A mean cosine within these shares of that of uniform azimuths tells nothing (kMostFacing, kLeastFacing of the addon). */
const MOST_FACING = 1.15;
const LEAST_FACING = 0.75;

function facingWarnings({ facing, uniform_azimuths }: VoxelProjection, per_beam: boolean): string[] {
  if (uniform_azimuths) return [];
  const edge_on = facing < LEAST_FACING ? "stand edge on to the scanners" : "are turned to one side of the beams";
  const way = facing > MOST_FACING ? "face the scanners" : edge_on;
  const each = per_beam ? " All beams of a voxel have that G, in spite of gtheta_per_beam." : "";
  return [
    `Most leaves ${way}, like those of a hedge: their triangles project ${facing.toFixed(2)} times as much as with uniform azimuths. G is that of the triangles as they stand, not averaged over azimuths; leaves that the beams graze are missing from it.${each} If you know the leaf angles, send gtheta_override.`,
  ];
}

/** Part of the leaf area at inclinations that the beams hardly see, from which on it is told. */
const MOST_UNSEEN = 0.2;

function hardlySeenWarnings({ hardly_seen }: VoxelProjection): string[] {
  if (hardly_seen <= MOST_UNSEEN) return [];
  return [
    `${Math.round(100 * hardly_seen)} % of the leaf area is taken to have inclinations whose leaves no beam meets squarely enough for a triangle: their part comes from a Beta distribution fitted to the others, and the leaf area was within 11 % of the truth in scans of known leaves of which 20 to 54 % were so. If you know the leaf angles, send gtheta_override with gtheta_per_beam; a scanner that looks from another angle, from below or above, sees them.`,
  ];
}

function foldWarnings({ folded }: VoxelProjection): string[] {
  if (folded <= MOST_FOLDED) return [];
  const percent = Math.round(100 * folded);
  return [
    `${percent} % of the triangles fold against all their neighbours, as leaves do not: the ranges are about as noisy as hits are apart, or lmax joins many leaves. Where noise equals that distance, G is up to 5 % off; at four times it is 32 to 41 % too low, and leaf area too high by as much. If you know the leaf angles, send gtheta_override.`,
  ];
}

/** Distance of the beams as a part of a leaf's width, above which few triangles lie on one leaf. */
const MOST_SPARSE = 0.4;

/** Standard error of G of such triangles, as a part of it: 0.35 leaves apart 0, a leaf apart 0.3 (docs/accuracy.md). */
const sparseError = ({ spacing_m }: VoxelProjection, width: number): number =>
  width > 0 ? 0.5 * Math.max(0, Math.min(1, spacing_m / width) - 0.35) : 0;

function sparseWarnings({ spacing_m }: VoxelProjection, width: number): string[] {
  if (!(width > 0 && spacing_m > MOST_SPARSE * width)) return [];
  const [apart, leaf] = [spacing_m, width].map((metres) => Number(metres.toPrecision(2)));
  return [
    `Beams are ${apart} m apart where they meet leaves, whose width (element_width) is ${leaf} m: many triangles join leaves, and G is uncertain. In scans of known leaves, with beams half a leaf to a whole leaf apart, the leaf area was 20 % low to 41 % high, most in dense ones; the intervals allow for it. If you know the leaf angles, send gtheta_override.`,
  ];
}

/** Shares of docs/accuracy.md, "Leaf area density", for short and long edges. */
const OWN_G =
  "G comes from triangles of the scans, by how often beams of their angles give one of leaves of each inclination: in scans of known leaves the leaf area was 96 to 103 % of the truth with one return per pulse, 82 to 108 % with several, 75 to 94 % in trees. If you know the leaf angles, send gtheta_override.";

/** Where a scanner stood, true world; null if it moved. */
export async function staticOrigin({ beams, notes }: ReadScan, job: Job): Promise<Triple | null> {
  if (notes.moving) return null;
  const { bounds } = await job.track(() => cloudStats(beams.origins, null));
  if (!bounds) return null;
  const { min, max } = bounds;
  if (Math.max(max[0] - min[0], max[1] - min[1], max[2] - min[2]) > ONE_PLACE_M) return null;
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

function nothingTold({ triangle_count }: VoxelProjection, request: LadRequest): AppError {
  return new AppError(
    "invalid_argument",
    `None of the ${triangle_count} triangles in the grid tells leaf angles: with lmax ${request.lmax} m and max_aspect_ratio ${request.max_aspect_ratio} the hits are so far apart that leaves of some angles give triangles and others none. Raise lmax, or max_aspect_ratio if the hits are much farther apart in one direction, or use gtheta_override.`,
  );
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
