import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ApiError, type Client } from "../../../shared/client/index.ts";
import type { GroundFrame } from "../../../shared/contract/ground-frame.ts";
import { withBackend } from "../analyze/backend.ts";
import type { AnalyzeDeps } from "../analyze/run.ts";
import { inWorkFolder, PLACES, sourceOf, writeJson } from "./folders.ts";
import { sliceLas } from "./las-records.ts";
import type { Plan } from "./plan-document.ts";
import { readOwnPlan } from "./program.ts";

/** The content of frame.json: what the ground of all tiles is labelled with. */
export interface SurveyFrame {
  /** Null: no window could be measured, and every tile measures its own points. */
  readonly frame: GroundFrame | null;
  readonly windows: number;
  readonly warnings: readonly string[];
}

/** Measures the ground of a survey in the windows of its plan, and writes frame.json. */
export async function measureSurvey(out: string, deps: AnalyzeDeps): Promise<void> {
  const root = resolve(out);
  const plan = await readOwnPlan(root);
  const found: GroundFrame[] = [];
  const failed: string[] = [];
  await inWorkFolder(root, "measure", deps, async (folder, startBackend) => {
    await withBackend({ startBackend }, async (client) => {
      for (const [i, window] of plan.windows.entries()) {
        const view = join(folder, `window-${i}.las`);
        const sources = window.files.map((file) => sourceOf(root, plan, file));
        if ((await sliceLas(sources, window.box, view, deps.signal)) === 0) continue;
        const frame = await measured(view, plan, client, deps.signal);
        if (typeof frame === "string") failed.push(frame);
        else if (frame) found.push(frame);
        await rm(view);
      }
    });
  });
  const survey: SurveyFrame = {
    frame: found.length > 0 ? surveyFrame(found, plan) : null,
    windows: found.length,
    warnings:
      found.length > 0
        ? []
        : [
            `The ground could not be measured for all tiles (${failed[0] ?? "too few points"}): each tile measures its own, and labels beside its edges may differ from those of one run over the whole cloud.`,
          ],
  };
  for (const warning of survey.warnings) deps.stderr.write(`Warning: ${warning}\n`);
  await writeJson(join(root, PLACES.frame), survey);
}

/** The frame of a window, or why there is none. */
async function measured(
  view: string,
  { shift }: Plan,
  client: Client,
  signal: AbortSignal,
): Promise<GroundFrame | string | null> {
  const { session_id } = await client.createSession({ source_path: view, world_shift: [...shift] }, { signal });
  const wishes = { method: "auto" as const, defer_octree: true, acknowledge_cost: true };
  const frame = await client.segmentGroundSession(session_id, wishes, { signal }).then(
    (answer) => answer.frame,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === "invalid_argument") return error.message;
      throw error;
    },
  );
  await client.closeSession(session_id);
  return frame;
}

/** One frame for all tiles: the median of each measure; a single window that is the whole survey keeps its own. */
export function surveyFrame(
  found: readonly GroundFrame[],
  { files, windows }: Pick<Plan, "files" | "windows">,
): GroundFrame {
  const [first] = found;
  if (windows.length === 1 && first) return first;
  const middle = (of: (frame: GroundFrame) => number) => median(found.map(of));
  const lowest = (of: (frame: GroundFrame) => number) => found.map(of).reduce((a, b) => Math.min(a, b));
  return {
    origin: [0, 0],
    z_origin: lowest(({ z_origin }) => z_origin),
    slope: [middle(({ slope }) => slope[0]), middle(({ slope }) => slope[1])],
    lowest_z: lowest(({ lowest_z }) => lowest_z),
    point_count: files.reduce((sum, { points }) => sum + points, 0),
    point_spacing_m: middle((frame) => frame.point_spacing_m),
    outlier_cell_m: middle((frame) => frame.outlier_cell_m),
    outlier_layer_m: middle((frame) => frame.outlier_layer_m),
    cell_size: middle((frame) => frame.cell_size),
    roughness_m: middle((frame) => frame.roughness_m),
    typical_returns: middle((frame) => frame.typical_returns),
    search_noise_m: middle((frame) => frame.search_noise_m),
    noise_m: middle((frame) => frame.noise_m),
    middle_m: middle((frame) => frame.middle_m),
  };
}

/** Of an even number the lower one: a measure that some window has. */
function median(values: number[]): number {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
