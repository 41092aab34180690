import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readNumbers } from "../../../backend/services/files/preview/values.ts";
import type { CloudState } from "../../../backend/sessions/cloud-session.ts";
import { parseMetadata } from "../../../shared/octree/potree2-metadata.ts";
import { octreeRecords } from "../octree/octree-folder.ts";
import {
  type BuiltOctree,
  contentOf,
  deletedRows,
  type ModelCloud,
  POSITION_TOLERANCE,
  rowCount,
  type Vec3,
} from "./cloud.ts";

const CACHE_ID = /^[0-9a-f]{40}$/;

/** A difference between the model and the service, in one sentence. */
export class Difference extends Error {}
const differ = (what: string): never => {
  throw new Difference(what);
};
const shown = (value: unknown): string =>
  JSON.stringify(value, (_, v) => (typeof v === "number" && !Number.isFinite(v) ? `${v}` : v)) ?? "undefined";

export function mustEqual(what: string, actual: unknown, expected: unknown): void {
  if (!equal(actual, expected)) differ(`${what} is ${shown(actual)}, must be ${shown(expected)}`);
}
function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b) || (a === 0 && b === 0)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [p, q] = [Object.entries(a), Object.entries(b)];
  return p.length === q.length && p.every(([key, value]) => equal(value, (b as Record<string, unknown>)[key]));
}

/** Values of a native column, triples as triples. */
function numbers(state: CloudState, key: string): number[] | undefined {
  const column = state.columns.get(key)?.native;
  return column && Array.from(readNumbers(column).slice(0, Number.MAX_SAFE_INTEGER), Number);
}
function triples(state: CloudState, key: string): Vec3[] | undefined {
  const flat = numbers(state, key);
  return (
    flat &&
    Array.from({ length: flat.length / 3 }, (_, i) => [flat[3 * i] ?? 0, flat[3 * i + 1] ?? 0, flat[3 * i + 2] ?? 0])
  );
}

/** Bounds of what real arithmetic may differ by: doubles near 4e6 m, and f32 columns of normals and degrees. */
const TOLERANCE: Readonly<Record<string, number>> = {
  positions: POSITION_TOLERANCE,
  origins: POSITION_TOLERANCE,
  verticality: 0.05, // acos is steep where a normal stands upright
  distance: 1e-4,
};
const toleranceOf = (name: string): number => TOLERANCE[name] ?? 1e-6;

function compareColumn(name: string, actual: number[] | undefined, expected: number[] | null, inexact: boolean): void {
  if (!actual || !expected) {
    if (actual || expected) differ(`column ${name} is ${actual ? "there" : "missing"}`);
    return;
  }
  mustEqual(`rows of ${name}`, actual.length, expected.length);
  const tolerance = inexact ? toleranceOf(name) : 0;
  const row = actual.findIndex((value, i) => {
    const wanted = expected[i] ?? Number.NaN;
    const scale = inexact ? Math.max(1, Math.abs(wanted) / 1000) : 1;
    return !Object.is(value + 0, wanted + 0) && !(Math.abs(value - wanted) <= tolerance * scale);
  });
  if (row >= 0) differ(`${name}[${row}] is ${actual[row]}, must be ${expected[row]}`);
}

/** The octree id of the state against the model's; the first one seen is remembered. */
function compareOctree(what: string, id: string | null, octree: BuiltOctree | null): void {
  if (octree && (id === null || !CACHE_ID.test(id))) differ(`${what} is ${shown(id)}, must be an octree`);
  if (octree) octree.id ??= id;
  mustEqual(what, id, octree?.id ?? null);
}

