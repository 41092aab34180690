import type { PreviewRequest, PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import * as native from "../../../native/files/readers.ts";
import { extensionOf, kindOfFile, sourceFile } from "../source.ts";
import { adoptTable } from "../source-cloud.ts";
import { headerSystem } from "../text/header-units.ts";
import { type TextColumn, type TextLayout, textPreviewColumns } from "../text/layout.ts";
import { countWarning, keptColumns, keyOf, textLayout, textReadParams } from "../text/read.ts";
import { georeference, joined, suggestedShift, type Triple } from "./head.ts";
import { lasPreview, pcdPreview, plyPreview } from "./records.ts";
import { e57Preview, ptxPreview } from "./scans.ts";
import { refusal, withTrial } from "./trial.ts";

/** Rows of a text file that are read to suggest a shift and to find columns without values. */
const SHIFT_ROWS = 200_000;

const PREVIEWS = { las: lasPreview, ply: plyPreview, pcd: pcdPreview, e57: e57Preview, ptx: ptxPreview } as const;

/** Previews a file for the import wizard. Errors: not_found; every other problem is reported in `warning`. */
export async function previewFile(request: PreviewRequest, job: Job): Promise<PreviewResponse> {
  try {
    const path = await sourceFile(request.file_path);
    const kind = kindOfFile(path);
    if (kind === "ascii") return await textPreview(path, request, job);
    return await withTrial(await PREVIEWS[kind](path, request.max_rows, job), path, kind, job);
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
      warning: request.ascii_format ? `${reason} (an import without ascii_format may still be possible)` : reason,
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
  const rows = await firstRows(path, layout, job);
  const crs = headerSystem(layout);
  const warnings = [...(layout.warning === null ? [] : [layout.warning]), ...(crs?.warnings ?? []), ...rows.warnings];
  return {
    kind: "ascii",
    delimiter: layout.delimiter,
    has_header: layout.has_header,
    columns: textPreviewColumns(layout, rows.valueless),
    sample_rows: layout.sample_rows.slice(0, max_rows).map((row) => [...row]),
    warning: joined(warnings),
    suggested_shift: rows.low && suggestedShift(rows.low),
    point_count: layout.declared_count,
    bounds: null,
    ...georeference(crs),
  };
}

interface FirstRows {
  /** Smallest coordinates; null if no row can be read. */
  readonly low: Triple | null;
  /** Columns without a single number, which an import leaves out. */
  readonly valueless: ReadonlySet<TextColumn>;
  readonly warnings: readonly string[];
}

/** Reads the first rows as the import reads them. */
async function firstRows(path: string, layout: TextLayout, job: Job): Promise<FirstRows> {
  const frame = { unit_scale: 1, shift: [0, 0, 0] } as const;
  const kept = keptColumns(layout);
  try {
    const table = await job.track(() => native.readText(path, textReadParams(layout, kept, frame, SHIFT_ROWS)));
    const { positions, columns } = adoptTable(table, job);
    const { bounds } = await job.track(() => cloud.cloudStats(positions.native, null));
    const read = new Set(columns.map(({ name }) => name));
    const whole = positions.length + table.nonfinite_dropped + table.malformed_dropped < SHIFT_ROWS;
    return {
      low: bounds?.min ?? null,
      valueless: new Set(kept.filter((column) => !read.has(keyOf(column)))),
      warnings: [...(whole ? countWarning(layout, table) : []), ...table.warnings],
    };
  } catch (error) {
    job.checkpoint();
    return { low: null, valueless: new Set(), warnings: [refusal(error)] };
  }
}
