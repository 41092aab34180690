import { mkdirSync, readdirSync, utimesSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { CreateSessionTail } from "../../shared/contract/cloud-session/create.ts";
import { makeApp } from "../support/app/app.ts";
import { tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { folderOfFile, QUICK } from "../support/run/folders.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import type { ModelCloud } from "../support/session-model/cloud.ts";
import { type Command, command } from "../support/session-model/commands.ts";
import { type Plan, planOf, type World } from "../support/session-model/plan.ts";
import { matchCopy } from "../support/session-model/recovery.ts";
import { answerOf, settle } from "../support/session-model/run.ts";
import { COLUMN_BITS, random, sourceOf } from "../support/session-model/source.ts";

const KILLS = Number(process.env.APP_TEST_KILLS ?? 8);
const SEED = Number(process.env.APP_TEST_SEED ?? Date.now() % 1_000_000);
const LIMITS = { maxSteps: 4, maxRows: 400, exactMotions: true };
const CONFIG = { maxDeletedHistory: LIMITS.maxSteps };
const ENV = { APP_MAX_DELETED_HISTORY: `${LIMITS.maxSteps}` };
/** Commands of one life at most, and sessions at the start of one. */
const LIFE = 12;
const SESSIONS = 3;
/** Commands that write much or change several sessions: half the kills go for them. */
const SEVERAL = new Set<Command["op"]>(["split", "extract", "extractByColumn", "merge", "bake", "filter", "transform"]);
/** What an operation took so far, milliseconds: a kill inside it falls between its beginning and a little behind it. */
const took = new Map<Plan["op"], number>();
const GUESS_MS = 20;
/** Half of the starts to their first answer, what the machine adds left out: a third of a second on an idle one. */
const QUICK_MS = 2000;
/** Guards against a test that hangs: a kill takes one second on an idle machine. */
const GUARD_MS = 60_000 + KILLS * 30_000;
/** Commands that make sessions: half of their kills fall on the moment when the first one is in place. */
const PARENTS = new Set<Plan["op"]>(["split", "extract", "extractByColumn", "merge"]);

const folder = folderOfFile("crash-", QUICK);
let running: BackendProcess | undefined;
afterAll(() => running?.kill());

const next = random(SEED);
const below = (n: number) => Math.floor(next() * n);
const trail: string[] = [];
let sources = 0;

async function openSource({ url }: BackendProcess): Promise<[string, ModelCloud]> {
  sources += 1;
  const columns = below(2 ** COLUMN_BITS) & ~2; // intensity is rescaled by the reader
  const { text, world_shift, cloud } = sourceOf({
    seed: below(1e9),
    rows: 1 + below(60),
    columns,
    place: below(4),
    exact: true,
  });
  const path = join(folder, `source-${sources}.txt`);
  writeFileSync(path, text);
  const { session_id, cache_id } = await tailOf<CreateSessionTail>(url, "/api/cloud/session/create", {
    source_path: path,
    world_shift,
  });
  if (cloud.current) cloud.current.id = cache_id;
  return [session_id, cloud];
}

async function send({ url }: BackendProcess, { method, url: path, payload }: Plan) {
  const body = payload && { body: JSON.stringify(payload), headers: { "content-type": "application/json" } };
  const answer = await fetch(url + path, { method, ...body });
  return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
}

/** Kills the process as soon as a session's folder appears under its id, or when `given_up` settles. */
async function killAtBirth({ pid, kill }: BackendProcess, given_up: Promise<unknown>): Promise<void> {
  const known = new Set(entries("data", "sessions"));
  const watcher = watch(join(folder, "data", "sessions"));
  const born = new Promise<void>((resolve) => {
    watcher.on("change", (_event, name) => {
      if (!/^[0-9a-f]{8}$/.test(String(name)) || known.has(String(name))) return;
      process.kill(pid, "SIGKILL");
      watcher.close();
      resolve();
    });
  });
  await Promise.race([born, given_up]);
  watcher.close();
  await kill();
}

/** Sends commands until one is cut off by the kill, or the kill falls between two. */
async function live(backend: BackendProcess, start: World, commands: readonly Command[]) {
  let world = start;
  const heavy = commands.findIndex(({ op }, i) => i > 1 && SEVERAL.has(op));
  const last = heavy > 0 && below(3) > 0 ? heavy : below(commands.length);
  for (const [turn, wish] of commands.entries()) {
    const plan = planOf(world, wish, turn + 100 * sources, LIMITS);
    if (!plan) continue;
    trail.push(`${plan.method} ${plan.url} ${JSON.stringify(plan.payload)}`);
    const began = performance.now();
    const sent = send(backend, plan);
    if (turn < last) {
      const { status, bytes } = await sent;
      took.set(plan.op, performance.now() - began);
      world = settle(world, plan, answerOf(plan, status, bytes));
      continue;
    }
    const answered = sent.then(
      (answer) => answer,
      () => undefined,
    );
    const inside_ms = 0.8 * next() * (took.get(plan.op) ?? GUESS_MS);
    const wait = new Promise((resolve) => setTimeout(resolve, inside_ms));
    if (PARENTS.has(plan.op) && below(2) === 0) await killAtBirth(backend, answered);
    else if (below(8) > 0) await Promise.race([answered, wait]);
    await backend.kill();
    const answer = await answered;
    if (!answer || answer.status === 0) return { world, cutOff: plan };
    trail.push("answered before the kill");
    return { world: settle(world, plan, answerOf(plan, answer.status, answer.bytes)), cutOff: undefined };
  }
  await backend.kill();
  return { world, cutOff: undefined };
}

const entries = (...path: string[]) => readdirSync(join(folder, ...path)).sort();

test(
  `${KILLS} times kill -9: every restart finds all answered edits, and the edit in progress completely or not at all`,
  async () => {
    let world: World = new Map();
    let cutOff = 0;
    let kept = 0;
    const starts: number[] = [];
    const data = join(folder, "data");
    mkdirSync(data);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const backend = await startProcess(data, ENV);
        running = backend;
        const stop = stopwatch(backend.pid);
        const [touched] = world.keys();
        if (touched) await fetch(`${backend.url}/api/cloud/session/${touched}/label_summary`);
        starts.push(backend.start.own_ms + stop().own_ms);
        const alive = [...world.keys()];
        for (const id of alive.slice(0, Math.max(0, alive.length - 2 * SESSIONS))) {
          const { status } = await fetch(`${backend.url}/api/cloud/session/${id}`, { method: "DELETE" });
          expect(status).toBe(200);
          world = new Map([...world].filter(([key]) => key !== id));
        }
        while (world.size < SESSIONS) world = new Map([...world, await openSource(backend)]);
        const commands = fc.sample(command, { seed: below(1e9), numRuns: LIFE });
        trail.length = 0;
        const end = await live(backend, world, commands);
        const match = await matchCopy(join(data, "sessions"), CONFIG, end.world, end.cutOff);
        world = match.world;
        cutOff += end.cutOff ? 1 : 0;
        kept += match.done ? 1 : 0;
      }
    } catch (error) {
      throw new Error(`seed ${SEED}: ${(error as Error).message}\n${trail.join("\n")}`, { cause: error });
    }
    console.log(`session crash: ${KILLS} kills, ${cutOff} in a request of which ${kept} had been saved`);
    console.log(`restart and first answer: ${Math.max(...starts).toFixed(0)} ms at most`);
    expect([...starts].sort((a, b) => a - b)[Math.floor(starts.length / 2)]).toBeLessThan(QUICK_MS);
    await expectTidy(world);
  },
  GUARD_MS,
);

