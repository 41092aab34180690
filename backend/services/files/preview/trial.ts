import type { PreviewResponse } from "../../../../shared/contract/pointcloud.ts";
import type { Job } from "../../../jobs/job.ts";
import { expectedColumns, type NamedColumn } from "../column-roles.ts";
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
    const { positions, columns, warnings } = await readCloud(request, job);
    return {
      ...withWarnings([...(positions.length === 0 ? [NO_POINTS] : []), ...warnings]),
      ...withUnseen(preview, columns),
    };
  } catch (error) {
    job.checkpoint();
    return withWarnings([refusal(error)]);
  }
}

/** The sentence for a file that an import would refuse. */
export const refusal = (error: unknown): string =>
  `An import would be refused: ${error instanceof Error ? error.message : String(error)}`;

const COLORS = ["r255", "g255", "b255"];

/** Adds the columns that only rows behind the first ones have, such as the colours of a second PTX scan. */
function withUnseen(
  { columns, sample_rows }: PreviewResponse,
  read: readonly NamedColumn[],
): Pick<PreviewResponse, "columns" | "sample_rows"> {
  const roles = new Set(columns.map(({ detected_role }) => detected_role));
  const slugs = new Set(columns.map(({ suggested_slug }) => suggested_slug));
  const unseen = expectedColumns(read).flatMap(({ role, slug, label }) => {
    if (role === "rgb")
      return roles.has("r255") ? [] : COLORS.map((channel) => ({ role: channel, slug, label: channel }));
    const assigned = role === "is_miss" || role.startsWith("origin_");
    return assigned || (slug === "" ? roles.has(role) : slugs.has(slug)) ? [] : [{ role, slug, label }];
  });
  const first = Math.max(-1, ...columns.map(({ index }) => index), ...sample_rows.map(({ length }) => length - 1)) + 1;
  const added = unseen.map(({ role, slug, label }, i) => ({
    index: first + i,
    header_name: null,
    detected_role: role,
    suggested_label: label,
    suggested_slug: slug,
    type_hint: "empty" as const,
    remappable: false,
  }));
  const blank = added.map(() => "");
  return {
    columns: [...columns, ...added],
    sample_rows: added.length === 0 ? sample_rows : sample_rows.map((row) => [...row, ...blank]),
  };
}
