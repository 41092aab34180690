import type { IcpSuccess, IcpTail, IcpTuning } from "../../../shared/contract/icp.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/registration.ts";
import { opDevice } from "../run/device.ts";
import { icpWarnings, needsSearch, qualityWarning, rmseRatio, startedAnew } from "./icp-warnings.ts";
import { unlikeSizes } from "./sizes.ts";

/** Iterations between two reports of progress; contract terrain section 3.2. */
const BATCH = 20;
const PREPARED = 0.15;
/** After the search for a start. */
const SEARCHED = 0.6;
const SEARCH_PHASES = [
  { name: "Estimating normals", weight: 2 },
  { name: "Thinning points", weight: 1 },
  { name: "Describing surfaces", weight: 1 },
  { name: "Matching surfaces", weight: 3 },
  { name: "Searching for a consensus", weight: 1 },
  { name: "Comparing poses", weight: 3 },
];
const ITERATED = 0.95;
/** After the search that checks the pose, and after the iterations from the pose that it found. */
const CHECKED = 0.97;
const ITERATED_AGAIN = 0.99;

/** A side of a registration, with the warnings of its reading. */
export interface Side extends native.IcpSide {
  readonly warnings: readonly string[];
}

export interface Sides {
  readonly fixed: Side;
  readonly moving: Side;
}

/** Errors whose text the contract states without a prefix. */
export class MissingInput extends AppError {
  constructor(message: string) {
    super("invalid_argument", message);
  }
}

/** Runs `body`; a failure becomes a tail whose error begins with `failed`, unless it is a MissingInput. A cancel is thrown. */
export async function icpTail(
  failed: string,
  named: readonly string[],
  job: Job,
  body: () => Promise<IcpSuccess>,
): Promise<IcpTail> {
  try {
    const answer = await body();
    const warnings = [...named, ...(answer.warnings ?? [])];
    return { ...answer, ...(warnings.length > 0 ? { warnings } : {}) };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = raw instanceof MissingInput ? message : failed + message;
    return { success: false, error, code, ...(named.length > 0 ? { warnings: [...named] } : {}) };
  }
}

/** The rigid start of a request; null = none. Errors: invalid_argument. */
export function rigidStart(matrix: readonly number[] | null | undefined): readonly number[] | null {
  if (!matrix) return null;
  const refused = (why: string) => new AppError("invalid_argument", `init_transform ${why}`);
  if (matrix.length !== 16) throw refused(`must have 16 numbers, not ${matrix.length}`);
  if (!matrix.every(Number.isFinite)) throw refused("must have finite numbers");
  const at = (row: number, column: number) => matrix[4 * row + column] ?? Number.NaN;
  if (at(3, 0) !== 0 || at(3, 1) !== 0 || at(3, 2) !== 0 || at(3, 3) !== 1) {
    throw refused("must end with the row 0, 0, 0, 1: it is row-major");
  }
  const axes = [0, 1, 2];
  const dots = axes.flatMap((i) =>
    axes.map((j) => axes.reduce((sum, k) => sum + at(i, k) * at(j, k), 0) - (i === j ? 1 : 0)),
  );
  const minor = (a: number, b: number) => at(1, a) * at(2, b) - at(1, b) * at(2, a);
  const determinant = at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1);
  // Numbers of float32 or six digits pass; the rotation is then made exact.
  if (dots.some((off) => Math.abs(off) > 1e-3) || determinant < 0) {
    throw refused("is not rigid: it must turn and shift, without scaling, shear or mirror");
  }
  return matrix;
}

