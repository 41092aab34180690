import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { create, scanFile, type TestApp } from "../app/app.ts";
import { octreePoints } from "../octree/octree-folder.ts";
import { opened, saved } from "../project/project.ts";
import type { SmallDisk } from "../run/small-disk.ts";
import { hashOf, hashOfState, type Outcome, outcomeOf, textOf, type World, worldOf } from "./answers.ts";
import type { Operation, Place } from "./operations.ts";
import { RASTER, SCANNER, scannedTrees } from "./scanned-trees.ts";

/** What two requests came to, and what the sessions hold afterwards. */
export interface Turn {
  readonly first: Outcome;
  readonly second: Outcome;
  readonly world: World;
}

/** What one request came to. */
export interface Single {
  readonly outcome: Outcome;
  readonly world: World;
}

/** What an operation came to on a full disk. */
export interface WithoutSpace {
  readonly start: World;
  readonly full: Single;
  /** With space again; undefined if it succeeded without. */
  readonly again: Single | undefined;
  readonly alone: Single;
}

/** Sessions that were left open for a restart, with what each must hold. */
export interface Kept {
  readonly id: string;
  readonly hash: string;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Pairs of operations on sessions that all begin alike. */
export class Pairs {
  readonly #made: TestApp;
  readonly #base: string;
  readonly #project: string;
  readonly #other: string;
  readonly #singles = new Map<string, Promise<Single>>();
  readonly #turns = new Map<string, Promise<Turn>>();
  /** How long an operation took alone, milliseconds. */
  readonly took = new Map<string, number>();
  #folders = 0;

  private constructor(made: TestApp, base: string, project: string, other: string) {
    this.#made = made;
    this.#base = base;
    this.#project = project;
    this.#other = other;
  }

  /** `made` listens at `base`. Its first session becomes the beginning of all: deletions, strokes, recovered misses. */
  static async begin(made: TestApp, base: string): Promise<Pairs> {
    const path = scanFile(made, scannedTrees());
    const { session_id } = await create(made, path);
    const act = async (action: string, payload: object) => {
      const url = `/api/cloud/session/${session_id}/${action}`;
      const { statusCode, body } = await made.app.inject({ method: "POST", url, payload });
      if (statusCode !== 200) throw new Error(`${url}: ${body.slice(0, 300)}`);
    };
    const slab = (from: number, to: number) => ({ kind: "box", min: [from, -99, -99], max: [to, 99, 99] });
    await act("backfill-misses", { origin: SCANNER, ...RASTER });
    for (const [from, to] of [
      [-9, -6],
      [5, 9],
    ] as const)
      await act("delete_region", { region: slab(from, to) });
    for (const [i, stroke_id] of ["a", "b"].entries()) {
      const stroke = { stroke_id, region: slab(-2 + i, 2 + i), to_class: 7 + i };
      await act("label_region", { slug: "class", strokes: [stroke] });
    }
    const project = join(made.folder, "base.proj");
    await saved(made, project, [session_id]);
    const { session_map } = await opened(made, project);
    return new Pairs(made, base, project, Object.values(session_map)[0] ?? "");
  }

  /** The file of the session that every pair begins with. */
  get project(): string {
    return this.#project;
  }

