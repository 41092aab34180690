import type { PointSource } from "../../../shared/contract/point-source.ts";
import type { QsmBuildRequest, QsmParams } from "../../../shared/contract/qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MESH_SOURCES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job, PhaseWeight } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/qsm.ts";
import { meshPoints, stridePoints } from "../../native/surfaces.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { pointsColumn, sourceSession, sourceStride, sourceTranslation } from "../run/points.ts";
import { implausibleWarnings } from "./implausible.ts";
import { modelOf, NO_MODEL, plausible, type QsmAnswer } from "./model.ts";

/** Stages of a build after its points are read, with the fraction at which each begins. */
export const BUILD_STAGES = [
  { name: "Extracting skeleton", from: 0.15, to: 0.45 },
  { name: "Segmenting shoots", from: 0.45, to: 0.65 },
  { name: "Fitting cylinders", from: 0.65, to: 0.85 },
  { name: "Correcting radii", from: 0.85, to: 0.92 },
  { name: "Resolving shoot ranks", from: 0.92, to: 0.95 },
  { name: "Computing metrics", from: 0.95, to: 1 },
] as const;
const PHASES: readonly PhaseWeight[] = BUILD_STAGES.map(({ name, from, to }) => ({ name, weight: to - from }));
/** Bytes per point: read, and once more where several sources are joined. */
const READ_BYTES = 2 * 24;

interface BuildSource {
  readonly source: PointSource;
  readonly session: CloudSession;
}

/** A request whose sessions exist. */
export interface CheckedBuild {
  readonly request: QsmBuildRequest;
  readonly sources: readonly BuildSource[];
}

/** Errors: not_found; invalid_argument for sources. */
export async function checkQsmBuild(request: QsmBuildRequest, deps: Deps): Promise<CheckedBuild> {
  const { source, sources } = request;
  const given = sources && sources.length > 0 ? sources : source ? [source] : [];
  if (given.length > MAX_MESH_SOURCES)
    throw new AppError("invalid_argument", `sources has ${given.length} entries, more than ${MAX_MESH_SOURCES}`);
  const found: BuildSource[] = [];
  for (const one of given) {
    sourceTranslation(one);
    found.push({ source: one, session: await sourceSession(one, deps) });
  }
  return { request, sources: found };
}

/** The inline points of a request: beside `sources`, or alone. */
const inlineOf = ({ points, source, sources }: QsmBuildRequest) =>
  (sources && sources.length > 0) || !source ? (points ?? []) : [];

/** Model of one tree. A failure is reported in the tail; a cancel is thrown. */
export async function buildModel(checked: CheckedBuild, deps: Deps, job: Job): Promise<QsmAnswer> {
  const { request, sources } = checked;
  const known = { points_used: 0 };
  try {
    const rows = sources.reduce(
      (sum, { session }) => sum + positionsColumn(session.state).length,
      inlineOf(request).length,
    );
    const bytes = READ_BYTES * rows + native.modelTreeBytes(rows, 0, false);
    return await deps.admission.run(job, "QSM build", bytes, () => built(checked, known, job));
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = code === "invalid_argument" ? message : `The model could not be built: ${message}`;
    return { ...NO_MODEL, points_used: known.points_used, warnings: [], error, code };
  }
}

async function built(checked: CheckedBuild, known: { points_used: number }, job: Job): Promise<QsmAnswer> {
  const read = await readPoints(checked, job);
  const positions = read.points;
  known.points_used = positions.length;
  job.stage("Extracting skeleton", 0.15, 1, PHASES);
  const all = { skip: null, order: null, first: 0, count: 0, offset: [0, 0, 0], max_points: 0 } as const;
  const rows = { ...all, positions, scan_index: null, time_s: null, align_scans: false };
  const found = await job.track(() => native.modelTree(rows, paramsOf(checked.request)));
  const model = await modelOf(found.qsm);
  const warnings = [...read.warnings, ...found.warnings];
  known.points_used = found.points_used;
  if (!found.metrics) throw new AppError("invalid_argument", noModel(found));
  job.stage("Done", 1, 1);
  const { points_used, metrics } = found;
  const doubts = implausibleWarnings(positions.length, metrics);
  warnings.push(...doubts);
  return { success: true, ...model, metrics: plausible(metrics, doubts), points_used, warnings, error: null };
}

/** Why a build found no cylinder. */
export function noModel({ points_used, points_reached, skeleton_nodes }: native.TreeModel): string {
  const skeleton = skeleton_nodes === 1 ? "a skeleton of one node" : "no skeleton";
  return `The points give ${skeleton}: ${points_reached} of ${points_used} points are connected with the base. The cloud is too sparse or disconnected.`;
}

/** The parameters of a request alone. */
export const paramsOf = (request: QsmParams): QsmParams => ({
  twig_radius_mm: request.twig_radius_mm,
  axis_termination: request.axis_termination,
  fork_symmetry: request.fork_symmetry,
  w_growthlength: request.w_growthlength,
  w_area: request.w_area,
  w_colinear: request.w_colinear,
  radius_model: request.radius_model,
});

/** All finite points of a request, true world; each source thinned by its own max_points. */
async function readPoints({ request, sources }: CheckedBuild, job: Job) {
  job.stage("Reading points", 0.05, 0.15);
  const quiet = job.quiet();
  const parts: NativeColumn[] = [];
  const noise: string[] = [];
  let unusable = 0;
  const add = async (positions: NativeColumn, skip: NativeColumn | null, shift: Triple, most: number | null) => {
    const read = await quiet.track(() => meshPoints(positions, skip, { shift, crop: null, origins: null }));
    const part = job.adopt(new ColumnRef(read.points)).native;
    const stride = sourceStride(part.length, most);
    const thinned = stride > 1 ? await quiet.track(() => stridePoints([part], stride)) : null;
    parts.push(thinned ? job.adopt(new ColumnRef(thinned)).native : part);
    unusable += read.unusable_count;
  };
  for (const { source, session } of sources) {
    await session.read(job, async (state) => {
      const hits = await surviving(state, quiet);
      noise.push(...(await noiseTakesPart(state, hits, quiet)));
      const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
      const [tx, ty, tz] = sourceTranslation(source);
      await add(positionsColumn(state), hits.skip, [sx + tx, sy + ty, sz + tz], source.max_points ?? null);
    });
  }
  const inline = inlineOf(request);
  if (inline.length > 0 || parts.length === 0) await add(job.adopt(pointsColumn(inline)).native, null, [0, 0, 0], null);
  const [first] = parts;
  const points =
    parts.length === 1 && first
      ? first
      : job.adopt(new ColumnRef(await quiet.track(() => stridePoints(parts, 1)))).native;
  const warnings = [...noise, ...(unusable > 0 ? [`${unusable} points are not finite and were left out.`] : [])];
  return { points, warnings };
}
