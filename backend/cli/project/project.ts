import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import { extractProject, type ProjectSummary, projectSummary, verifyProject } from "../../services/projects/inspect.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { printable } from "../progress.ts";

type Deps = Pick<AnalyzeDeps, "stdout" | "signal">;

async function existing(file: string): Promise<string> {
  const path = resolve(file);
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) throw new AppError("not_found", `File not found: ${file}`);
  return path;
}

/** Lists what a project contains. */
export async function showInfo(file: string, json: boolean, { stdout }: Deps): Promise<void> {
  const summary = await projectSummary(await existing(file));
  stdout.write(json ? `${JSON.stringify(summary)}\n` : `${lines(summary).map(printable).join("\n")}\n`);
}

function lines({
  version,
  app_version,
  created,
  scene_bytes,
  sessions,
  octrees,
  regenerate,
}: ProjectSummary): string[] {
  return [
    `project version ${version}, written by ${app_version}${created ? ` at ${created}` : ""}`,
    `scene document: ${scene_bytes} bytes`,
    ...sessions.flatMap(({ key, source, rows, columns, deletions, strokes }) => [
      `cloud ${key}: ${rows} points${source === null ? "" : ` from ${source}`}`,
      `  columns: ${columns.join(", ")}`,
      `  steps that can be undone: ${deletions} deletions, ${strokes} label strokes`,
    ]),
    `display octrees: ${octrees.length} in the file, ${regenerate.length} to be rebuilt`,
  ];
}

/** Reads everything. Errors: invalid_file, with the first damaged member. */
export async function verify(file: string, { stdout, signal }: Deps): Promise<void> {
  const count = await verifyProject(await existing(file), signal);
  stdout.write(`${count} members, no damage\n`);
}

/** Writes the contents of a project into a folder. */
export async function extract(file: string, out: string, { stdout, signal }: Deps): Promise<void> {
  const count = await extractProject(await existing(file), resolve(out), signal);
  stdout.write(`${count} files in ${printable(out)}\n`);
}