  async #place(): Promise<Place> {
    this.#folders += 1;
    const { session_map } = await opened(this.#made, this.#project);
    const [id = ""] = Object.values(session_map);
    const place = { made: this.#made, id, other: this.#other, project: this.#project };
    return { ...place, folder: this.#folder() };
  }

  #folder(): string {
    this.#folders += 1;
    const folder = join(this.#made.folder, `files-${this.#folders}`);
    mkdirSync(folder);
    return folder;
  }

  /** Starts a request; `signal` is its client hanging up. */
  async #send(operation: Operation, place: Place, signal?: AbortSignal): Promise<Outcome> {
    const outcome = await sent(this.#base, operation, place, signal);
    const project = join(place.folder, "saved.proj");
    if (!existsSync(project)) return outcome;
    const hash = `${outcome.hash} ${await this.#contentsOf(project)}`;
    return { ...outcome, hash };
  }

  /** What the sessions of a project file hold. */
  async #contentsOf(path: string): Promise<string> {
    const { session_map } = await opened(this.#made, path);
    const hashes: string[] = [];
    for (const id of Object.values(session_map)) {
      hashes.push(hashOfState((await this.#made.deps.sessions.get(id)).state));
      await this.#made.deps.sessions.delete(id);
    }
    return `${hashes}`;
  }

  /** Errors: the octree that the session calls its current one shows other points or values. */
  async #expectPicture(id: string): Promise<void> {
    const { sessions } = this.#made.deps;
    if (!sessions.list().some((one) => one.id === id)) return;
    const { octree_cache_id, octree_pose, octree_lacks_labels } = (await sessions.get(id)).state.meta;
    if (octree_cache_id === null || octree_pose !== null || octree_lacks_labels) return;
    const url = `/api/cloud/session/${id}/rebuild_octree`;
    const { body } = await this.#made.app.inject({ method: "POST", url, payload: {} });
    const { cache_id } = JSON.parse(body) as { cache_id: string };
    if (cache_id === octree_cache_id) return; // one that was translated has another id
    const points = (octree: string) => octreePoints(this.#made.octrees, octree).map(String).sort().join("\n");
    if (points(cache_id) !== points(octree_cache_id)) throw new Error("its octree is not that of its points");
  }

  async #on<T>(body: (place: Place, before: ReadonlySet<string>) => Promise<T>, keep?: Kept[]): Promise<T> {
    const { sessions } = this.#made.deps;
    const before = new Set(sessions.list().map(({ id }) => id));
    try {
      return await body(await this.#place(), before);
    } finally {
      for (const { id } of sessions.list()) {
        if (before.has(id)) continue;
        if (keep) keep.push({ id, hash: (await this.#only(id)) ?? "" });
        else await sessions.delete(id);
      }
    }
  }

  async #only(id: string): Promise<string | null> {
    const others = new Set(this.#made.deps.sessions.list().map((one) => one.id));
    others.delete(id);
    return (await worldOf(this.#made, id, others)).session;
  }

  /** The operation alone. */
  single(operation: Operation): Promise<Single> {
    return remembered(this.#singles, operation.name, () =>
      this.#on(async (place, before) => {
        const began = performance.now();
        const outcome = await this.#send(operation, place);
        this.took.set(operation.name, performance.now() - began);
        return { outcome, world: await worldOf(this.#made, place.id, before) };
      }),
    );
  }

  /** The beginning, without any operation. */
  beginning(): Promise<World> {
    return this.#on((place, before) => worldOf(this.#made, place.id, before));
  }

  /** One after the other. */
  serial(first: Operation, second: Operation): Promise<Turn> {
    return remembered(this.#turns, `${first.name}, then ${second.name}`, () =>
      this.#on(async (place, before) => {
        const one = await this.#send(first, place);
        const two = await this.#send(second, { ...place, folder: this.#folder() });
        return { first: one, second: two, world: await worldOf(this.#made, place.id, before) };
      }),
    );
  }

  /** Both at once: the second begins `delay_ms` after the first. Its sessions stay open when `keep` is given. */
  together(first: Operation, second: Operation, delay_ms: number, keep?: Kept[]): Promise<Turn> {
    return this.#on(async (place, before) => {
      const one = this.#send(first, place);
      one.catch(() => undefined);
      if (delay_ms > 0) await wait(delay_ms);
      const two = await this.#send(second, { ...place, folder: this.#folder() });
      const turn = { first: await one, second: two, world: await worldOf(this.#made, place.id, before) };
      await this.#expectPicture(place.id);
      return turn;
    }, keep);
  }

  /** The operation on a disk with `left` free bytes, and once more with space; `alone` is what it comes to with space. */
  withoutSpace(operation: Operation, disk: SmallDisk, left: number): Promise<WithoutSpace> {
    const turn = async (place: Place, before: ReadonlySet<string>, fill: () => void): Promise<Single> => {
      const own = { ...place, folder: this.#folder() };
      const body = await operation.body?.(own); // it may stage a file
      fill();
      const outcome = await sent(this.#base, body ? { ...operation, body: () => body } : operation, own);
      await this.#made.deps.jobs.idle();
      return { outcome, world: await worldOf(this.#made, place.id, before) };
    };
    const nothing = () => undefined;
    return this.#on(async (place, before) => {
      const start = await worldOf(this.#made, place.id, before);
      try {
        const full = await turn(place, before, () => disk.fill(left));
        disk.empty();
        const again = full.outcome.said.endsWith("no_space") ? await turn(place, before, nothing) : undefined;
        return { start, full, again, alone: await this.#on((other, then) => turn(other, then, nothing)) };
      } finally {
        disk.empty();
      }
    });
  }

  /** The client of the first hangs up `left_ms` after the second began. What the second came to, and the sessions. */
  leftTogether(first: Operation, second: Operation, delay_ms: number, left_ms: number): Promise<Single> {
    return this.#on(async (place, before) => {
      const connection = new AbortController();
      const one = this.#send(first, place, connection.signal).catch(() => undefined);
      if (delay_ms > 0) await wait(delay_ms);
      const two = this.#send(second, { ...place, folder: this.#folder() });
      await wait(left_ms);
      connection.abort();
      await one;
      const outcome = await two;
      await this.#made.deps.jobs.idle();
      return { outcome, world: await worldOf(this.#made, place.id, before) };
    });
  }
}

/** Sends the request of an operation; `signal` is its client hanging up. */
async function sent(base: string, operation: Operation, place: Place, signal?: AbortSignal): Promise<Outcome> {
  const { method, url, body } = operation;
  const payload = body && JSON.stringify(await body(place));
  const headers = { "content-type": "application/json" };
  const init = { method, ...(payload ? { body: payload, headers } : {}), ...(signal ? { signal } : {}) };
  const answer = await fetch(base + url(place), init);
  return outcomeOf(operation, place, answer.status, new Uint8Array(await answer.arrayBuffer()));
}

/** The code of an operation's refusal, or "done". Errors: the connection broke. */
export const saidOf = async (base: string, operation: Operation, place: Place): Promise<string> =>
  (await sent(base, operation, place)).said;

function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

const same = (a: Outcome, b: Outcome) => a.said === b.said && a.hash === b.hash;
const sameWorld = (a: World, b: World) => textOf(a) === textOf(b);
const conflict = ({ said }: Outcome) => said === "conflict";

/** Why two requests at once came to something that no order of them explains; undefined if one does. */
export async function unexplained(
  pairs: Pairs,
  one: Operation,
  two: Operation,
  turn: Turn,
): Promise<string | undefined> {
  const { first, second, world } = turn;
  const forward = await pairs.serial(one, two);
  const back = await pairs.serial(two, one);
  const asForward = same(first, forward.first) && same(second, forward.second) && sameWorld(world, forward.world);
  const asBack = same(first, back.second) && same(second, back.first) && sameWorld(world, back.world);
  if (asForward || asBack) return undefined;
  if (conflict(first) && conflict(second))
    return sameWorld(world, await pairs.beginning()) ? undefined : "both refused, and yet changed";
  if (conflict(first) || conflict(second)) {
    const [left, outcome] = conflict(first) ? [two, second] : [one, first];
    const alone = await pairs.single(left);
    if (same(outcome, alone.outcome) && sameWorld(world, alone.world)) return undefined;
  }
  // Twice the same at once: both may do what one alone does.
  if (one === two && sameWorld(world, forward.world) && same(first, forward.first) && same(second, forward.first))
    return undefined;
  for (const [left, outcome, octree] of [
    [one, first, second],
    [two, second, first],
  ] as const) {
    if (!octree.outdated) continue;
    const alone = await pairs.single(left); // what only builds an octree leaves the edit that outdated it alone
    if (same(outcome, alone.outcome) && sameWorld(world, alone.world)) return undefined;
  }
  const line = (name: string, a: Outcome, b: Outcome, w: World) =>
    `  ${name}: ${a.said} ${a.hash || a.text.slice(0, 160)}; ${b.said} ${b.hash || b.text.slice(0, 160)}; ${textOf(w)}`;
  return [
    `${one.name} and ${two.name} at once:`,
    line("came to", first, second, world),
    line("one first", forward.first, forward.second, forward.world),
    line("two first", back.second, back.first, back.world),
    differing(first, forward.first, back.second),
    differing(second, forward.second, back.first),
  ].join("\n");
}

/** Where an answer differs from both of the other two. */
function differing(came: Outcome, forward: Outcome, back: Outcome): string {
  if (came.hash === forward.hash || came.hash === back.hash) return "";
  const at = [...came.text].findIndex((letter, i) => letter !== forward.text[i]);
  const near = (text: string) => text.slice(Math.max(0, at - 60), at + 60);
  return `  answer: ${near(came.text)}\n  serial: ${near(forward.text)}\n  ${hashOf(back.text)}: ${near(back.text)}`;
}
