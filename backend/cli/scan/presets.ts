import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SCANNER_IDS, ScannerPreset } from "../../../shared/contract/scanner-preset.ts";
import { AppError } from "../../../shared/errors.ts";
import { resourceFolder } from "../../native/core/resources.ts";
import { nearestName } from "../edit-distance.ts";

/** Settings of a scanner. Errors: invalid_argument for an unknown id, with the nearest one, or all. */
export async function scannerPreset(id: string): Promise<ScannerPreset> {
  const known = SCANNER_IDS.find((one) => one === id);
  if (!known) {
    const nearest = nearestName(id, SCANNER_IDS);
    const hint = nearest ? `did you mean "${nearest}"? ` : "";
    throw new AppError(
      "invalid_argument",
      `--scanner "${id.slice(0, 64)}" is unknown; ${hint}The scanners are ${SCANNER_IDS.join(", ")}`,
    );
  }
  return ScannerPreset.parse(JSON.parse(await readFile(join(resourceFolder("scanners"), `${known}.json`), "utf8")));
}
