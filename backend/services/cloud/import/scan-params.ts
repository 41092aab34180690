import type { z } from "zod";
import type { ImportedScan, ScanParams } from "../../../../shared/contract/cloud-session/create.ts";
import { MAX_LISTED_SCANS } from "../../../../shared/contract/pointcloud.ts";
import type { PositionFrame, ScanInfo } from "../../../native/files/readers.ts";
import type { SourceCloud } from "../../files/source-cloud.ts";
import { toWorld } from "./request.ts";

/** Raster of the first scan that was read, as far as the file declares it. Degrees; zenith 0 = up, bearings clockwise
 * from +y (docs/glossary.md). */
export function rasterParams(scans: readonly ScanInfo[]): z.infer<typeof ScanParams> {
  const [scan] = scans;
  if (!scan) return {};
  const { n_theta, n_phi } = scan;
  const counts = n_theta > 1 && n_phi > 1 ? { n_theta, n_phi } : {};
  const angles = Object.entries({
    theta_min: scan.theta_min,
    theta_max: scan.theta_max,
    phi_min: scan.phi_min,
    phi_max: scan.phi_max,
  }).filter(([, degrees]) => degrees !== null);
  return { ...counts, ...Object.fromEntries(angles) };
}

/** The scans that were read, in true world coordinates; nothing for formats without scans. */
export function scanList(
  scans: readonly ScanInfo[],
  frame: PositionFrame,
): { readonly scans?: z.infer<typeof ImportedScan>[] } {
  if (scans.length === 0) return {};
  return {
    scans: scans.slice(0, MAX_LISTED_SCANS).map(({ name, origin, tilt: _tilt, has_pose: _has_pose, ...scan }) => ({
      ...scan,
      name: name === "" ? null : name,
      origin: origin && toWorld([...origin], frame),
    })),
  };
}

/** Above this tilt, the angular limits of the sweep differ noticeably from those of its directions in space. */
const LEVEL_DEG = 1;

/** Warnings about several scans with poses, a tilted pose and misses without a direction. */
export function scanWarnings({ scans, unplaceable_miss_count }: SourceCloud): string[] {
  const warnings: string[] = [];
  if (scans.length > 1 && scans.some(({ has_pose }) => has_pose)) {
    warnings.push(
      `${scans.length} scans were merged, each placed by its own pose; the column scan_index tells them apart. Send scan_index to import a single one.`,
    );
  }
  const [first] = scans;
  if (first && first.tilt > LEVEL_DEG && (first.theta_min !== null || first.phi_min !== null)) {
    warnings.push(
      `The pose of scan ${first.scan_index} is tilted by ${first.tilt.toFixed(1)} degrees: theta and phi of scan_params refer to the scanner's own axis.`,
    );
  }
  if (scans.length > MAX_LISTED_SCANS) {
    warnings.push(`The list of scans ends after ${MAX_LISTED_SCANS} of ${scans.length}; all of them were read.`);
  }
  if (unplaceable_miss_count > 0) {
    warnings.push(
      `${unplaceable_miss_count} sky points have no direction in the file and were placed at their scanner. Their row and column are kept, so that the raster can recover them.`,
    );
  }
  return warnings;
}
