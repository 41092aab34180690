import type { PointSource } from "../../../shared/contract/point-source.ts";
import type { QsmBuildRequest, QsmParams } from "../../../shared/contract/qsm.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MESH_SOURCES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job, PhaseWeight } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { concatColumns } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { cutTreesBytes } from "../../native/cut-trees.ts";
import * as native from "../../native/qsm.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { fixedColumn, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { scanNumbers } from "../octree/scan-column.ts";
import { pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { TALLEST_TREE_M, tallPlantWarnings, unitIsStated } from "../run/unstated-units.ts";
import { cutTreesOf, cutWarnings } from "../trees/cut-trees.ts";
import { hasStamps } from "../trees/inventory.ts";
import { implausibleWarnings, twigWarnings } from "./implausible.ts";
import { lyingWoodWarnings } from "./lying-wood.ts";
import { builtModel, NO_MODEL, plausible, type QsmAnswer } from "./model.ts";
import { swayingTreeWarning } from "./swaying-trees.ts";

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
/** Bytes per point: its rows; place, scan and time, and once more where several sources are joined. */
const READ_BYTES = 8 + 2 * 40;
const ORIGIN = [0, 0, 0] as const;

interface BuildSource {
  readonly source: PointSource;
  readonly session: CloudSession;
}

const CUT_EFFECT = "The model is that of the part within, without intervals of volumes.";

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
    const bytes = READ_BYTES * rows + Math.max(cutTreesBytes(rows), native.modelTreeBytes(rows, 0, isStamped(checked)));
    return await deps.admission.run(job, "QSM build", bytes, () => built(checked, known, job));
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = code === "invalid_argument" ? message : `The model could not be built: ${message}`;
    return { ...NO_MODEL, points_used: known.points_used, warnings: [], error, code };
  }
}

async function built(checked: CheckedBuild, known: { points_used: number }, job: Job): Promise<QsmAnswer> {
  const { warnings: said, ...read } = await readPoints(checked, job);
  known.points_used = read.positions.length;
  job.stage("Extracting skeleton", 0.15, 1, PHASES);
  const { align_scans } = checked.request;
  const all = {
    skip: null,
    order: null,
    first: 0,
    count: 0,
    offset: [0, 0, 0],
    max_points: 0,
    align_scans,
    height_above_ground: null,
    leafless: false,
  } as const;
  const found = await job.track(() => native.modelTree({ ...all, ...read }, paramsOf(checked.request)));
  const { model, runs } = await builtModel(found.qsm);
  known.points_used = found.points_used;
  if (!found.metrics) throw new AppError("invalid_argument", noModel(found));
  job.stage("Done", 1, 1);
  const { points_used, view_fit, enlarged_by } = found;
  const unit_is_stated = checked.sources.every(({ session }) => unitIsStated(session.state.meta));
  const { tree_height_m } = found.metrics;
  const doubts = [
    ...implausibleWarnings(read.positions.length, found.metrics, { unit_is_stated }),
    ...lyingWoodWarnings(runs),
  ];
  const tall = tree_height_m > TALLEST_TREE_M ? [] : tallPlantWarnings([tree_height_m], unit_is_stated);
  const cut = cutWarnings([...(await cutTreesOf(read.positions, null, null, job.quiet())).values()], 1, CUT_EFFECT);
  const metrics = plausible(found.metrics, [...doubts, ...cut]);
  const twigs = twigWarnings(checked.request.twig_radius_mm);
  const warnings = [...said, ...twigs, ...found.warnings, ...swayingTreeWarning(view_fit), ...cut, ...doubts, ...tall];
  return { success: true, ...model, metrics, view_fit, enlarged_by, points_used, warnings, error: null };
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

/** All finite points of a request, true world, each source thinned by its own max_points; what each was measured with. */
async function readPoints({ request, sources }: CheckedBuild, job: Job) {
  job.stage("Reading points", 0.05, 0.15);
  const quiet = job.quiet();
  const parts: native.ScanPoints[] = [];
  const noise: string[] = [];
  const stamped = isStamped({ request, sources });
  const add = async (rows: Omit<native.ScanRows, "source" | "stamped">) => {
    const found = await quiet.track(() => native.scanPoints({ ...rows, source: parts.length, stamped }));
    const own = (column: NativeColumn | null) => column && job.adopt(new ColumnRef(column)).native;
    parts.push({
      ...found,
      points: own(found.points) as NativeColumn,
      scan_index: own(found.scan_index),
      time_s: own(found.time_s),
    });
  };
  for (const { source, session } of sources) {
    await session.read(job, async (state) => {
      const hits = await surviving(state, quiet);
      noise.push(...(await noiseTakesPart(state, hits, quiet)));
      const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
      const [tx, ty, tz] = sourceTranslation(source);
      await add({
        positions: positionsColumn(state),
        skip: hits.skip,
        scan_index: scanNumbers(state)?.values ?? null,
        time_s: fixedColumn(state, "timestamps"),
        shift: [sx + tx, sy + ty, sz + tz],
        max_points: Math.max(0, source.max_points ?? 0),
      });
    });
  }
  const inline = inlineOf(request);
  if (inline.length > 0 || parts.length === 0) {
    const positions = job.adopt(pointsColumn(inline)).native;
    await add({ positions, skip: null, scan_index: null, time_s: null, shift: [0, 0, 0], max_points: 0 });
  }
  const positions = await joinedColumn(parts, "points", job);
  const scan_index = stamped ? await joinedColumn(parts, "scan_index", job) : null;
  const time_s = stamped ? await joinedColumn(parts, "time_s", job) : null;
  const unusable = parts.reduce((sum, { unusable_count }) => sum + unusable_count, 0);
  const warnings = [...noise, ...(unusable > 0 ? [`${unusable} points are not finite and were left out.`] : [])];
  return { positions, scan_index, time_s, warnings };
}

/** Whether it is known what was measured together: of several sources each is a scan. */
function isStamped({ request, sources }: CheckedBuild): boolean {
  const count = sources.length + (inlineOf(request).length > 0 ? 1 : 0);
  return count > 1 || sources.some(({ session }) => hasStamps(session.state, scanNumbers(session.state)));
}

/** A column of the parts, one after the other, as one that the run owns. */
async function joinedColumn(
  parts: readonly native.ScanPoints[],
  of: "points" | "scan_index" | "time_s",
  job: Job,
): Promise<NativeColumn> {
  const columns = parts.map((part) => part[of] as NativeColumn);
  const [first] = columns as [NativeColumn];
  if (columns.length === 1) return first;
  const joined = columns.map((column) => ({ column, rows: column.length, drop: null, offset: ORIGIN, fill: null }));
  return job.adopt(new ColumnRef(await job.quiet().track(() => concatColumns(joined, { dtype: first.dtype, fill: 0 }))))
    .native;
}
