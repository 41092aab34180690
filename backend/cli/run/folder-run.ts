import type { Client, RunProgress } from "../../../shared/client/index.ts";
import { withBackend } from "../analyze/backend.ts";
import { leftNote } from "../analyze/earlier-run.ts";
import { OutputFolder } from "../analyze/output-folder.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { Progress } from "../progress.ts";

/** What the work of a command needs. */
export interface FolderRun {
  readonly client: Client;
  readonly out: OutputFolder;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export const REPORT_FILE = "report.html";
export const SUMMARY_FILE = "summary.json";

interface Destination {
  readonly out: string;
  /** Replace the report of an earlier run. */
  readonly force: boolean;
  /** File that every run writes; default: the report. */
  readonly guarded?: string;
}

/**
 * Runs `work` with a service of its own and an output folder that receives all files or, after a failure or cancel, none.
 * Errors: invalid_argument for a folder that cannot be used or has a report; those of the work.
 */
export async function runInFolder<T>(
  { out, force, guarded = REPORT_FILE }: Destination,
  deps: AnalyzeDeps,
  work: (run: FolderRun) => Promise<T>,
): Promise<T> {
  const { signal } = deps;
  signal.throwIfAborted();
  const folder = await OutputFolder.open(out, force ? undefined : guarded);
  const progress = new Progress(deps.stderr);
  try {
    // The calls of the whole client: a stand-in for those of `analyze` does not have them.
    const result = await withBackend({ startBackend: deps.startBackend }, (client) =>
      work({ client, out: folder, progress, signal }),
    );
    signal.throwIfAborted();
    const left = await folder.publish();
    progress.done();
    deps.stderr.write(leftNote(left));
    return result;
  } catch (error) {
    progress.stop();
    await folder.discard();
    throw error;
  }
}

/** Options of a call that shows its progress in the current stage. */
export const shown = ({ progress, signal }: Pick<FolderRun, "progress" | "signal">) => ({
  signal,
  onProgress: (step: RunProgress) => progress.update(step.progress, step.message),
});
