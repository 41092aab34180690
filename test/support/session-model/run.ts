import { readNumbers } from "../../../backend/services/files/preview/values.ts";
import { create, rowsOf, type TestApp } from "../app/app.ts";
import { readRun } from "../app/run-body.ts";
import { editable, type ModelCloud, survivors, type Vec3 } from "./cloud.ts";
import type { Scenario } from "./commands.ts";
import { compareMisses, comparePoints, compareState, Difference, mustEqual } from "./compare.ts";
import { hasMisses } from "./edits.ts";
import { LABEL_SLUGS, type Plan, type PlanLimits, planOf, type World } from "./plan.ts";
import { matchCopy } from "./recovery.ts";
import { type CloudWish, sourceOf } from "./source.ts";

type Body = Readonly<Record<string, unknown>>;
export interface Answer {
  readonly status: number;
  readonly body: Body;
}

const STREAMED = new Set<Plan["op"]>(["bake", "filter", "extractByColumn", "commitLabels"]);

/** An answer as the client sees it; a stream's tail is its body. Errors: a stream that ended with an error. */
export function answerOf(plan: Plan, status: number, bytes: Uint8Array): Answer {
  if (status !== 200 || !STREAMED.has(plan.op))
    return { status, body: JSON.parse(Buffer.from(bytes).toString()) as Body };
  const { outcome } = readRun(bytes);
  if (outcome.kind !== "json") throw new Difference(`${plan.url} ended with ${JSON.stringify(outcome)}`);
  return { status, body: outcome.value as Body };
}

/** Ids of the sessions that an answer says were made, in the model's order. */
function childIds(plan: Plan, body: Body): string[] {
  const of = (part: unknown) => (part as { session_id: string }).session_id;
  if (plan.op === "extractByColumn") return (body.children as unknown[]).map(of);
  const part = body.leftover ?? body.extracted ?? body.duplicate ?? body.merged;
  return part ? [of(part)] : [];
}

/** Octree blocks of an answer with the session each one shows. */
function blocks(plan: Plan, body: Body): [Body, ModelCloud][] {
  const parts = (
    plan.op === "extractByColumn" ? body.children : [body.leftover ?? body.extracted ?? body.duplicate ?? body.merged]
  ) as Body[];
  const own = plan.op === "split" ? body.kept : plan.op === "extractByColumn" ? body.parent : body;
  const found = plan.children.map((child, i): [Body, ModelCloud] => [parts[i] ?? {}, child]);
  const shown = own as Body | undefined;
  return plan.after && typeof shown?.cache_id === "string" ? [...found, [shown, plan.after]] : found;
}

function checkBlock(block: Body, cloud: ModelCloud): void {
  const octree = cloud.current;
  if (!octree) throw new Difference("the answer has an octree, the session must have none");
  octree.id ??= block.cache_id as string;
  mustEqual("cache_id of the answer", block.cache_id, octree.id);
  mustEqual("point_count of the answer", block.point_count, octree.positions.length);
  const column = cloud.extras.get("cls");
  const classes = editable(cloud).map((row) => column?.[row] ?? 0);
  if (!column || classes.length === 0) return;
  const seen = (block.observed_classes as Record<string, number[]>).cls;
  mustEqual(
    "observed classes",
    seen,
    [...new Set(classes)].sort((a, b) => a - b),
  );
}

/** Checks an answer and returns the sessions afterwards. */
export function settle(world: World, plan: Plan, answer: Answer): Map<string, ModelCloud> {
  if (answer.status !== plan.status) {
    throw new Difference(
      `${plan.url} answered ${answer.status} ${JSON.stringify(answer.body)}, must be ${plan.status}`,
    );
  }
  const after = new Map(world);
  if (plan.status !== 200) return after;
  const { children: wanted, ...rest } = plan.answer;
  for (const [key, value] of Object.entries(rest)) mustEqual(`${plan.url}: ${key}`, answer.body[key], value);
  if (wanted) {
    const values = (answer.body.children as Body[]).map(({ value }) => ({ value }));
    mustEqual("values of the children", values, wanted);
  }
  const ids = childIds(plan, answer.body);
  mustEqual(`${plan.url}: number of new sessions`, ids.length, plan.children.length);
  for (const [block, cloud] of blocks(plan, answer.body)) checkBlock(block, cloud);
  const [merged] = plan.op === "merge" ? plan.children : [];
  if (merged) {
    const { has_misses, world_shift, miss_octree_cache_id } = answer.body.merged as Body;
    const expected = { has_misses: hasMisses(merged), world_shift: merged.shift, overlay: hasMisses(merged) };
    mustEqual("merged", { has_misses, world_shift, overlay: miss_octree_cache_id !== null }, expected);
  }
  if (plan.after) after.set(plan.id, plan.after);
  else after.delete(plan.id);
  ids.forEach((id, i) => {
    if (after.has(id)) throw new Difference(`new session ${id} was there before`);
    after.set(id, plan.children[i] as ModelCloud);
  });
  return after;
}

/** Creates the session of a generated file; the reader's intensity scaling is taken over. */
export async function open(made: TestApp, wish: CloudWish, name: string): Promise<[string, ModelCloud]> {
  const { text, world_shift, cloud } = sourceOf(wish);
  const { session_id } = await create(made, made.file(name, text), { world_shift });
  const session = await made.deps.sessions.get(session_id);
  const scaled = session.state.columns.get("intensity")?.native;
  const intensity = scaled ? Array.from(readNumbers(scaled).slice(0, cloud.positions.length), Number) : null;
  const units = session.state.meta.intensity_units ?? null;
  return [session_id, compareState(session.state, { ...cloud, intensity: cloud.intensity && intensity, units })];
}