/** Compares everything and returns the model with the arithmetic results of the service taken over. */
export function compareState(state: CloudState, cloud: ModelCloud): ModelCloud {
  const { meta } = state;
  const inexact = (name: string) => cloud.inexact.has(name);
  const positions = triples(state, "positions") ?? [];
  const origins = triples(state, "beam_origins");
  compareColumn("positions", positions.flat(), cloud.positions.flat(), inexact("positions"));
  compareColumn("colors", numbers(state, "colors"), cloud.colors?.flat() ?? null, false);
  compareColumn("intensity", numbers(state, "intensity"), cloud.intensity && [...cloud.intensity], false);
  compareColumn("timestamps", numbers(state, "timestamps"), cloud.timestamps && [...cloud.timestamps], false);
  compareColumn("origins", origins?.flat(), cloud.origins?.flat() ?? null, inexact("origins"));
  mustEqual(
    "extra columns",
    meta.extra_dims_meta.map(({ slug }) => slug),
    [...cloud.extras.keys()],
  );
  const extras = new Map<string, readonly number[]>();
  for (const [slug, column] of cloud.extras) {
    const actual = numbers(state, `extra/${slug}`);
    compareColumn(slug, actual, [...column], inexact(slug));
    extras.set(slug, actual ?? []);
  }
  const stored = [...state.columns.keys()].filter((key) => key.startsWith("extra/")).length;
  mustEqual("number of extra columns", stored, cloud.extras.size);
  compareMask(state, cloud);
  compareOctree("octree_cache_id", meta.octree_cache_id, cloud.current);
  compareOctree("rendered_octree_cache_id", meta.rendered_octree_cache_id, cloud.rendered);
  if (cloud.current) {
    mustEqual("a miss octree is there", meta.miss_octree_cache_id !== null, cloud.current.misses.length > 0);
  }
  const pose = meta.octree_pose;
  if (!pose || !cloud.pose) mustEqual("octree_pose", pose, cloud.pose);
  else compareColumn("octree_pose", [...pose], [...cloud.pose], true);
  mustEqual("octree_point_count", meta.octree_point_count, cloud.octreeCount);
  mustEqual("unrestorable_hit_count", meta.unrestorable_hit_count, cloud.lostHits);
  mustEqual("world_shift", meta.world_shift, cloud.shift);
  if (cloud.normalsStale) mustEqual("normals_stale", meta.normals_stale, true);
  const taken: ModelCloud = {
    ...cloud,
    positions,
    origins: origins ?? null,
    extras,
    pose,
    inexact: new Set(),
  };
  return { ...taken, current: refreshed(cloud, taken) };
}

/** An octree built by the edit that moved the points was built from the points as the service moved them. */
function refreshed(before: ModelCloud, after: ModelCloud): BuiltOctree | null {
  const { current } = before;
  if (!current || before.inexact.size === 0 || before.pose) return current;
  return contentOf(after, current.id);
}

function compareMask(state: CloudState, cloud: ModelCloud): void {
  const deleted = deletedRows(cloud);
  const mask = numbers(state, "deleted") ?? cloud.positions.map(() => 0);
  mustEqual("rows of the mask", mask.length, rowCount(cloud));
  const row = mask.findIndex((flag, i) => (flag !== 0) !== deleted.has(i));
  if (row >= 0) differ(`row ${row} is ${mask[row] ? "deleted" : "not deleted"}`);
}

/** The octree's own points against the rows it was built from: the same rows, each within its quantization. */
export function comparePoints(root: string, octree: BuiltOctree): void {
  compareRecords(root, octree.id ?? "", octree.positions, octree.extras);
}
/** The overlay of misses; without a scanner position they are drawn where they are. */
export function compareMisses(root: string, id: string | null, octree: BuiltOctree): void {
  if (octree.misses.length > 0) compareRecords(root, id ?? "", octree.misses, new Map());
}

type Extras = ReadonlyMap<string, readonly number[]>;
function compareRecords(root: string, id: string, points: readonly Vec3[], extras: Extras): void {
  const slugs = [...extras.keys()];
  const { position, point_count, attributes } = octreeRecords(root, id, slugs);
  mustEqual("points of the octree", point_count, points.length);
  const step = Math.max(...parseMetadata(readFileSync(join(root, id, "metadata.json"), "utf8")).scale);
  const half = step / 2 + 1e-6;
  const rowKey = (values: readonly number[]) => values.map((value) => `${Math.fround(value) + 0}`).join(" ");
  const waiting = new Map<string, Vec3[]>();
  points.forEach((point, i) => {
    const key = rowKey(slugs.map((slug) => extras.get(slug)?.[i] ?? 0));
    waiting.set(key, [...(waiting.get(key) ?? []), point]);
  });
  for (let i = 0; i < point_count; i += 1) {
    const key = rowKey(slugs.map((slug) => Number(attributes.get(slug)?.[i])));
    const candidates = waiting.get(key) ?? [];
    const far = (point: Vec3) =>
      Math.max(...point.map((value, axis) => Math.abs(value - (position[3 * i + axis] ?? 0))));
    const nearest = candidates.reduce((best, point, at) => (far(point) < far(candidates[best] as Vec3) ? at : best), 0);
    const found = candidates[nearest];
    if (!found || far(found) > half) {
      differ(`the octree has a point ${[...position.subarray(3 * i, 3 * i + 3)]} (${key}) that the session has not`);
    }
    candidates.splice(nearest, 1);
  }
}
