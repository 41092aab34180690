import { availableParallelism } from "node:os";
import {
  CROWN_SHAPES,
  type CrownRequest,
  type CrownShape,
  type CrownTail,
} from "../../../shared/contract/fit-crown.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_ANSWER_CROWN_TRIANGLES, MAX_CROWN_TRIANGLES, MAX_FITTED_CROWNS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { cutTreesBytes } from "../../native/cut-trees.ts";
import * as native from "../../native/fit.ts";
import { flatTreesBytes } from "../../native/flat-trees.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { positionsColumn } from "../octree/columns.ts";
import { sourceSession, sourceTranslation } from "../run/points.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { crownEntry } from "./crown-entry.ts";
import { type CrownTrees, crownTrees } from "./crown-trees.ts";
import { volumeWarnings } from "./crown-volume-warnings.ts";

/** Trees of this many points use all cores one after another; smaller ones use one core each. */
const LARGE_TREE_POINTS = 200_000;
/** Bytes per row of the trees' order, while it is made; bytes of a crown's lists. */
const ORDER_ROW_BYTES = 9;
const CROWN_LIST_BYTES = 64 << 10;

/** A request whose session and values are known to be right. */
export interface CheckedCrowns {
  readonly request: CrownRequest;
  readonly shape: CrownShape;
  readonly session: CloudSession;
  readonly unknown_keys: readonly string[];
}

