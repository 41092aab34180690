import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenProjectTail } from "../../shared/contract/project.ts";
import { appOfTest } from "../support/app/app.ts";
import { tailOf } from "../support/app/live-run.ts";
import { type BackendProcess, startProcess } from "../support/process/backend-process.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";
import { textOf, type World, worldOf } from "../support/session-pairs/answers.ts";
import { killedCopy } from "../support/session-pairs/killed-copy.ts";
import { OPERATIONS, type Operation } from "../support/session-pairs/operations.ts";
import { Pairs, saidOf } from "../support/session-pairs/pairs.ts";

/*
 * The service is killed while two edits of one session run: a restart finds what no, one or both of them leave, in one of
 * the two orders, and every edit that was answered. APP_TEST_PAIR_KILLS sets the number of kills.
 */

const KILLS = Number(process.env.APP_TEST_PAIR_KILLS ?? 3);
const SEED = Number(process.env.APP_TEST_SEED ?? Date.now() % 1_000_000);
const next = random(SEED);
const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
const EDITS = OPERATIONS.filter(({ edits, name }) => edits && name !== "close");

const made = sessionTest({ listening: true, closeSessions: "at the end" });
const folder = folderOfFile("pair-kills-");
let pairs: Pairs;
let running: BackendProcess | undefined;
beforeAll(async () => {
  pairs = await Pairs.begin(made, made.base);
});
afterAll(() => running?.kill());

/** What the sessions may hold when these requests were answered before the kill. */
async function allowed(one: Operation, two: Operation, answered: readonly (string | undefined)[]): Promise<World[]> {
  const both = [(await pairs.serial(one, two)).world, (await pairs.serial(two, one)).world];
  const alone = [(await pairs.single(one)).world, (await pairs.single(two)).world];
  const [first, second] = answered.map((said) => said === "done");
  if (first && second) return both.concat(alone); // an octree may have been outdated by the other
  if (first) return [...both, alone[0] as World];
  if (second) return [...both, alone[1] as World];
  return [...both, ...alone, await pairs.beginning()];
}

async function killAmid(one: Operation, two: Operation, turn: number): Promise<string | undefined> {
  const data = join(folder, `${turn}`);
  mkdirSync(data);
  const backend = await startProcess(data);
  running = backend;
  const open = async () => {
    const { session_map } = await tailOf<OpenProjectTail>(backend.url, "/api/project/open", { path: pairs.project });
    return Object.values(session_map)[0] ?? "";
  };
  const place = { made, id: await open(), other: await open(), project: pairs.project, folder: data };
  const answered: (string | undefined)[] = [undefined, undefined];
  const sent = [one, two].map(async (operation, i) => {
    answered[i] = await saidOf(backend.url, operation, place).catch(() => undefined);
  });
  await new Promise((resolve) => setTimeout(resolve, 2.5 * next() * (pairs.took.get(one.name) ?? 20)));
  const before = [...answered];
  await backend.kill();
  await Promise.all(sent);
  const again = await appOfTest({}, killedCopy(join(data, "sessions")));
  await again.deps.sessions.recovered();
  const world = await worldOf(again, place.id, new Set([place.other]));
  await again.close();
  const fits = (await allowed(one, two, before)).map(textOf);
  if (fits.includes(textOf(world))) return undefined;
  return `${one.name} and ${two.name} (answered: ${before}): ${textOf(world)}, must be one of ${fits.join(" | ")}`;
}

test(`${KILLS} times kill -9 amid two edits (seed ${SEED})`, { timeout: 60_000 + KILLS * 30_000 }, async () => {
  const wrong: string[] = [];
  for (let turn = 0; turn < KILLS; turn += 1) {
    const [one, two] = [pick(EDITS), pick(EDITS)];
    await pairs.single(one);
    const why = await killAmid(one, two, turn);
    if (why) {
      wrong.push(why);
      console.log(why);
    }
  }
  expect(wrong.join("\n"), `seed ${SEED}`).toBe("");
});
