import type { SessionDenoiseRequest, SessionDenoiseResponse } from "../../../shared/contract/cloud-session/denoise.ts";
import type { DenoiseRequest, DenoiseResponse, NoiseReport } from "../../../shared/contract/pointcloud-denoise.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_DENOISE_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/classify/denoise.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { beamOrigins } from "../octree/beam-origins.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { opDevice } from "../run/device.ts";
import { copyOut, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { publishLabels } from "./label-column.ts";
import { type CheckedCriterion, measureSpacing, noiseParams } from "./noise-criterion.ts";
import { noiseReport } from "./noise-report.ts";
import { boundsWithoutNoise } from "./noise-rows.ts";

/** So many points are sorted into a tree to measure their spacing (ops/cloud/point_spacing.h: 64 a sample). */
const TREE_SPACING_POINTS = 64 * 200_000;
const NOISE = { slug: "noise_class", label: "Noise Class" } as const;

/** Points to label: the rows that `skip` does not mark. */
interface NoiseInput {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  readonly previously_denoised: boolean;
  /** The session that the points are of; null for inline points, whose beams are not known. */
  readonly state: CloudState | null;
}

interface NoiseOutcome {
  readonly labels: ColumnRef;
  readonly report: NoiseReport;
}

/** Labels hits as clean or noise; with `scatter`, one label per row of the cloud. The run owns the column. */
async function labelNoise(
  input: NoiseInput,
  criterion: CheckedCriterion,
  scatter: boolean,
  deps: Deps,
  job: Job,
): Promise<NoiseOutcome> {
  const start = performance.now();
  const { positions, skip } = input;
  const device = await opDevice(deps);
  const spacing = await measureSpacing(input, criterion, device, job);
  const beams = criterion.method === "auto" && input.state ? await beamOrigins(input.state, job) : null;
  const params = noiseParams(criterion, spacing, tilePoints(criterion, input.hit_count, deps.config), beams);
  const found = await job.track(() => native.labelNoise(positions, skip, params, scatter, device));
  const labels = job.adopt(new ColumnRef(found.noise_class));
  const elapsed_s = (performance.now() - start) / 1000;
  const finite = found.analyzed_count - found.non_finite_count;
  if (finite < MIN_DENOISE_POINTS) throw tooFew(finite);
  return { labels, report: noiseReport({ criterion, found, params, spacing, elapsed_s, ...input }) };
}

const tooFew = (points: number) =>
  new AppError(
    "invalid_argument",
    `Need at least ${MIN_DENOISE_POINTS} points for noise detection, but there are ${points}; use a larger part of the cloud`,
  );

/** Points per tile; 0 = no tiles. */
const tilePoints = ({ method }: CheckedCriterion, points: number, config: Deps["config"]): number =>
  (method === "ror" || method === "voxel_count") && points >= config.denoiseTileMinPoints
    ? config.denoiseTileTargetPoints
    : 0;

/** Bytes needed besides the cloud: gathered hits, tree or cells (spatial/kd_tree.h, ops/denoise), labels. */
function denoiseBytes(
  criterion: CheckedCriterion,
  { positions, skip, hit_count, state }: NoiseInput,
  config: Deps["config"],
): number {
  const tile = tilePoints(criterion, hit_count, config);
  const gathered = (skip ? 28 * hit_count : 0) + 2 * positions.length;
  const perPoint = { ror: 44, voxel_count: 30, sor: 52, auto: 74 }[criterion.method];
  const spacing = (hit_count <= TREE_SPACING_POINTS ? 42 : 3) * hit_count + 40_000_000;
  const lists = criterion.method === "auto" ? Math.min(84 * hit_count, 26_000_000) : 0; // of neighbours
  const scans = criterion.method === "auto" && state?.meta.scan_origins ? 24 * positions.length : 0; // their origins
  const work =
    scans +
    lists +
    (tile > 0 ? 10 * hit_count + (perPoint + 25) * Math.min(2 * tile, hit_count) : perPoint * hit_count);
  return gathered + Math.max(work, spacing);
}

/**
 * Labels a flat cloud. A failure after the checks is reported in `error` of the answer. Labels do not depend on the
 * frame, so the points of a source stay in the stored frame.
 */
export async function denoiseFlat(
  request: DenoiseRequest,
  criterion: CheckedCriterion,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<DenoiseResponse> {
  try {
    if (session) {
      return await session.read(job, async (state) => {
        const mask = await surviving(state, job);
        return label({ positions: positionsColumn(state), ...mask, state });
      });
    }
    const positions = job.adopt(pointsColumn(request.points ?? [])).native;
    return await label({ positions, skip: null, hit_count: positions.length, state: null });
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    return failedFlat(raw, criterion);
  }
  async function label(points: Omit<NoiseInput, "previously_denoised">): Promise<DenoiseResponse> {
    if (points.hit_count < MIN_DENOISE_POINTS) throw tooFew(points.hit_count);
    const input = { ...points, previously_denoised: request.previously_denoised };
    const bytes = denoiseBytes(criterion, input, deps.config) + 2 * input.hit_count;
    return deps.admission.run(job, "Denoise", bytes, async () => {
      const { labels, report } = await labelNoise(input, criterion, false, deps, job);
      const values = new Uint8Array(labels.length);
      await copyOut(labels.native, values);
      job.checkpoint();
      return { success: true, labels: values, num_points: values.length, ...report, error: null };
    });
  }
}

/** Checks a flat request before it runs. Errors: invalid_argument, not_found. */
export async function checkDenoiseSource(request: DenoiseRequest, deps: Deps): Promise<CloudSession | null> {
  if (request.source) {
    sourceTranslation(request.source);
    return sourceSession(request.source, deps);
  }
  if (!request.points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
  return null;
}

function failedFlat(raw: unknown, { method }: CheckedCriterion): DenoiseResponse {
  const { code, message } = fromNative(raw);
  return {
    success: false,
    labels: [],
    num_points: 0,
    flagged: 0,
    kept: 0,
    fraction: 0,
    non_finite: 0,
    over_removal: false,
    warnings: [],
    method,
    params_used: {},
    spacing_m: null,
    spacing_p95_m: null,
    elapsed_s: 0,
    stats: {},
    error: message,
    code,
  };
}

/**
 * Labels the surviving hits of a session in the column noise_class. Misses are labelled clean, so that filtering for
 * clean points keeps them. Nothing is deleted. Works on a snapshot; if an edit lands meanwhile, the run fails.
 */
export function denoiseSession(
  session: CloudSession,
  request: SessionDenoiseRequest,
  criterion: CheckedCriterion,
  deps: Deps,
  job: Job,
): Promise<SessionDenoiseResponse> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job);
    if (mask.hit_count < MIN_DENOISE_POINTS) throw tooFew(mask.hit_count);
    const previously_denoised = base.columns.has(extraKey(NOISE.slug));
    const input = { positions: positionsColumn(base), ...mask, previously_denoised, state: base };
    const octreeBytes = request.defer_octree ? 0 : octreeCost(base, mask);
    const bytes = Math.max(denoiseBytes(criterion, input, deps.config), octreeBytes);
    return deps.admission.run(job, "Denoise", bytes, async () => {
      const { labels, report } = await labelNoise(input, criterion, true, deps, job);
      const kept_bounds = await boundsWithoutNoise(labels.native, input.positions, mask, job);
      const answer = { session_id: session.id, analyzed_points: mask.hit_count, kept_bounds, ...report };
      const published = await publishLabels(session, base, { ...NOISE, labels }, { ...request, mask }, deps, job);
      return { ...answer, ...published, warnings: [...answer.warnings, ...published.warnings] };
    });
  });
}