/** Errors: not_found; invalid_argument for another shape, too many trees, a wrong source. */
export async function checkCrownRequest(
  request: CrownRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedCrowns> {
  const shape = CROWN_SHAPES.find((name) => name === request.shape);
  if (!shape) throw refused(`shape "${request.shape.slice(0, 60)}" is none of ${CROWN_SHAPES.join(", ")}`);
  const { alpha } = request;
  if (typeof alpha === "number") {
    if (shape !== "alpha") throw refused(`alpha ${alpha} means nothing for the shape ${shape}`);
    if (!(alpha > 0)) throw refused(`alpha ${alpha} is no radius: it must be above 0, or null for an automatic one`);
  }
  const trees = request.tree_instance_ids?.length ?? 0;
  if (trees > MAX_FITTED_CROWNS) {
    throw refused(
      `tree_instance_ids has ${trees} trees; one answer carries at most ${MAX_FITTED_CROWNS}: send them in parts`,
    );
  }
  sourceTranslation(request.source);
  return { request, shape, session: await sourceSession(request.source, deps), unknown_keys };
}

const refused = (message: string) => new AppError("invalid_argument", message);

/** One crown per tree. A failure is reported in the tail; a cancel is thrown. */
export async function fitCrowns(checked: CheckedCrowns, deps: Deps, job: Job): Promise<CrownTail> {
  const { request, shape, session, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  try {
    job.stage("Reading points", 0.05, 0.1);
    return await session.read(job, (state) => {
      const rows = positionsColumn(state).length;
      const crowns = Math.max(1, request.tree_instance_ids?.length ?? 0);
      const fitting = native.crownFitBytes(rows, shape === "alpha") + CROWN_LIST_BYTES * crowns;
      const bytes = ORDER_ROW_BYTES * rows + Math.max(fitting, cutTreesBytes(rows), flatTreesBytes(rows));
      return deps.admission.run(job, "Crown fit", bytes, async () => {
        const trees = await crownTrees(state, request, job.quiet());
        const fits = await fitAll(trees, checked, job);
        job.stage("Finalizing", 1, 1);
        const ground = await groundUnder(fits, trees, request, job);
        return answer(fits, ground, checked, [...named, ...trees.warnings]);
      });
    });
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return { success: false, error: message, code, crowns: [], ...(named.length > 0 ? { warnings: named } : {}) };
  }
}

/** A tree's fit, or why there is none. */
interface Fit {
  readonly id: number;
  readonly found: native.CrownFit | null;
  readonly error: string;
}

/** Fits in the order of the trees: large trees one by one, then the others side by side. */
async function fitAll(trees: CrownTrees, { request, shape }: CheckedCrowns, job: Job): Promise<Fit[]> {
  const total = trees.parts.size;
  const fits = new Map<number, Fit>();
  const given = { shape, strictness: request.strictness, offset: trees.offset, alpha_m: request.alpha ?? null };
  let begun = 0;
  let triangles = 0;
  const fitNext = async ([id, part]: readonly [number, { first: number; count: number }], own: Job) => {
    const place = begun;
    begun += 1;
    job.stage(`Fitting crown ${begun}/${total}`, 0.1 + (0.85 * place) / total, 0.1 + (0.85 * begun) / total);
    const left = Math.max(0, MAX_ANSWER_CROWN_TRIANGLES - triangles);
    const params = { ...given, most_triangles: Math.min(MAX_CROWN_TRIANGLES, left) };
    const one = await fitOne(id, { ...trees.rows, ...part }, params, own);
    triangles += (one.found?.crown?.triangles.length ?? 0) / 3;
    fits.set(id, one);
    job.advance(0.5);
  };
  const parts = [...trees.parts];
  const large = parts.filter(([, { count }]) => count >= LARGE_TREE_POINTS);
  for (const part of large) await fitNext(part, job.quiet());
  const small = parts.filter(([, { count }]) => count < LARGE_TREE_POINTS).values();
  let failure: { readonly error: unknown } | undefined;
  const lane = async () => {
    const own = job.quiet(1);
    for (const part of small) {
      if (failure) return; // no lane outlives the run
      await fitNext(part, own).catch((error: unknown) => {
        failure ??= { error };
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(total, availableParallelism()) }, lane));
  if (failure) throw failure.error;
  return parts.flatMap(([id]) => fits.get(id) ?? []);
}

async function fitOne(id: number, rows: native.TreeRows, params: native.CrownParams, job: Job): Promise<Fit> {
  try {
    return { id, found: await job.track(() => native.fitCrown(rows, params)), error: "" };
  } catch (raw) {
    const { code, message } = fromNative(raw);
    if (job.canceled || code !== "invalid_argument") throw raw; // a lack of memory is not the tree's fault
    return { id, found: null, error: message };
  }
}

/** Ground z below the trees that have no ground points of their own, by tree. */
async function groundUnder(fits: readonly Fit[], { rows, offset }: CrownTrees, request: CrownRequest, job: Job) {
  const { positions, skip, ground_class } = rows;
  const above = fits.flatMap(({ id, found }) =>
    found?.crown && found.ground_z === null && found.tree_box ? [{ id, box: found.tree_box }] : [],
  );
  if (request.ground_baseline !== "ground_class" || !ground_class || above.length === 0)
    return new Map<number, number>();
  const boxes = above.flatMap(({ box: { min, max } }) => [min[0], min[1], max[0], max[1]]);
  const heights = await job.quiet().track(() => native.groundUnderTrees(positions, skip, ground_class, boxes));
  return new Map(
    above.flatMap(({ id }, i) => {
      const z = heights[i] ?? null;
      return z === null ? [] : [[id, z + offset[2]] as const];
    }),
  );
}

function answer(
  fits: readonly Fit[],
  ground: ReadonlyMap<number, number>,
  { request, shape }: CheckedCrowns,
  given: readonly string[],
): CrownTail {
  const warnings = [...given];
  const crowns = fits.flatMap(({ id, found, error }) => {
    if (!found) warnings.push(`Tree ${id}: ${error}; skipped.`);
    if (found && found.unusable_count > 0) {
      warnings.push(`Tree ${id}: ${found.unusable_count} points have no finite coordinates and were left out.`);
    }
    if (found && !found.crown) {
      warnings.push(`Tree ${id}: too few crown points (${found.crown_point_count}); skipped.`);
    }
    if (!found?.crown || found.lowest_z === null) return [];
    if (!found.crown.watertight) {
      warnings.push(`Tree ${id}: some edges of the mesh join more than two triangles; a larger alpha may close it.`);
    }
    if (!found.crown.holds_enough) {
      const more = typeof request.alpha === "number" ? "; a larger alpha joins more of them" : "";
      warnings.push(
        `Tree ${id}: the alpha shape holds ${found.crown.enclosed_count} of ${found.crown_point_count} crown points${more}.`,
      );
    }
    if (found.crown.flat) {
      warnings.push(`Tree ${id}: the crown points do not differ along an axis; the ${shape} is 2e-6 m thick there.`);
    }
    const wanted = request.ground_baseline === "ground_class" ? (found.ground_z ?? ground.get(id) ?? null) : null;
    return [crownEntry(id, { shape, alpha: request.alpha ?? null }, found.crown, wanted ?? found.lowest_z)];
  });
  warnings.push(
    ...volumeWarnings(
      fits.flatMap(({ found }) => found?.crown ?? []),
      request,
    ),
  );
  const told = warnings.length > 0 ? { warnings } : {};
  if (crowns.length > 0) return { success: true, error: null, crowns, ...told };
  return { success: false, error: "No crown could be fitted", code: "invalid_argument", crowns: [], ...told };
}
