import { z } from "zod";
import type { Point } from "../../../shared/contract/geometry.ts";
import { strings } from "../strings.ts";
import type { Cloud } from "../workflow/clouds.ts";

const coordinate = z.number().nullish().default(null);

/** Fields for the position of the scanner, true world, metres; null = as the file tells. */
export const ScannerPosition = z.object({ scanner_x: coordinate, scanner_y: coordinate, scanner_z: coordinate });
type ScannerPosition = z.input<typeof ScannerPosition>;

/** Errors: neither the form nor the file tells the position. */
export function scannerOf({ scanner_x, scanner_y, scanner_z }: ScannerPosition, { scan_origin }: Cloud): Point {
  const at = [scanner_x ?? scan_origin?.[0], scanner_y ?? scan_origin?.[1], scanner_z ?? scan_origin?.[2]];
  const [x, y, z] = at;
  if (x === undefined || y === undefined || z === undefined) {
    throw new Error(strings.workflow.operations.unknownScanner);
  }
  return [x, y, z];
}
