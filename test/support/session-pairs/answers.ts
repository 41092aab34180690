import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CloudState } from "../../../backend/sessions/cloud-session.ts";
import type { TestApp } from "../app/app.ts";
import { readRun } from "../app/run-body.ts";
import { contentsOf } from "../project/project.ts";
import type { Operation, Place } from "./operations.ts";

/** What came of a request: the code of its refusal, or "done" and a hash of what it said and wrote. */
export interface Outcome {
  readonly said: string;
  readonly hash: string;
  /** What it said, for the message of a failure. */
  readonly text: string;
  /** The answer says that another edit outdated the octree that it built. */
  readonly outdated: boolean;
}

/** Sessions by a hash of what they hold. */
export interface World {
  /** The session of the operations; null when it is gone. */
  readonly session: string | null;
  /** Sessions that the operations made, in no order. */
  readonly made: readonly string[];
}

export const hashOf = (value: string | Uint8Array): string =>
  createHash("sha1").update(value).digest("hex").slice(0, 12);

/** Keys whose values are drawn anew for every request, and times. */
const DRAWN =
  /^(session_id|run_id|cache_id|cache_dir|scene_token|session_map|octree_map|path|paths|bytes|elapsed_s|seconds|last_used)$|_cache_id$|_seconds$/;
/** Keys that describe the octree: a picture of the points at its start, which an edit that lands meanwhile outdates. */
const OCTREE =
  /^(octree_\w+|version|spacing|scale|offset|(tight_|robust_)?bounds|attributes|observed_classes|octrees|missing_sessions|pending_deleted_count|robust_\w+)$/;

function settled(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((one) => settled(one, folder));
  if (ArrayBuffer.isView(value)) return hashOf(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (typeof value === "string") return value.replaceAll(folder, "");
  if (value === null || typeof value !== "object") return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const kept = entries.filter(([key]) => !DRAWN.test(`${key}`) && !OCTREE.test(`${key}`));
  return Object.fromEntries(kept.map(([key, one]) => [key, settled(one, folder)]));
}

const refusal = (code: string, text: string): Outcome => ({ said: code, hash: "", text, outdated: false });

/** What came of an answer. Errors: bytes that are no answer. */
export function outcomeOf({ files = [] }: Operation, place: Place, status: number, bytes: Uint8Array): Outcome {
  if (status !== 200) {
    const { code, detail } = JSON.parse(Buffer.from(bytes).toString()) as { code: string; detail: unknown };
    return refusal(status >= 500 ? `${status} ${code}` : code, JSON.stringify(detail));
  }
  const { outcome } = readRun(bytes);
  if (outcome.kind === "canceled") return refusal("canceled", "");
  if (outcome.kind === "failed") return refusal(outcome.code ?? "no code", outcome.error);
  const value =
    outcome.kind === "json"
      ? outcome.value
      : outcome.kind === "frame"
        ? { meta: outcome.frame.meta, buffers: outcome.frame.buffers }
        : outcome.points;
  const wrote = files.map((name) => {
    const path = join(place.folder, name);
    return existsSync(path) ? hashOf(readFileSync(path)) : `no ${name}`;
  });
  const text = JSON.stringify([settled(value, place.folder), ...wrote]);
  const outdated = outcome.kind === "json" && (outcome.value as { octree_stale?: boolean }).octree_stale === true;
  return { said: "done", hash: hashOf(text), text, outdated };
}

/**
 * Everything that a session holds but its octrees, which are pictures of it. Errors: an octree that does not belong to
 * the points that the state says it shows.
 */
export function hashOfState(state: CloudState): string {
  return hashOf(textOfState(state));
}

/** The same as text. */
export function textOfState(state: CloudState): string {
  const { meta, ...rest } = contentsOf(state);
  if (meta.octree_cache_id === null && meta.octree_pose !== null) throw new Error("a pose without its octree");
  const kept = Object.entries(meta).filter(
    ([key, value]) => !/octree/.test(key) && key !== "source_path" && value !== undefined,
  );
  return JSON.stringify([rest, kept.sort(([a], [b]) => a.localeCompare(b))]);
}

/** What the sessions hold; `before` are those that are none of the operations'. */
export async function worldOf(made: TestApp, id: string, before: ReadonlySet<string>): Promise<World> {
  let session: string | null = null;
  const others: string[] = [];
  for (const { id: one } of made.deps.sessions.list()) {
    if (before.has(one)) continue;
    const hash = hashOfState((await made.deps.sessions.get(one)).state);
    if (one === id) session = hash;
    else others.push(hash);
  }
  return { session, made: others.sort() };
}

export const textOf = (world: World): string => `${world.session} [${world.made}]`;
