import type { PreviewRequest, PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import * as native from "../../../native/files/readers.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { extensionOf, kindOfFile, sourceFile } from "../source.ts";
import { textPreviewColumns } from "../text/layout.ts";
import { textLayout, textReadParams } from "../text/read.ts";
import { georeference, suggestedShift } from "./head.ts";
import { lasPreview, pcdPreview, plyPreview } from "./records.ts";
import { e57Preview, ptxPreview } from "./scans.ts";

/** Rows of a text file that are read to suggest a shift. */
const SHIFT_ROWS = 200_000;

/** Previews a file for the import wizard. Errors: not_found; every other problem is reported in `warning`. */
export async function previewFile(request: PreviewRequest, job: Job): Promise<PreviewResponse> {
  try {
    const path = await sourceFile(request.file_path);
    switch (kindOfFile(path)) {
      case "ascii":
        return await textPreview(path, request, job);
      case "las":
        return await lasPreview(path, request.max_rows, job);
      case "ply":
        return await plyPreview(path, request.max_rows, job);
      case "pcd":
        return await pcdPreview(path, request.max_rows, job);
      case "e57":
        return await e57Preview(path, request.max_rows, job);
      case "ptx":
        return await ptxPreview(path, request.max_rows, job);
    }
  } catch (error) {
    job.checkpoint();
    if (error instanceof AppError && error.code === "not_found") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: extensionOf(request.file_path).slice(1),
      delimiter: null,
      has_header: false,
      columns: [],
      sample_rows: [],
      warning: `${reason} (an import with automatic detection may still be possible)`,
      suggested_shift: null,
    };
  }
}

async function textPreview(
  path: string,
  { ascii_format = null, max_rows }: PreviewRequest,
  job: Job,
): Promise<PreviewResponse> {
  const layout = await textLayout(path, { ascii_format, column_plan: null }, job);
  return {
    kind: "ascii",
    delimiter: layout.delimiter,
    has_header: layout.has_header,
    columns: textPreviewColumns(layout),
    sample_rows: layout.sample_rows.slice(0, max_rows).map((row) => [...row]),
    warning: layout.warning,
    suggested_shift: await textShift(path, layout, job),
    point_count: layout.declared_count,
    bounds: null,
    ...georeference(null),
  };
}

async function textShift(path: string, layout: Parameters<typeof textReadParams>[0], job: Job) {
  try {
    const frame = { unit_scale: 1, shift: [0, 0, 0] } as const;
    const table = await job.track(() => native.readText(path, textReadParams(layout, [], frame, SHIFT_ROWS)));
    const positions = job.adopt(new ColumnRef(table.positions));
    const { bounds } = await job.track(() => cloud.cloudStats(positions.native, null));
    return bounds && suggestedShift(bounds.min);
  } catch {
    job.checkpoint();
    return null; // by contract no suggestion on any failure; the wizard asks the user
  }
}
