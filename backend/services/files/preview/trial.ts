import type { PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import { importBytes } from "../import-cost.ts";
import { readCloud } from "../read.ts";
import type { SourceKind } from "../source.ts";
import { NO_POINTS } from "../source-cloud.ts";
import { joined } from "./head.ts";

/** Files whose import needs at most this much memory are read in full: only that shows whether an import succeeds. */
const TRIAL_BYTES = 256 * 1024 * 1024;

const FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;

/** Adds to a preview why an import of the file would be refused, or what it would warn of. Of larger files, a preview
 * knows only the header and the first rows. */
export async function withTrial(
  preview: PreviewResponse,
  path: string,
  kind: Exclude<SourceKind, "ascii">,
  job: Job,
): Promise<PreviewResponse> {
  if ((await importBytes(path, kind)) > TRIAL_BYTES) return preview;
  const request = { path, kind, frame: FRAME, ascii_format: null, column_plan: null, scan_index: null };
  const own = preview.warning ?? "";
  const withWarnings = (warnings: readonly string[]) => {
    const further = warnings.filter((warning) => !own.includes(warning));
    return { ...preview, warning: joined([...further, ...(own === "" ? [] : [own])]) };
  };
  try {
    const { positions, warnings } = await readCloud(request, job);
    return withWarnings([...(positions.length === 0 ? [NO_POINTS] : []), ...warnings]);
  } catch (error) {
    job.checkpoint();
    return withWarnings([refusal(error)]);
  }
}

/** The sentence for a file that an import would refuse. */
export const refusal = (error: unknown): string =>
  `An import would be refused: ${error instanceof Error ? error.message : String(error)}`;