/** One clean start later nothing of the dead processes is left, and each session has the files it needs. */
async function expectTidy(world: World): Promise<void> {
  const long_ago = Date.now() / 1000 - 3600;
  mkdirSync(join(folder, "data", "sessions", "0badcafe.new")); // the kills leave one in few runs only
  for (const name of entries("data", "sessions"))
    utimesSync(join(folder, "data", "sessions", name), long_ago, long_ago);
  const made = await makeApp({ ...CONFIG, octreeCacheRoot: join(folder, "data", "octrees") }, folder);
  try {
    await made.deps.sessions.recovered();
    const ids = made.deps.sessions.list().map(({ id }) => id);
    expect(ids.sort()).toEqual([...world.keys()].sort());
    await eventually(() => expect(entries("data", "sessions")).toEqual([...world.keys()].sort()));
    for (const session of made.deps.sessions.list()) {
      await made.deps.sessions.spill(session);
      expect(session.state.meta.recovery_losses, `losses of session ${session.id}`).toBeUndefined();
      const { columns, undo } = session.state;
      const strokes = [...undo.labels.values()].flat();
      const files = entries("data", "sessions", session.id).filter((name) => name.endsWith(".col"));
      const most = columns.size + undo.deletes.length + 1 + 2 * strokes.length;
      expect(files.length, `files of session ${session.id}`).toBeLessThanOrEqual(most);
      expect(entries("data", "sessions", session.id).filter((name) => name.includes(".tmp"))).toEqual([]);
    }
    await eventually(() => expect(entries("data", "octrees").filter((name) => name.includes("staging"))).toEqual([]));
  } finally {
    await made.close();
  }
}
