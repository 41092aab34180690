import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { Point } from "../../../shared/contract/geometry.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Progress } from "../progress.ts";
import { type CropBox, type EditedCloud, type FilterRule, filterText } from "../report/findings.ts";
import { type AnalyzeOptions, type InputFile, legendOf, type ReadingOptions } from "./options.ts";
import type { AnalyzeClient } from "./run.ts";
import { type Look, lookAt } from "./source-units.ts";
import { turnedUp } from "./up.ts";

interface Editing {
  readonly options: AnalyzeOptions;
  readonly merge: readonly InputFile[];
  readonly client: AnalyzeClient;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/**
 * Merges further files into the cloud and drops the points outside crop and filters. The session of the result replaces
 * the given one. Errors: invalid_argument if no point would be left; those of the client.
 */
export async function editCloud(first: CreateSessionTail, editing: Editing): Promise<EditedCloud> {
  const { options, merge } = editing;
  if (merge.length === 0 && !options.crop && options.filters.length === 0) return { tail: first, edits: null };
  const parts = await importAll(editing);
  const whole = parts.length > 0 ? await join([first, ...parts], editing) : first;
  const tail = options.crop || options.filters.length > 0 ? await cut(whole, editing) : whole;
  return {
    tail: remeasured(tail),
    edits: {
      merged: parts.map(({ point_count, total_count }, i) => ({
        path: merge[i]?.path ?? "",
        points: point_count,
        rows: total_count,
      })),
      crop_world: options.crop ?? null,
      filters: options.filters,
      points_before: whole.point_count,
      points_dropped: whole.point_count - tail.point_count,
    },
  };
}

/** The create request of a file under the options of the run, in the unit that was decided. */
export const createRequest = (path: string, options: ReadingOptions, { units }: Pick<Look, "units">) => ({
  source_path: path,
  ascii_format: legendOf(path, options),
  world_shift: options.shift ? [...options.shift] : null,
  source_units: units,
});

/** Errors: invalid_argument for a file without points. */
export function requirePoints({ total_count }: CreateSessionTail, path: string): void {
  if (total_count === 0)
    throw new AppError("invalid_argument", `${path} contains no points; there is nothing to analyze`);
}

async function importAll({ options, merge, client, progress, signal }: Editing): Promise<CreateSessionTail[]> {
  const tails: CreateSessionTail[] = [];
  for (const { path, name } of merge) {
    progress.stage(`Reading ${name}`);
    const onProgress = (step: { progress: number | null; message: string }) =>
      progress.update(step.progress, step.message);
    const look = await lookAt(path, options, client, signal);
    const read = await client.createSession(createRequest(path, options, look), { signal, onProgress });
    requirePoints(read, path);
    const tail = await turnedUp(read, options.up, client, signal);
    tails.push({ ...tail, warnings: (tail.warnings ?? []).map((text) => `${name}: ${text}`) });
  }
  return tails;
}

async function join(tails: readonly CreateSessionTail[], { client, progress, signal }: Editing) {
  progress.stage("Merging");
  const session_ids = tails.map(({ session_id }) => session_id);
  const { merged, warnings = [] } = await client.merge({ session_ids }, { signal });
  for (const id of session_ids) await client.closeSession(id, { signal });
  const [first] = tails as [CreateSessionTail];
  const sum = (count: (tail: CreateSessionTail) => number | undefined) =>
    tails.reduce((total, tail) => total + (count(tail) ?? 0), 0);
  const agreed = <T>(value: (tail: CreateSessionTail) => T): T | null =>
    tails.every((tail) => value(tail) === value(first)) ? value(first) : null;
  const epsg = agreed(({ crs_epsg }) => crs_epsg ?? null);
  const clock = agreed(({ gps_time_encoding }) => gps_time_encoding);
  const { scan_origin: _, scans: __, scan_params: ___, gps_time_encoding: ____, ...common } = first;
  return {
    ...common,
    ...merged,
    total_count: sum(({ total_count }) => total_count),
    miss_count: sum(({ miss_count }) => miss_count),
    autodetected_misses: sum(({ autodetected_misses }) => autodetected_misses),
    unplaceable_miss_count: sum(({ unplaceable_miss_count }) => unplaceable_miss_count),
    crs_epsg: epsg,
    ...(clock ? { gps_time_encoding: clock } : {}),
    warnings: [...tails.flatMap((tail) => tail.warnings ?? []), ...warnings],
  };
}

async function cut(
  tail: CreateSessionTail,
  { options, client, progress, signal }: Editing,
): Promise<CreateSessionTail> {
  progress.stage("Dropping points");
  const { crop, filters } = options;
  const [x, y, z] = tail.world_shift ?? [0, 0, 0];
  const stored = ([px, py, pz]: CropBox["min"]): Point => [px - x, py - y, pz - z];
  const region = crop ? { kind: "box" as const, min: stored(crop.min), max: stored(crop.max) } : null;
  const scalar_filters = filters.map((rule) => ("values" in rule ? { ...rule, values: [...rule.values] } : rule));
  const answer = await client.filter(tail.session_id, { region, scalar_filters }, { signal });
  if (!answer.rebuilt) {
    const rules = [...(crop ? [`--crop ${[...crop.min, ...crop.max].join(",")}`] : []), ...filters.map(optionText)];
    throw new AppError(
      "invalid_argument",
      `no point is left by ${rules.join(" and ")}: ${boundsText(tail)}; use a larger box or range`,
    );
  }
  const { rebuilt: _, warnings = [], ...octree } = answer;
  return { ...tail, ...octree, warnings: [...(tail.warnings ?? []), ...warnings] };
}

const optionText = (rule: FilterRule) => `--filter ${filterText(rule)}`;

function boundsText({ tight_bounds, world_shift }: CreateSessionTail): string {
  if (tight_bounds === null) return "the cloud has no points";
  const world = (corner: readonly number[]) =>
    corner.map((value, axis) => Math.round((value + (world_shift?.[axis] ?? 0)) * 1000) / 1000).join(", ");
  return `the cloud extends from ${world(tight_bounds.min)} to ${world(tight_bounds.max)}`;
}

/** Removes measurements of the cloud before its edits. The ground height is measured later, in the sample. */
function remeasured(tail: CreateSessionTail): CreateSessionTail {
  const box = tail.robust_bounds;
  const extent = (axis: 0 | 1 | 2) => (box ? box.max[axis] - box.min[axis] : 0);
  return {
    ...tail,
    ground_z: null,
    point_spacing: null,
    robust_extent: box ? [extent(0), extent(1), extent(2)] : null,
  };
}
