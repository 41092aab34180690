import type {
  SessionGroundRequest,
  SessionGroundResponse,
} from "../../../shared/contract/cloud-session/segment-ground.ts";
import type { GroundRequest, GroundResponse } from "../../../shared/contract/segment-ground.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { scanColumn } from "../octree/scan-column.ts";
import { askAboutCost } from "../run/cost-warning.ts";
import { copyOut, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { fileClasses } from "./file-ground.ts";
import { octreeSeconds } from "./ground-cost.ts";
import { type CheckedGround, FINEST_RESOLUTION } from "./ground-filter.ts";
import { formerHeights } from "./ground-gaps.ts";
import { GROUND_TOOL, type GroundInput, labelGround, planGround } from "./ground-labels.ts";
import { groundNoiseEffect, noiseIsNoGround } from "./ground-noise.ts";
import { failedGround } from "./ground-report.ts";
import { publishLabels } from "./label-column.ts";
import { boundsOf, noiseTakesPart, noiseWarnings, withoutNoise } from "./noise-rows.ts";

const GROUND = { slug: "ground_class", label: "Ground Class" } as const;
/** Checks a flat request before it runs. Errors: invalid_argument, not_found. */
export async function checkGroundSource(request: GroundRequest, deps: Deps): Promise<CloudSession | null> {
  if (request.source) {
    sourceTranslation(request.source);
    return sourceSession(request.source, deps);
  }
  if (!request.points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
  if (request.method === "las_classification")
    throw new AppError(
      "invalid_argument",
      'method "las_classification" needs a `source`: inline points have no classes',
    );
  return null;
}

/**
 * Labels a flat cloud. A failure after the checks is reported in `error` of the answer, except for a cloth that is too
 * fine: 400. Labels do not depend on the frame, so the points of a source stay in the stored frame.
 */
export async function groundFlat(
  request: GroundRequest,
  filter: CheckedGround,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<GroundResponse> {
  try {
    if (session) {
      return await session.read(job, async (state) => {
        const hits = await surviving(state, job);
        const input = {
          positions: positionsColumn(state),
          ...hits,
          scans: scanColumn(state),
          classes: fileClasses(state),
        };
        return label(input, await noiseTakesPart(state, hits, job));
      });
    }
    const positions = job.adopt(pointsColumn(request.points ?? [])).native;
    return await label({ positions, skip: null, hit_count: positions.length, scans: null, classes: null });
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    const error = fromNative(raw);
    if (error.details && FINEST_RESOLUTION in error.details) throw error;
    return failedGround(error, filter);
  }
  async function label(input: GroundInput, noise: readonly string[] = []): Promise<GroundResponse> {
    const plan = await planGround(input, filter, deps, job);
    return deps.admission.run(job, GROUND_TOOL, plan.cost.bytes + 3 * input.hit_count, async () => {
      const { labels, report } = await labelGround(input, plan, deps, job);
      const values = await hitLabels(labels, input, job);
      job.checkpoint();
      const warnings = [...noise, ...report.warnings];
      return { success: true, labels: values, num_points: values.length, ...report, warnings, error: null };
    });
  }
}

/** The labels of the hits only, in row order. */
async function hitLabels(labels: ColumnRef, { skip }: GroundInput, job: Job): Promise<Uint8Array> {
  const [hits] = skip ? await job.track(() => compactColumns([labels.native], skip)) : [];
  const column = hits ? job.adopt(new ColumnRef(hits)) : labels;
  const values = new Uint8Array(column.length);
  await copyOut(column.native, values);
  return values;
}

/**
 * Labels the surviving hits of a session in the column ground_class; misses and deleted rows are 0. Works on a
 * snapshot; if an edit lands meanwhile, the run fails.
 * Errors: conflict with a cost warning before anything is computed, unless the cost is acknowledged.
 */
export function segmentGroundSession(
  session: CloudSession,
  request: SessionGroundRequest,
  filter: CheckedGround,
  deps: Deps,
  job: Job,
): Promise<SessionGroundResponse> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job);
    const clean = request.skip_noise ? await withoutNoise(base, mask, job) : mask;
    const noise_count = mask.hit_count - clean.hit_count;
    const input = { positions: positionsColumn(base), ...clean, scans: scanColumn(base), classes: fileClasses(base) };
    const plan = await planGround(input, filter, deps, job);
    const octree = request.defer_octree
      ? { seconds: 0, bytes: 0 }
      : { seconds: octreeSeconds(mask.hit_count), bytes: octreeCost(base, mask) };
    const seconds = plan.cost.seconds + octree.seconds;
    const bytes = Math.max(plan.cost.bytes, octree.bytes);
    askAboutCost(GROUND_TOOL, { seconds, bytes }, request.acknowledge_cost, deps);
    return deps.admission.run(job, GROUND_TOOL, bytes, async () => {
      const found = await labelGround(input, plan, deps, job);
      const labels = await noiseIsNoGround(found.labels, { hits: mask.skip, clean: clean.skip }, job);
      const { report } = found;
      const kept_bounds = await boundsOf(input.positions, clean, job); // a run that ends here has changed nothing
      const published = await publishLabels(session, base, { ...GROUND, labels }, { ...request, mask }, deps, job);
      const left_out = noiseWarnings(noise_count, groundNoiseEffect(noise_count, mask.hit_count));
      return {
        session_id: session.id,
        analyzed_points: mask.hit_count,
        noise_count,
        kept_bounds,
        ...report,
        num_plant: report.num_plant + noise_count,
        ...published,
        warnings: [...left_out, ...report.warnings, ...formerHeights(base), ...published.warnings],
      };
    });
  });
}
