import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { type CopyFormat, copyName } from "./options.ts";
import type { Run } from "./run.ts";

/** The exported copy of the analyzed cloud. */
export interface Copy {
  readonly name: string | null;
  readonly point_count: number;
  readonly warnings: readonly string[];
}

/** Formats that write only requested scalar columns; LAS writes all of them, XYZ and OBJ none. */
export const WITH_COLUMNS: ReadonlySet<string> = new Set(["txt", "csv", "asc", "ply"] satisfies CopyFormat[]);
/** Attributes that are not scalar columns. */
const BUILT_IN: ReadonlySet<string> = new Set(["position", "rgb", "intensity"]);

export const scalarNames = ({ attributes }: Pick<CreateSessionTail, "attributes">) =>
  attributes.map(({ name }) => name).filter((name) => !BUILT_IN.has(name));

/** Writes the copy with all columns that the format can store; no copy for a cloud without points. */
export async function writeCopy(
  { input, options, client, out, progress, signal }: Run,
  tail: CreateSessionTail,
): Promise<Copy> {
  if (tail.point_count === 0) {
    return { name: null, point_count: 0, warnings: ["No copy was written: the cloud has no points."] };
  }
  progress.stage("Writing the copy");
  const name = copyName(input.name, options.format);
  const done = await client.exportCloud(
    {
      source: { session_id: tail.session_id },
      format: options.format,
      dest_path: out.stage(name),
      columns: WITH_COLUMNS.has(options.format) ? scalarNames(tail) : null,
    },
    { signal, onProgress: (step) => progress.update(step.progress, step.message) },
  );
  return { name, point_count: done.point_count, warnings: done.warnings ?? [] };
}
