import type { SourceUnits } from "../../../shared/contract/cloud-session/create.ts";
import type { PreviewResponse } from "../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../shared/errors.ts";
import { legendOf, type ReadingOptions } from "./options.ts";
import type { AnalyzeClient } from "./run.ts";

/** What a file says about itself before its points are read. */
export interface Look extends Pick<PreviewResponse, "point_count" | "crs"> {
  /** Unit to import with; null = metres. */
  readonly units: SourceUnits | null;
  /** True if the file states the unit or --units gives it. */
  readonly units_stated: boolean;
}

/** Horizontal and vertical units closer than this are the same: international and US survey feet differ by 2e-6. */
const SAME_UNIT = 1e-5;

/**
 * Looks at a file and decides its unit: --units, else the unit that the file states.
 * Errors: invalid_argument for degrees, and for heights in another unit than x and y, unless --units decides.
 */
export async function lookAt(
  path: string,
  options: ReadingOptions,
  client: Pick<AnalyzeClient, "preview">,
  signal: AbortSignal,
): Promise<Look> {
  const look = await client.preview({ file_path: path, ascii_format: legendOf(path, options) }, { signal });
  const units = unitsOf(look, options);
  const units_stated = units !== null || (look.units_certain ?? false);
  return { point_count: look.point_count ?? null, crs: look.crs ?? null, units, units_stated };
}

function unitsOf(
  { crs, detected_units, units_certain }: PreviewResponse,
  { units }: ReadingOptions,
): SourceUnits | null {
  if (units !== undefined) return units;
  if (crs?.is_geographic) {
    throw new AppError(
      "invalid_argument",
      "the file's x and y are angles in degrees; project it to a system in metres or feet first, or give --units to read the numbers as lengths",
    );
  }
  const [across, up] = [crs?.unit_m ?? null, crs?.vertical_unit_m ?? null];
  if (across !== null && up !== null && Math.abs(up / across - 1) > SAME_UNIT) {
    throw new AppError(
      "invalid_argument",
      `the file states x and y in units of ${across} m and heights in units of ${up} m; convert it first, or give --units to read all three in one unit`,
    );
  }
  return units_certain && detected_units && detected_units !== "m" ? detected_units : null;
}
