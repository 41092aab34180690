// What one user of the service does, one step at a time. Every answer is compared with what the cloud must hold then.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Client, RunOptions } from "../../shared/client/index.ts";
import type { Point } from "../../shared/contract/geometry.ts";
import type { Uniform } from "../accuracy/random.ts";

export interface Cloud {
  readonly id: string;
  total: number;
  deleted: number;
  min: Point;
  max: Point;
  cache: string | null;
}
export interface User {
  readonly client: Client;
  readonly url: string;
  readonly random: Uniform;
  readonly files: readonly string[];
  readonly folder: string;
  readonly clouds: Cloud[];
  /** Points in a file by its path, as the first create told. */
  readonly sizes: Map<string, number>;
}
export type Step = (user: User, run: RunOptions) => Promise<void>;
export type CloudStep = (user: User, cloud: Cloud, run: RunOptions) => Promise<void>;

const MOST_CLOUDS = 4;

export class Wrong extends Error {}

export function same(what: string, found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Wrong(`${what}: ${String(found)} instead of ${String(wanted)}`);
}
export function pick<T>(random: Uniform, list: readonly T[]): T {
  const found = list[Math.floor(random() * list.length)];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

export const left = (cloud: Cloud) => cloud.total - cloud.deleted;

/** A box over a share of the cloud in x and y. */
export function part(random: Uniform, { min, max }: Cloud, share: number) {
  const from = ([0, 1] as const).map((axis) => min[axis] + random() * (1 - share) * (max[axis] - min[axis]));
  const to = ([0, 1] as const).map((axis) => (from[axis] ?? 0) + share * (max[axis] - min[axis]));
  return {
    kind: "box" as const,
    min: [from[0] ?? 0, from[1] ?? 0, min[2] - 1] satisfies Point,
    max: [to[0] ?? 0, to[1] ?? 0, max[2] + 1] satisfies Point,
  };
}

interface Counted {
  readonly total_count: number;
  readonly deleted_count: number;
  readonly remaining_count: number;
}
function take(cloud: Cloud, answer: Counted): void {
  same("total_count", answer.total_count, cloud.total);
  same("remaining_count", answer.remaining_count, answer.total_count - answer.deleted_count);
  cloud.deleted = answer.deleted_count;
}

/** Brings the copy up to date after an edit whose answer was lost. False if the cloud is gone. */
export async function lookAgain({ client }: User, cloud: Cloud): Promise<void> {
  const answer = await client.resetEdits(cloud.id, { edit_count: 9999 }); // keeps all
  cloud.total = answer.total_count;
  cloud.deleted = answer.deleted_count;
  cloud.cache = null;
}

interface Built {
  readonly cache_id: string | null;
  readonly bounds?: { readonly min: Point; readonly max: Point };
  readonly tight_bounds?: { readonly min: Point; readonly max: Point } | null;
}
function newCloud(id: string, total: number, built: Built, like?: Cloud): Cloud {
  const box = built.tight_bounds ?? built.bounds ?? like;
  if (!box) throw new Wrong(`no bounds of cloud ${id}`);
  return { id, total, deleted: 0, min: box.min, max: box.max, cache: built.cache_id };
}

const create: Step = async (user, run) => {
  if (user.clouds.length >= MOST_CLOUDS) return;
  const path = pick(user.random, user.files);
  const made = await user.client.createSession({ source_path: path }, run);
  user.clouds.push(newCloud(made.session_id, made.total_count, made));
  const known = user.sizes.get(path);
  if (known === undefined) user.sizes.set(path, made.total_count);
  else same(`points of ${path}`, made.total_count, known);
};

const close: CloudStep = async (user, cloud) => {
  same("deleted", (await user.client.closeSession(cloud.id)).deleted, true);
  user.clouds.splice(user.clouds.indexOf(cloud), 1);
};

const erase: CloudStep = async (user, cloud, run) => {
  const before = cloud.deleted;
  take(cloud, await user.client.deleteRegion(cloud.id, { region: part(user.random, cloud, 0.1) }, run));
  if (cloud.deleted < before) throw new Wrong(`a deletion brought ${before - cloud.deleted} points back`);
};
const restore: CloudStep = async (user, cloud, run) => {
  take(cloud, await user.client.resetEdits(cloud.id, { edit_count: Math.floor(user.random() * 4) }, run));
};
const paint: CloudStep = async (user, cloud, run) => {
  const region = part(user.random, cloud, 0.3);
  const stroke = { stroke_id: String(user.random()), region, to_class: Math.floor(user.random() * 9) };
  const { applied } = await user.client.labelRegion(cloud.id, { strokes: [stroke] }, run);
  if ((applied[0]?.changed_count ?? 0) > left(cloud)) throw new Wrong("more points painted than there are");
};
const commit: CloudStep = async (user, cloud, run) => {
  await paint(user, cloud, run);
  cloud.cache = (await user.client.commitLabels(cloud.id, {}, run)).cache_id;
};
const bake: CloudStep = async (user, cloud, run) => {
  const baked = await user.client.bake(cloud.id, {}, run);
  same("points after the bake", baked.point_count, left(cloud));
  if ("cache_id" in baked) Object.assign(cloud, { total: left(cloud), deleted: 0, cache: baked.cache_id });
};
const rebuild: CloudStep = async (user, cloud, run) => {
  const built = await user.client.rebuildOctree(cloud.id, run);
  same("points of the octree", built.point_count, left(cloud));
  cloud.cache = built.cache_id;
};

const split: CloudStep = async (user, cloud, run) => {
  const before = left(cloud);
  const { kept, leftover } = await user.client.split(cloud.id, { region: part(user.random, cloud, 0.7) }, run);
  await lookAgain(user, cloud);
  cloud.cache = kept.cache_id;
  const moved = leftover?.point_count ?? 0;
  same("points of both parts", left(cloud) + moved, before);
  if (leftover) user.clouds.push(newCloud(leftover.session_id, moved, leftover, cloud));
};
const extract: CloudStep = async (user, cloud, run) => {
  const { extracted } = await user.client.extract(cloud.id, { region: part(user.random, cloud, 0.5) }, run);
  if (extracted) user.clouds.push(newCloud(extracted.session_id, extracted.point_count, extracted, cloud));
};
const merge: CloudStep = async (user, cloud, run) => {
  const other = pick(user.random, user.clouds);
  if (other === cloud) return;
  const { merged } = await user.client.merge({ session_ids: [cloud.id, other.id] }, run);
  same("points of the merged cloud", merged.point_count, left(cloud) + left(other));
  user.clouds.push(newCloud(merged.session_id, merged.point_count, merged, cloud));
};
const move: CloudStep = async (user, cloud, run) => {
  const matrix = [1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1];
  cloud.cache = (await user.client.transform(cloud.id, { matrix }, run)).cache_id;
  const moved = ([x, y, z]: Point): Point => [x + 1, y + 2, z + 3];
  Object.assign(cloud, { min: moved(cloud.min), max: moved(cloud.max) });
};

const denoise: CloudStep = async (user, cloud, run) => {
  const method = pick(user.random, ["ror", "voxel_count", "sor", "auto"] as const);
  const report = await user.client.denoiseSession(cloud.id, { method, defer_octree: user.random() < 0.7 }, run);
  same("analysed points", report.analyzed_points, left(cloud));
};
const ground: CloudStep = async (user, cloud, run) => {
  const method = pick(user.random, ["auto", "cloth", "smrf"] as const);
  const request = { method, defer_octree: user.random() < 0.7 };
  const report = await user.client.segmentGroundSession(cloud.id, request, run);
  same("analysed points", report.analyzed_points, left(cloud));
};
const terrain: CloudStep = async (user, cloud, run) => {
  const cell_size = Math.max(cloud.max[0] - cloud.min[0], cloud.max[1] - cloud.min[1], 1e-3) / 300;
  const { meta } = await user.client.sessionDem(cloud.id, { cell_size }, run);
  if (meta.points_used > left(cloud)) throw new Wrong("a terrain of more points than there are");
};

const exportAndRead: CloudStep = async (user, cloud, run) => {
  const format = pick(user.random, ["las", "laz", "ply", "csv", "pcd"] as const);
  const dest_path = join(user.folder, `export-${user.random()}.${format}`);
  try {
    const { point_count } = await user.client.exportCloud({ source: { session_id: cloud.id }, format, dest_path }, run);
    same("exported points", point_count, left(cloud));
    const read = await user.client.importByPath({ file_path: dest_path }, run);
    same("points read back", read.positions.length / 3, point_count);
  } finally {
    rmSync(dest_path, { force: true });
  }
};

/** Reads the octree as a viewer does; the same octree has the same bytes. */
const view: CloudStep = async (user, cloud, run) => {
  if (cloud.cache === null) return;
  const [cache, client] = [cloud.cache, user.client];
  const metadata = JSON.parse(
    new TextDecoder().decode(await client.octreeFile(cache, "metadata.json", undefined, run)),
  );
  const first = { start: 0, end: Number(metadata.hierarchy.firstChunkSize) - 1 };
  const twice = [0, 1].map(() => client.octreeFile(cache, "hierarchy.bin", first, run));
  const [one, two] = (await Promise.all(twice)).map((bytes) => createHash("sha1").update(bytes).digest("hex"));
  same("hierarchy", one, two);
  await client.octreeFile(cache, "octree.bin", { start: 0, end: 65_535 }, run);
};

const preview: Step = async (user, run) => {
  const path = pick(user.random, user.files);
  const { point_count } = await user.client.preview({ file_path: path }, run);
  const known = user.sizes.get(path);
  if (known !== undefined && point_count != null) same(`points of the preview of ${path}`, point_count, known);
};
const inline: Step = async (user, run) => {
  const count = 20_000 + Math.floor(user.random() * 200_000);
  const points = Float32Array.from({ length: 3 * count }, () => 50 * user.random());
  const report = await user.client.segmentGround({ points, method: "auto" }, run);
  same("labels", report.labels?.length, count);
};
/** Requests that are refused; none may hurt. */
const refused: Step = async (user, run) => {
  const requests: [string, RequestInit][] = [
    ["/api/cloud/session/ffffffff/delete_region", { method: "POST", body: "{}" }],
    ["/api/dem", { method: "POST", body: '{"points": [[1, 2' }],
    ["/api/cloud/session/create", { method: "POST", body: '{"source_path": "/none.las"}' }],
    ["/octree/../../etc/passwd", {}],
  ];
  const [path, init] = pick(user.random, requests);
  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${user.url}${path}`, { ...init, headers, ...(run.signal && { signal: run.signal }) });
  if (status < 400 || status > 499) throw new Wrong(`${path} answered ${status}`);
};

export const onCloud =
  (step: CloudStep): Step =>
  async (user, run) => {
    if (user.clouds.length > 0) await step(user, pick(user.random, user.clouds), run);
  };

/** Files, edits and views: name, weight, step. */
export const STEPS: readonly (readonly [string, number, Step])[] = [
  ["create", 12, create],
  ["close", 7, onCloud(close)],
  ["delete", 14, onCloud(erase)],
  ["reset", 8, onCloud(restore)],
  ["label", 10, onCloud(paint)],
  ["commit", 2, onCloud(commit)],
  ["bake", 4, onCloud(bake)],
  ["rebuild", 3, onCloud(rebuild)],
  ["split", 2, onCloud(split)],
  ["extract", 3, onCloud(extract)],
  ["merge", 2, onCloud(merge)],
  ["transform", 4, onCloud(move)],
  ["denoise", 3, onCloud(denoise)],
  ["ground", 3, onCloud(ground)],
  ["dem", 4, onCloud(terrain)],
  ["export", 4, onCloud(exportAndRead)],
  ["view", 10, onCloud(view)],
  ["preview", 4, preview],
  ["inline", 3, inline],
  ["refused", 4, refused],
];