/** Registers the moving onto the fixed side: admission, preparation, batches, result. */
export function registered(
  { fixed, moving }: Sides,
  tuning: IcpTuning,
  start: readonly number[] | null,
  deps: Deps,
  job: Job,
): Promise<IcpSuccess> {
  const length = Math.min(BATCH, tuning.max_iterations);
  const batches = Math.max(1, Math.floor(tuning.max_iterations / BATCH));
  const { method, rmse_threshold } = tuning;
  const initial = tuning.initial ?? "centroid";
  const max_correspondence_distance = tuning.max_correspondence_distance ?? null;
  const bytes = native.icpBytes(fixed.positions.length, moving.positions.length, "auto"); // the check searches
  return deps.admission.run(job, "ICP registration", bytes, async () => {
    const params = {
      method,
      initial,
      start,
      max_correspondence_distance,
      rmse_threshold,
      max_iterations: batches * length,
    };
    const device = await opDevice(deps);
    const begun = initial === "auto" ? SEARCHED : PREPARED;
    job.stage("Estimating normals", PREPARED, begun, initial === "auto" ? SEARCH_PHASES : []);
    const registration = await job.track(() => native.icpPrepare(fixed, moving, params));
    job.adopt({ release: () => native.icpRelease(registration) });
    let iterations = 0;
    const iterate = async (first: string, from: number, to: number) => {
      const after = (batch: number) => from + ((to - from) * batch) / batches;
      let label = first;
      let done = 0;
      for (let finished = false; !finished; ) {
        job.stage(label, after(done), after(done + 1));
        const state = await job.track(() => native.icpAdvance(registration, length, device));
        done += 1;
        finished = state.finished || done === batches;
        label = `ICP iteration ${state.iterations} (RMSE ${Number(state.rmse.toPrecision(4))})`;
        job.stage(label, after(done), after(done));
      }
      iterations += done * length;
      return job.quiet().track(() => native.icpResult(registration, device));
    };
    const checked = async (reached: native.IcpPose, from: number, to: number) => {
      if (!needsSearch(reached)) return null;
      job.stage("Searching for other poses", from, to, SEARCH_PHASES.slice(1));
      return job.track(() => native.icpCheck(registration, device));
    };
    let pose = await iterate("Estimating normals", begun, ITERATED);
    let check = await checked(pose, ITERATED, CHECKED);
    const given = [...fixed.warnings, ...moving.warnings];
    // Whoever names a start or a distance keeps the near pose, and is told.
    const is_free = !start && !tuning.initial && max_correspondence_distance === null;
    const is_firm = check?.verdict === "contradicted" && (check.found.outcome === "found" || check.is_as_placed);
    if (is_free && check && is_firm) {
      given.push(startedAnew(check));
      await job.quiet().track(() => native.icpTakeFound(registration, device));
      pose = await iterate("Searching for other poses", CHECKED, ITERATED_AGAIN);
      check = await checked(pose, ITERATED_AGAIN, 1);
    }
    job.stage("Done", 1, 1);
    return report(pose, check, method, iterations, given);
  });
}

function poseCheck(check: native.IcpCheck | null): IcpSuccess["pose_check"] {
  if (!check) return null;
  const { verdict, turn_rad, shift_m, found } = check;
  const turn_deg = (turn_rad * 180) / Math.PI;
  return { verdict, turn_deg, shift_m, agreement: found.agreement, rival_agreement: found.rival_agreement };
}

function globalAlignment(found: native.NativeGlobalAlignment | null): IcpSuccess["global_alignment"] {
  if (!found) return null;
  const { rival_turn_rad, ...rest } = found;
  return { ...rest, rival_turn_deg: (rival_turn_rad * 180) / Math.PI };
}

function report(
  pose: native.IcpPose,
  check: native.IcpCheck | null,
  method: IcpTuning["method"],
  iterations: number,
  given: readonly string[],
): IcpSuccess {
  const { matrix, fitness, rmse, conditioning } = pose;
  const at = (i: number) => matrix[i] ?? Number.NaN;
  const warnings = [...given, ...icpWarnings(pose, check), ...pose.warnings];
  const rmse_ratio = rmseRatio(pose);
  const doubt = qualityWarning(pose, rmse_ratio, check);
  const units = unlikeSizes(
    { name: "source", size: pose.moving_diagonal },
    { name: "target", size: pose.robust_diagonal },
  );
  return {
    success: true,
    error: null,
    transformation_matrix: [...matrix],
    translation: [at(3), at(7), at(11)],
    fitness,
    rmse,
    iterations,
    rmse_ratio,
    quality_warning: doubt === null || units === "" ? doubt : `${doubt} ${units}`,
    pose_check: poseCheck(check),
    method,
    start: pose.start,
    global_alignment: globalAlignment(pose.global_alignment),
    iterations_done: pose.history.length,
    converged: pose.converged,
    kept_start: pose.kept_start,
    correspondence_limit: pose.max_correspondence_distance,
    final_limit: pose.final_limit_m,
    overlap: pose.final_fitness,
    overlap_rmse: pose.final_rmse,
    conditioning,
    free_motion: { turn: [...pose.free_turn], shift: [...pose.free_shift] },
    surface_agreement: {
      agreement: pose.surface_agreement,
      covered: pose.surface_covered,
      place_count: pose.surface_places,
      flat_count: pose.surface_flats,
    },
    history: pose.history.map((iteration) => ({ ...iteration })),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}
