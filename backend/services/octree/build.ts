import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { OctreeBlock } from "../../../shared/contract/octree.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/octree.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import type { OctreeCache } from "../../sessions/octree-cache.ts";
import { isWhole } from "../../sessions/octree-folder.ts";
import { extraColumn, fixedColumn, positionsColumn } from "./columns.ts";

/** A node with more points is split; viewers of this format expect this size. */
const LEAF_CAPACITY = 10_000;
/** Coordinate step where the source states none, metres. */
const DEFAULT_SCALE_M = 0.001;

export type BuiltOctree = Pick<
  OctreeBlock,
  | "cache_id"
  | "cache_dir"
  | "version"
  | "point_count"
  | "spacing"
  | "scale"
  | "offset"
  | "bounds"
  | "tight_bounds"
  | "attributes"
> & { readonly cached: boolean };

interface OctreeSource {
  readonly input: native.OctreeInput;
  readonly params: native.OctreeBuildParams;
}

/** The octree of a session's surviving hits: every column the client can show, under its slug. */
export function hitsOctreeSource(state: CloudState, skip: NativeColumn | null): OctreeSource {
  const attributes: { name: string; label: string; column: NativeColumn }[] = [];
  const add = (name: string, label: string, column: NativeColumn | null) => {
    if (column) attributes.push({ name, label, column });
  };
  const shown = (name: "intensity" | "timestamps") =>
    state.meta.hidden_fixed?.includes(name) ? null : fixedColumn(state, name);
  add("intensity", "Intensity", shown("intensity"));
  add("gps-time", "Timestamp", shown("timestamps"));
  add("rgb", "Color", fixedColumn(state, "colors"));
  for (const { slug, label, hidden } of state.meta.extra_dims_meta) {
    if (!hidden && state.columns.has(extraKey(slug))) add(slug, label, extraColumn(state, slug));
  }
  return {
    input: { positions: positionsColumn(state), skip, attributes },
    params: { scale: octreeScale(state.meta.source_scale_m), leaf_capacity: LEAF_CAPACITY },
  };
}

/** A position-only octree, for the miss overlay. */
export function positionsOctreeSource(positions: NativeColumn): OctreeSource {
  return {
    input: { positions, skip: null, attributes: [] },
    params: { scale: DEFAULT_SCALE_M, leaf_capacity: LEAF_CAPACITY },
  };
}

/** The share of the run's progress that the build covers, 0..1. */
export interface OctreeWindow {
  readonly from: number;
  readonly to: number;
}

/** Builds an octree or takes it from the cache. The phase names are those of the contract. */
export async function buildOctree(
  cache: OctreeCache,
  source: OctreeSource,
  window: OctreeWindow,
  job: Job,
): Promise<BuiltOctree> {
  const at = (fraction: number) => window.from + (window.to - window.from) * fraction;
  job.stage("Hashing point data", at(0), at(0.2));
  const id = await job.track(() => native.octreeContentHash(source.input, source.params));
  job.adopt(cache.hold(id)); // until the session that shows it is registered
  job.stage("Building octree", at(0.2), at(0.95));
  const build = async (staging: string) => {
    await job.track(() => native.octreeBuild(source.input, source.params, staging));
    job.stage("Installing octree", at(0.95), at(1));
  };
  let { folder, cached } = await cache.getOrBuild(id, build, job.signal);
  if (cached && !(await isWhole(folder))) {
    await cache.removeDamaged(id);
    ({ folder, cached } = await cache.getOrBuild(id, build, job.signal));
  }
  job.stage("Reading octree metadata", at(1), at(1));
  return { ...(await readOctreeBlock(folder)), cached };
}

/** Bytes a build needs besides its input. */
export function octreeScratchBytes(source: OctreeSource): number {
  const bytesPerPoint =
    12 + source.input.attributes.reduce((sum, { column }) => sum + column.bytes / Math.max(1, column.length), 0);
  return native.octreeBuildCost(source.input.positions.length, Math.ceil(bytesPerPoint)).scratch_bytes;
}

/** Bytes that a position-only octree needs, including the positions. */
export const pointsScratchBytes = (count: number): number =>
  24 * count + native.octreeBuildCost(count, 12).scratch_bytes;

interface Metadata {
  readonly version: string;
  readonly points: number;
  readonly spacing: number;
  readonly scale: [number, number, number];
  readonly offset: [number, number, number];
  readonly boundingBox: { min: [number, number, number]; max: [number, number, number] };
  readonly attributes: readonly {
    name: string;
    size: number;
    numElements: number;
    type: BuiltOctree["attributes"][number]["type"];
    min?: number[];
    max?: number[];
  }[];
}

/** Reads the octree block of a complete folder that the builder wrote. */
export async function readOctreeBlock(folder: string): Promise<Omit<BuiltOctree, "cached">> {
  const metadata = JSON.parse(await readFile(join(folder, "metadata.json"), "utf8")) as Metadata;
  const labels = JSON.parse(await readFile(join(folder, "attribute_labels.json"), "utf8")) as Record<string, string>;
  const position = metadata.attributes[0];
  return {
    cache_id: basename(folder),
    cache_dir: folder,
    version: metadata.version,
    point_count: metadata.points,
    spacing: metadata.spacing,
    scale: metadata.scale,
    offset: metadata.offset,
    bounds: metadata.boundingBox,
    tight_bounds: metadata.points > 0 ? (tightBounds(position) ?? metadata.boundingBox) : null,
    attributes: metadata.attributes.map(({ name, size, type, numElements, min, max }) => ({
      name,
      size,
      type,
      num_elements: numElements,
      ...(labels[name] ? { label: labels[name] } : {}),
      ...(metadata.points > 0 && min && max ? { min, max } : {}), // an empty octree has no extrema
    })),
  };
}

function tightBounds(position: Metadata["attributes"][number] | undefined) {
  if (position?.min?.length !== 3 || position.max?.length !== 3) return undefined;
  return { min: position.min as [number, number, number], max: position.max as [number, number, number] };
}

/** Coordinate step: a millimetre, or that of the source if it is finer. */
function octreeScale(source: Triple | null): number {
  return source ? Math.min(DEFAULT_SCALE_M, ...source) : DEFAULT_SCALE_M;
}
