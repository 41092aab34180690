import type { z } from "zod";
import type { ScanParams } from "../../shared/contract/cloud-session/create.ts";
import type { ScanInfo } from "../native/readers.ts";
import type { SourceCloud } from "./source-cloud.ts";

/** Raster of a file's first scan, as far as the file states it. Degrees, zenith 0 = up. */
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

/** What is particular about a file of several scans or of misses without a direction. */
export function scanWarnings({ scans, unplaceable_miss_count }: SourceCloud): string[] {
  const warnings: string[] = [];
  if (scans.length > 1) {
    warnings.push(
      `${scans.length} scans were merged, each moved by its own pose; column scan_index tells them apart. scan_index of the import picks one.`,
    );
  }
  if (unplaceable_miss_count > 0) {
    warnings.push(
      `${unplaceable_miss_count} sky points have no direction in the file: they lie at their scanner. Their row and column are kept, so that the raster can recover them.`,
    );
  }
  return warnings;
}
