import type { EdgeEstimate, TriangleDiagnostics } from "../../../shared/contract/triangulate-lidar.ts";
import { AppError } from "../../../shared/errors.ts";
import type { ScanMesh, TriangleDrops } from "../../native/scan-meshes.ts";

export const NO_CANDIDATES: TriangleDrops = {
  candidates: 0,
  kept: 0,
  lmax: 0,
  aspect: 0,
  degenerate: 0,
  separation: 0,
};

export const triangleDiagnostics = (drops: TriangleDrops): TriangleDiagnostics => ({
  candidates: drops.candidates,
  kept: drops.kept,
  dropped_lmax: drops.lmax,
  dropped_aspect: drops.aspect,
  dropped_degenerate: drops.degenerate,
  dropped_separation: drops.separation,
});

const grade = (value: number | null, high: number, medium: number) =>
  value === null ? "n/a" : value >= high ? "High" : value >= medium ? "Medium" : "Low";

/** The suggested filter, with its grades (contract core-endpoints 7). */
export function estimateOf({ lmax_m, separability, median_ratio, mixed }: ScanMesh): EdgeEstimate {
  return {
    lmax: lmax_m,
    eta: separability,
    label: grade(lmax_m === null ? null : separability, 0.7, 0.5),
    sep_ratio: median_ratio,
    sep_label: grade(median_ratio, 4, 2),
    merged: mixed,
    merged_message: mixed
      ? "The edges of a scan vary widely from the start: it may contain scans from several positions, which must be triangulated one by one, each from its own origin."
      : null,
  };
}

/** Failure of a run whose filters kept no triangle: names the one that dropped most. */
export function nothingLeft(
  { candidates, lmax, aspect, degenerate, separation }: TriangleDrops,
  request: { readonly lmax: number; readonly max_aspect_ratio: number },
): AppError {
  if (candidates === 0) {
    return new AppError(
      "invalid_argument",
      "There are no candidate triangles: a scan needs at least three hits in directions that are not on one circle through the scanner.",
    );
  }
  const most = Math.max(lmax, aspect, degenerate, separation);
  const all = `none of ${candidates} candidate triangles is left, and`;
  const reason =
    most === lmax
      ? `${all} ${lmax} have an edge longer than Lmax ${request.lmax} m. Raise lmax.`
      : most === aspect
        ? `${all} ${aspect} exceed max_aspect_ratio ${request.max_aspect_ratio}. Raise it.`
        : most === separation
          ? `${all} ${separation} reach from a foreground to its background (separation filter).`
          : `${all} ${degenerate} are degenerate: their corners share one place or one line.`;
  return new AppError("invalid_argument", `No triangles: ${reason}`);
}
