import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../../backend/config.ts";
import { makeApp, type TestApp } from "../app/app.ts";
import type { ModelCloud } from "./cloud.ts";
import { compareState, Difference } from "./compare.ts";
import type { Plan, World } from "./plan.ts";

/** What a restart came back with. */
export interface Recovered {
  readonly world: World;
  /** Whether the request that was cut off counts as done; undefined without one. */
  readonly done: boolean | undefined;
}

/**
 * Opens a copy of a folder of sessions as a restart would and compares. A copy, because the process that wrote them, be
 * it this one, owns the originals.
 */
export async function matchCopy(
  sessions: string,
  config: Partial<Config>,
  world: World,
  cutOff?: Plan,
): Promise<Recovered> {
  const copy = mkdtempSync(join(sessions, "..", "copy-"));
  cpSync(sessions, join(copy, "data", "sessions"), { recursive: true });
  for (const id of readdirSync(join(copy, "data", "sessions")))
    rmSync(join(copy, "data", "sessions", id, "owner.json"), { force: true });
  const made = await makeApp(config, copy);
  try {
    await made.deps.sessions.recovered();
    return await matchRecovered(made, world, cutOff);
  } finally {
    await made.close();
  }
}

/**
 * The sessions of a restarted service against the model: as they were before the request that was cut off, or as that
 * request leaves them, in all sessions alike. Errors: Difference, with what speaks against both.
 */
async function matchRecovered(made: TestApp, world: World, cutOff: Plan | undefined): Promise<Recovered> {
  const ids = made.deps.sessions.list().map(({ id }) => id);
  const against: string[] = [];
  for (const done of cutOff ? [false, true] : [undefined]) {
    const wanted = new Map(world);
    if (done && cutOff?.after) wanted.set(cutOff.id, cutOff.after);
    if (done && !cutOff?.after) wanted.delete(cutOff?.id ?? "");
    try {
      return { world: await matchAll(made, ids, wanted, (done && cutOff?.children) || []), done };
    } catch (error) {
      if (!(error instanceof Difference)) throw error;
      against.push(`${done ? "after it" : "before it"}: ${error.message}`);
    }
  }
  throw new Difference(`${cutOff ? `${cutOff.op} was cut off; ` : ""}${against.join("; ")}`);
}

async function matchAll(
  made: TestApp,
  ids: readonly string[],
  wanted: ReadonlyMap<string, ModelCloud>,
  children: readonly ModelCloud[],
): Promise<World> {
  const missing = [...wanted.keys()].filter((id) => !ids.includes(id));
  if (missing.length > 0) throw new Difference(`sessions ${missing} are gone`);
  const fresh = ids.filter((id) => !wanted.has(id));
  if (fresh.length !== children.length) {
    throw new Difference(`${fresh.length} sessions are there that nobody was told of, must be ${children.length}`);
  }
  const found = new Map<string, ModelCloud>();
  for (const [id, cloud] of wanted) found.set(id, await compared(made, id, cloud));
  for (const child of children) {
    const [id, cloud] = await firstMatch(
      made,
      fresh.filter((id) => !found.has(id)),
      child,
    );
    found.set(id, cloud);
  }
  return found;
}

async function compared(made: TestApp, id: string, cloud: ModelCloud): Promise<ModelCloud> {
  try {
    return compareState((await made.deps.sessions.get(id)).state, cloud);
  } catch (error) {
    if (error instanceof Difference) throw new Difference(`session ${id}: ${error.message}`);
    throw error;
  }
}

async function firstMatch(made: TestApp, ids: readonly string[], cloud: ModelCloud): Promise<[string, ModelCloud]> {
  const against: string[] = [];
  for (const id of ids) {
    try {
      return [id, await compared(made, id, cloud)];
    } catch (error) {
      against.push((error as Error).message);
    }
  }
  throw new Difference(`no new session is the child that was asked for: ${against.join("; ")}`);
}
