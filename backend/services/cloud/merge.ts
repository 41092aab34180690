import type { MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/edit.ts";
import type { DType, NativeColumn } from "../../native/core/handles.ts";
import { type CloudMeta, type CloudSession, type CloudState, META_DEFAULTS } from "../../sessions/cloud-session.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { deletedCount, hasNormals, NORMAL_SLUGS } from "../../sessions/edits.ts";
import { fixedColumn, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { keepOctrees, octreeCost } from "../octree/publish.ts";
import { lostHits, makeChild, stateBytes } from "./child.ts";
import { commonDtype } from "./common-dtype.ts";
import { constantOf, mergedConstants, narrowestDtype } from "./merge-constants.ts";
import { type MergedIntensity, mergedIntensity } from "./merge-intensity.ts";
import { type MergedReturns, mergedReturns } from "./merge-returns.ts";
import { type MergedScans, mergedScans, SCAN_SLUG, scanBytes } from "./merge-scans.ts";
import {
  agreedClock,
  clockWarnings,
  filledWarnings,
  missWarnings,
  systemWarnings,
  treeWarnings,
} from "./merge-warnings.ts";

/** Fixed columns and the value that fills them for clouds without the column. */
const FILLED = { colors: 65535, intensity: 0, timestamps: 0, beam_origins: 0 } as const;

/** The sessions of a merge, each once, in the requested order. Errors: invalid_argument, not_found. */
export async function mergeInputs(ids: readonly string[], { sessions }: Deps): Promise<CloudSession[]> {
  const unique = [...new Set(ids)];
  if (unique.length < 2) {
    const named = `${unique.length} session${unique.length === 1 ? "" : "s"}`;
    throw new AppError("invalid_argument", `session_ids names ${named}: a merge needs at least two`);
  }
  return Promise.all(unique.map((id) => sessions.get(id)));
}

/** Joins the survivors of several sessions in a new one, in the frame of the first; the inputs do not change. */
export async function mergeClouds(inputs: readonly CloudSession[], deps: Deps, job: Job): Promise<MergeResponse> {
  return reading(inputs, job, async (states) => {
    const parts = states.filter((state) => deletedCount(state.undo) < positionsColumn(state).length);
    if (parts.length === 0) throw new AppError("invalid_argument", "no surviving points: every cloud is empty");
    const bytes = states.reduce(
      (sum, state) => sum + stateBytes(state) + octreeCost(state, { skip: null }),
      scanBytes(states),
    );
    return deps.admission.run(job, "Merge", bytes, async () => {
      job.stage("Joining columns", 0, 0.3);
      const shift = states[0]?.meta.world_shift ?? null;
      const scans = await mergedScans(states, (state) => shiftBetween(state, shift), job);
      const shared = [...(await treeWarnings(states, job)), ...scans.warnings, ...missWarnings(states)];
      const returns = await mergedReturns(states, job);
      const intensity = await mergedIntensity(states, job);
      const meta = await mergedMeta(states, shift, { ...scans, units: intensity.units }, job); // before the columns, which makeChild takes over at once
      const child = await makeChild(
        await mergedColumns(states, shift, { returns, scans, intensity }, job),
        meta,
        deps,
        { from: 0.3, to: 1 },
        job,
      );
      try {
        job.checkpoint(); // the last cancel point
        await deps.sessions.register(child.staged, child.meta);
      } catch (error) {
        await child.staged.discard();
        throw error;
      }
      await keepOctrees(deps);
      const warnings = [
        ...systemWarnings(states),
        ...clockWarnings(states),
        ...intensity.warnings,
        ...filledWarnings(states, mergedExtras(states), returns.fillOf, scans.instead),
        ...returns.warnings,
        ...shared,
        ...child.warnings,
      ];
      const { world_shift, source_units, source_unit_scale, miss_octree_cache_id } = child.meta;
      return {
        merged: {
          ...child.block,
          world_shift: world_shift && [...world_shift],
          source_units,
          source_unit_scale,
          has_misses: child.miss_count > 0,
          miss_octree_cache_id,
        },
        ...(warnings.length > 0 ? { warnings } : {}),
      };
    });
  });
}

/** Runs `body` while reading all sessions. */
function reading<T>(
  [first, ...rest]: readonly CloudSession[],
  job: Job,
  body: (states: CloudState[]) => Promise<T>,
): Promise<T> {
  if (!first) return body([]);
  return first.read(job, (state) => reading(rest, job, (others) => body([state, ...others])));
}

/** What the points of clouds have instead of their own values. */
interface Others {
  readonly returns: MergedReturns;
  readonly scans: MergedScans;
  readonly intensity: MergedIntensity;
}

async function mergedColumns(
  states: readonly CloudState[],
  shift: Triple | null,
  { returns: { fillOf, renumbered }, scans: { instead, numbered }, intensity }: Others,
  job: Job,
): Promise<Map<string, ColumnRef>> {
  const merged = new Map<string, ColumnRef>();
  const join = async (key: string, dtype: DType, fill: number, moved = false) => {
    const parts = states.map((state) => {
      const own = part(state, key);
      const other = key === "intensity" ? intensity.instead.get(state) : instead.get(state)?.get(key);
      const column = other?.column ?? renumbered.get(state)?.get(key) ?? own.column;
      const offset = moved && column ? shiftBetween(state, shift) : own.offset;
      return { ...own, column, offset, fill: other ? other.fill : own.fill };
    });
    merged.set(key, new ColumnRef(await job.track(() => native.concatColumns(parts, { dtype, fill }))));
  };
  try {
    await join("positions", "vec3d", 0, true);
    for (const [key, fill] of Object.entries(FILLED)) {
      const present = states.flatMap((state) => state.columns.get(key)?.native ?? []);
      if (present[0]) await join(key, dtypeOf(states, key), fill, key === "beam_origins");
    }
    const extras = mergedExtras(states).map(({ slug }) => slug);
    for (const slug of numbered ? [...extras, SCAN_SLUG] : extras)
      await join(extraKey(slug), dtypeOf(states, extraKey(slug), instead), fillOf(slug));
    for (const { key, dtype, fill } of mergedConstants(states).columns) await join(key, dtype, fill);
    return merged;
  } catch (error) {
    for (const column of merged.values()) column.release();
    throw error;
  }
}

/** The narrowest type for the values of a column in all sessions, constants included. */
function dtypeOf(states: readonly CloudState[], key: string, instead?: MergedScans["instead"]): DType {
  const own = states.flatMap((state) => {
    const other = instead?.get(state)?.get(key);
    if (other) return [other.column ? other.column.dtype : narrowestDtype([other.fill])];
    const column = state.columns.get(key);
    if (column) return [column.native.dtype];
    const constant = constantOf(state, key);
    return constant === null || key === "colors" ? [] : [narrowestDtype([constant])];
  });
  return commonDtype(own);
}

function part(state: CloudState, key: string): native.ConcatPart {
  const column: NativeColumn | null = state.columns.get(key)?.native ?? null;
  const fill = constantOf(state, key);
  return { column, rows: positionsColumn(state).length, drop: fixedColumn(state, "deleted"), offset: [0, 0, 0], fill };
}

/** Offset from a session's stored frame to the merged one: stored_out = stored + shift - shift_first. */
function shiftBetween({ meta }: CloudState, shift: Triple | null): Triple {
  const [ax, ay, az] = meta.world_shift ?? [0, 0, 0];
  const [bx, by, bz] = shift ?? [0, 0, 0];
  return [ax - bx, ay - by, az - bz];
}

/** Extras of all inputs by first appearance; normals only if every input has them, as (0, 0, 0) is not a direction. */
function mergedExtras(states: readonly CloudState[]) {
  const everywhere = states.every(hasNormals);
  const seen = new Map<string, CloudMeta["extra_dims_meta"][number]>();
  for (const { meta } of states)
    for (const extra of meta.extra_dims_meta) if (!seen.has(extra.slug)) seen.set(extra.slug, extra);
  const isNormal = (slug: string) => (NORMAL_SLUGS as readonly string[]).includes(slug);
  return [...seen.values()].filter(({ slug }) => everywhere || !isNormal(slug));
}

async function mergedMeta(
  states: readonly CloudState[],
  shift: Triple | null,
  { origins, numbered, units }: MergedScans & Pick<MergedIntensity, "units">,
  job: Job,
): Promise<CloudMeta> {
  const metas = states.map(({ meta }) => meta);
  const agreed = <K extends keyof CloudMeta>(key: K, otherwise: CloudMeta[K]): CloudMeta[K] => {
    const [first, ...rest] = metas.map((meta) => JSON.stringify(meta[key]));
    return rest.every((value) => value === first) ? (metas[0] as CloudMeta)[key] : otherwise;
  };
  let lost = 0;
  for (const state of states) lost += (await surviving(state, job)).deleted_count + lostHits(state.meta);
  const constants = mergedConstants(states);
  const varied = constants.columns.flatMap(({ extra }) => (extra ? [extra] : []));
  const scales = metas.map(({ source_scale_m }) => source_scale_m);
  return {
    extra_dims_meta: [...mergedExtras(states), ...(numbered ? [{ slug: SCAN_SLUG, label: SCAN_SLUG }] : []), ...varied],
    ...(constants.kept.length > 0 ? { constant_dimensions: constants.kept } : {}),
    world_shift: shift,
    crs_epsg: agreed("crs_epsg", null),
    crs_is_geographic: agreed("crs_is_geographic", false),
    crs_wkt: agreed("crs_wkt", null),
    crs_geotiff: agreed("crs_geotiff", null) ?? null,
    source_units: agreed("source_units", null),
    source_unit_scale: agreed("source_unit_scale", null),
    gps_time_encoding: agreedClock(states),
    ...(units ? { intensity_units: units } : {}),
    source_scale_m: finest(scales),
    source_offset_m: agreed("source_offset_m", null) ?? null,
    source_path: agreed("source_path", null),
    ascii_format: null,
    column_plan: null,
    octree_cache_id: null,
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: null,
    octree_stale_gen: 0,
    miss_octree_cache_id: null,
    miss_octree_origin: null,
    ...META_DEFAULTS,
    ...(origins.length > 0 ? { scan_origins: origins } : {}),
    normals_stale: metas.some(({ normals_stale }) => normals_stale),
    unrestorable_hit_count: lost,
  };
}

/** The finest coordinate step of all sources per axis; null if one source has none. */
function finest(scales: readonly (Triple | null)[]): Triple | null {
  const known = scales.filter((scale) => scale !== null);
  if (known.length < scales.length || known.length === 0) return null;
  const least = (axis: 0 | 1 | 2) => Math.min(...known.map((scale) => scale[axis]));
  return [least(0), least(1), least(2)];
}