/**
 * Runs a scenario and compares after every command, then undoes everything step by step; before that, `between` may put
 * other sessions in the place of these. Closes what is open at the end.
 */
export async function runScenario(
  made: TestApp,
  { clouds, commands }: Scenario,
  limits: PlanLimits,
  between: (world: World) => Promise<World> = async (world) => world,
): Promise<number> {
  let world: World = new Map();
  let done = 0;
  const states = new Map<string, unknown>();
  const look = async (id: string, cloud: ModelCloud): Promise<ModelCloud> => {
    const session = await made.deps.sessions.get(id);
    const taken = compareState(session.state, cloud);
    states.set(id, session.state);
    return taken;
  };
  try {
    for (const [i, wish] of clouds.entries()) world = new Map([...world, await open(made, wish, `source-${i}.txt`)]);
    for (const [turn, command] of commands.entries()) {
      if (command.op === "spill") {
        await made.deps.sessions.spillIdle(0);
        for (const [id, cloud] of world) await look(id, cloud);
        continue;
      }
      if (command.op === "restart") {
        await matchCopy(made.sessions, { maxDeletedHistory: limits.maxSteps }, world);
        continue;
      }
      const plan = planOf(world, command, turn, limits);
      if (!plan) continue;
      const { method, url, payload } = plan;
      const reply = await made.app.inject({ method, url, ...(payload && { payload }) });
      const after = settle(world, plan, answerOf(plan, reply.statusCode, reply.rawPayload));
      const next = new Map<string, ModelCloud>();
      for (const [id, cloud] of after) {
        const touched = cloud !== world.get(id) || id === plan.id;
        const session = await made.deps.sessions.get(id);
        next.set(id, touched ? await look(id, cloud) : cloud);
        if (!touched && states.has(id) && session.state !== states.get(id)) next.set(id, await look(id, cloud));
      }
      world = next;
      if (command.look % 6 === 0) await lookDeeper(made, plan, world, new Set(after.keys()));
      done += 1;
    }
    await undoEverything(made, await between(world), limits);
  } finally {
    for (const { id } of made.deps.sessions.list()) await made.deps.sessions.delete(id);
  }
  return done;
}

/** The octrees on disk and an export, of the session that was edited and of those that were made. */
async function lookDeeper(made: TestApp, plan: Plan, world: World, ids: ReadonlySet<string>): Promise<void> {
  const edited = [...ids].slice(ids.size - plan.children.length);
  for (const id of [plan.id, ...edited]) {
    const cloud = world.get(id);
    if (!cloud) continue;
    if (cloud.current) {
      const { meta } = (await made.deps.sessions.get(id)).state;
      comparePoints(made.octrees, cloud.current);
      if (!meta.miss_octree_origin) compareMisses(made.octrees, meta.miss_octree_cache_id, cloud.current);
    }
    await compareExport(made, id, cloud);
  }
}

/** Survivors in order, in the world, as a text export writes them. */
async function compareExport(made: TestApp, id: string, cloud: ModelCloud): Promise<void> {
  const kept = survivors(cloud);
  if (kept.length === 0) return;
  const columns = ["cls", "frac"].filter((slug) => cloud.extras.has(slug));
  const rows = await rowsOf(made, id, columns);
  mustEqual("exported rows", rows.length, kept.length);
  const [x, y, z] = cloud.shift ?? [0, 0, 0];
  kept.forEach((row, i) => {
    const [px, py, pz] = cloud.positions[row] as Vec3;
    const line = rows[i] ?? {};
    const wrong = [px + x - (line.X ?? 0), py + y - (line.Y ?? 0), pz + z - (line.Z ?? 0)].some(
      (d) => !(Math.abs(d) < 1e-6),
    );
    if (wrong) throw new Difference(`line ${i} of the export is ${line.X} ${line.Y} ${line.Z}, must be row ${row}`);
    for (const slug of columns) {
      const value = Math.fround(line[slug] ?? 0); // the shortest text that is the same f32
      mustEqual(`${slug} in line ${i} of the export`, value, cloud.extras.get(slug)?.[row]);
    }
  });
}

/** Takes every step back, one by one, and compares: what a mask shows does not say what its undo holds. */
async function undoEverything(made: TestApp, world: World, limits: PlanLimits): Promise<void> {
  for (const [id, start] of world) {
    let cloud = start;
    const step = async (command: Parameters<typeof planOf>[1]) => {
      const plan = planOf(new Map([[id, cloud]]), command, 0, limits) as Plan;
      const { method, url, payload } = plan;
      const reply = await made.app.inject({ method, url, ...(payload && { payload }) });
      const after = settle(new Map([[id, cloud]]), plan, answerOf(plan, reply.statusCode, reply.rawPayload));
      cloud = compareState((await made.deps.sessions.get(id)).state, after.get(id) as ModelCloud);
    };
    for (let keep = cloud.steps.length; keep > 0; keep -= 1) {
      await step({ op: "reset", on: 0, look: 1, keep: keep - 1 });
    }
    for (const [slug, name] of LABEL_SLUGS.entries()) {
      for (let keep = (cloud.labels.get(name)?.length ?? 0) - 1; keep >= 0; keep -= 1) {
        await step({ op: "resetLabels", on: 0, look: 1, slug, by: "ids", keep });
      }
    }
  }
}
