import type { PointSource } from "../../../shared/contract/point-source.ts";
import type { WoodRequest } from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_WOOD_SOURCES } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { toF64 } from "../../native/cloud/cloud.ts";
import { type ConcatPart, classCounts, concatColumns, selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unclassifiedWarnings } from "../classify/ground-gaps.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { numbersColumn, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { unitIsStated } from "../run/unstated-units.ts";

/** Points to tell apart. The run owns the columns. */
export interface WoodInput {
  readonly positions: NativeColumn;
  /** u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  /** Per row, any scalar type; null = none. */
  readonly reflectance: NativeColumn | null;
  /** Hits labelled as ground; null = no labels came with the points. */
  readonly ground_count: number | null;
  /** Number of hits of each source. */
  readonly source_counts: readonly number[];
  /** False if nothing says that the coordinates are metres. */
  readonly unit_is_stated: boolean;
  /** Hits that their session labels as noise. */
  readonly noise: readonly string[];
}

/** A session of a flat request, with its descriptor. */
export interface WoodSource {
  readonly source: PointSource;
  readonly session: CloudSession;
}

const GROUND_SLUG = "ground_class";
const GROUND_LABEL = 1;

/** The sessions of a flat request; none for inline points. Errors: invalid_argument, not_found. */
export async function woodSources(request: WoodRequest, deps: Deps): Promise<WoodSource[]> {
  const { points, source, sources, reflectance } = request;
  const given = sources && sources.length > 0 ? sources : source ? [source] : [];
  if (given.length > MAX_WOOD_SOURCES)
    throw new AppError("invalid_argument", `sources has ${given.length} entries, more than ${MAX_WOOD_SOURCES}`);
  if (given.length === 0) {
    if (!points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
    if (reflectance && reflectance.length !== points.length)
      throw new AppError(
        "invalid_argument",
        `reflectance has ${reflectance.length} values for ${points.length} points`,
      );
  }
  const found: WoodSource[] = [];
  for (const one of given) {
    sourceTranslation(one);
    found.push({ source: one, session: await sourceSession(one, deps) });
  }
  return found;
}

export function inlineWood({ points, reflectance }: WoodRequest, job: Job): WoodInput {
  const positions = job.adopt(pointsColumn(points ?? [])).native;
  return {
    positions,
    skip: null,
    hit_count: positions.length,
    reflectance: reflectance ? job.adopt(numbersColumn(reflectance)).native : null,
    ground_count: null,
    source_counts: [positions.length],
    unit_is_stated: true,
    noise: [],
  };
}

/** Warns of a column that the request names and the cloud lacks: another one, or none, takes its place. */
export function missingReflectance({ meta }: CloudState, slug: string | null): string[] {
  const wanted = slug?.toLowerCase() ?? "";
  if (wanted === "" || meta.extra_dims_meta.some((extra) => extra.slug.toLowerCase() === wanted)) return [];
  if (wanted === "intensity") return []; // that of the points
  return [`The cloud has no column "${slug?.slice(0, 60)}" (scalar_slug); it was ignored.`];
}

/** The column of a session that holds the reflectance; null if it has none. */
export function reflectanceColumn(state: CloudState, slug: string | null): NativeColumn | null {
  const bySlug = (wanted: string) => {
    const entry = state.meta.extra_dims_meta.find((extra) => extra.slug.toLowerCase() === wanted.toLowerCase());
    return entry ? optionalExtra(state, entry.slug) : null;
  };
  return (
    (slug ? bySlug(slug) : null) ?? bySlug("reflectance") ?? bySlug("intensity") ?? fixedColumn(state, "intensity")
  );
}

/**
 * The hits of a session that are not deleted. `skipGround`: nor labelled as ground.
 * Errors: invalid_argument if there are no ground labels to skip.
 */
export async function sessionWood(state: CloudState, slug: string | null, job: Job, skipGround = false) {
  const mask = await surviving(state, job);
  if (skipGround) return { mask, input: await withoutGround(state, mask, slug, job) };
  const labels = optionalExtra(state, GROUND_SLUG);
  const classes = labels && (await job.track(() => classCounts(labels, mask.skip)));
  const input: WoodInput = {
    positions: positionsColumn(state),
    skip: mask.skip,
    hit_count: mask.hit_count,
    reflectance: reflectanceColumn(state, slug),
    ground_count: classes && (classes.counts[classes.values.indexOf(GROUND_LABEL)] ?? 0),
    source_counts: [mask.hit_count],
    unit_is_stated: unitIsStated(state.meta),
    noise: await noiseTakesPart(state, mask, job.quiet()),
  };
  return { mask, input };
}

/** Warns of hits that skip_ground cannot leave out. */
export const unclassifiedGround = (state: CloudState, skip: NativeColumn | null, job: Job): Promise<string[]> =>
  unclassifiedWarnings(optionalExtra(state, GROUND_SLUG), skip, "Ground among them is kept.", job);

async function withoutGround(
  state: CloudState,
  mask: { readonly skip: NativeColumn | null },
  slug: string | null,
  job: Job,
): Promise<WoodInput> {
  const labels = optionalExtra(state, GROUND_SLUG);
  if (!labels)
    throw new AppError(
      "invalid_argument",
      "skip_ground needs column ground_class, which the session does not have; segment the ground first",
    );
  const positions = positionsColumn(state);
  const filters = [{ column: labels, min: -Infinity, max: Infinity, values: [GROUND_LABEL] }];
  const ground = await job.track(() => selectRows({ positions, regions: [], filters }));
  const terms = [job.adopt(new ColumnRef(ground)).native, ...(mask.skip ? [mask.skip] : [])];
  const left = await job.track(() =>
    combineMasks(
      terms.map((one) => ({ mask: one, invert: false })),
      "or",
    ),
  );
  const hits = { skip: job.adopt(new ColumnRef(left.mask)).native, hit_count: positions.length - left.count };
  return {
    positions,
    ...hits,
    reflectance: reflectanceColumn(state, slug),
    ground_count: 0,
    source_counts: [hits.hit_count],
    unit_is_stated: unitIsStated(state.meta),
    noise: await noiseTakesPart(state, hits, job.quiet()),
  };
}

/** The hits of several sessions as one cloud; reflectance only if each has one. */
export async function joinedWood(sources: readonly WoodSource[], job: Job): Promise<WoodInput> {
  const joined: { places: NativeColumn; values: NativeColumn | null; count: number; ground: number | null }[] = [];
  const noise: string[] = [];
  for (const { source, session } of sources) {
    await session.read(job, async (state) => {
      const { input } = await sessionWood(state, null, job.quiet());
      const { positions, reflectance, skip: drop, hit_count: count, ground_count: ground } = input;
      const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
      const [tx, ty, tz] = sourceTranslation(source);
      const part = { rows: positions.length, drop, fill: null };
      const places = await concat([{ ...part, column: positions, offset: [sx + tx, sy + ty, sz + tz] }], "vec3d", job);
      const numbers = reflectance && job.adopt(new ColumnRef(await job.track(() => toF64(reflectance)))).native;
      const values = numbers && (await concat([{ ...part, column: numbers, offset: [0, 0, 0] }], "f64", job));
      joined.push({ places, values, count, ground });
      noise.push(...input.noise);
    });
  }
  const whole = (column: NativeColumn): ConcatPart => ({
    column,
    rows: column.length,
    drop: null,
    offset: [0, 0, 0],
    fill: null,
  });
  const values = joined.flatMap((one) => (one.values ? [whole(one.values)] : []));
  const positions = await concat(
    joined.map(({ places }) => whole(places)),
    "vec3d",
    job,
  );
  const known = joined.every(({ ground }) => ground !== null);
  return {
    positions,
    skip: null,
    hit_count: positions.length,
    reflectance: values.length === joined.length ? await concat(values, "f64", job) : null,
    ground_count: known ? joined.reduce((sum, { ground }) => sum + (ground ?? 0), 0) : null,
    source_counts: joined.map(({ count }) => count),
    unit_is_stated: sources.every(({ session }) => unitIsStated(session.state.meta)),
    noise,
  };
}

async function concat(parts: readonly ConcatPart[], dtype: "vec3d" | "f64", job: Job): Promise<NativeColumn> {
  return job.adopt(new ColumnRef(await job.track(() => concatColumns(parts, { dtype, fill: 0 })))).native;
}
