import { beforeAll, expect, test } from "vitest";
import { makeApp } from "../support/app/app.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";
import { hashOfState, textOf } from "../support/session-pairs/answers.ts";
import { killedCopy } from "../support/session-pairs/killed-copy.ts";
import { OPERATIONS, type Operation } from "../support/session-pairs/operations.ts";
import { type Kept, Pairs, unexplained } from "../support/session-pairs/pairs.ts";

/*
 * Two requests at once on one session: each is answered with a result or a refusal, and answers and sessions are those of
 * one of the two orders, or of one request alone where the other is refused with a conflict. A sample in `npm test`;
 * APP_TEST_PAIRS=all runs every pair in both orders.
 */

const COUNT = process.env.APP_TEST_PAIRS ?? "8";
const ONLY = process.env.APP_TEST_PAIRS_OF;
const SEED = Number(process.env.APP_TEST_SEED ?? Date.now() % 1_000_000);
/** Sessions that a restart looks at, at once. */
const BATCH = 30;

const made = sessionTest({ listening: true, closeSessions: "at the end" });
const next = random(SEED);
let pairs: Pairs;
beforeAll(async () => {
  pairs = await Pairs.begin(made, made.base);
});

type Pair = readonly [Operation, Operation];

function chosen(): Pair[] {
  const all = OPERATIONS.flatMap((one) => OPERATIONS.map((two): Pair => [one, two])).filter(
    ([one, two]) => (one.edits || two.edits) && (!ONLY || `${one.name}, ${two.name}`.includes(ONLY)),
  );
  if (COUNT === "all") return all;
  const drawn = all.map((pair) => ({ pair, at: next() })).sort((a, b) => a.at - b.at);
  return drawn.slice(0, Number(COUNT)).map(({ pair }) => pair);
}

/** A moment in which the first operation is likely to run. */
const moment = (one: Operation) => (next() < 0.3 ? 0 : 0.9 * next() * (pairs.took.get(one.name) ?? 20));

/** What a process that is killed at this moment leaves holds the same sessions. */
async function expectSameAfterRestart(kept: readonly Kept[]): Promise<string[]> {
  const copy = killedCopy(made.sessions);
  const again = await makeApp({}, copy);
  try {
    await again.deps.sessions.recovered();
    const found = new Map(again.deps.sessions.list().map((one) => [one.id, one]));
    const wrong: string[] = [];
    for (const { id, hash } of kept) {
      const back = found.has(id) ? hashOfState((await again.deps.sessions.get(id)).state) : "gone";
      if (back !== hash) wrong.push(`session ${id} was ${hash}, after a restart ${back}`);
    }
    return wrong;
  } finally {
    await again.close();
  }
}

const GUARD_MS = COUNT === "all" ? 14_400_000 : 60_000 + Number(COUNT) * 20_000;

test(`two requests at once (seed ${SEED})`, { timeout: GUARD_MS }, async () => {
  const wrong: string[] = [];
  let kept: Kept[] = [];
  const names: string[] = [];
  const said = new Map<string, number>();
  const look = async () => {
    const lost = await expectSameAfterRestart(kept);
    if (lost.length > 0) wrong.push(`${lost.join("\n")}\n  after ${names.join("; ")}`);
    for (const { id } of kept) await made.deps.sessions.delete(id);
    kept = [];
    names.length = 0;
  };
  for (const [one, two] of chosen()) {
    await pairs.single(one);
    names.push(`${one.name}, ${two.name}`);
    const why = await pairs.together(one, two, moment(one), kept).then(
      (turn) => {
        for (const outcome of [turn.first.said, turn.second.said]) said.set(outcome, (said.get(outcome) ?? 0) + 1);
        return unexplained(pairs, one, two, turn);
      },
      (error: Error) => `${one.name} and ${two.name} at once: ${error.message}`,
    );
    if (why) {
      wrong.push(why);
      console.log(why);
    }
    if (kept.length >= BATCH) await look();
  }
  await look();
  console.log(`two requests at once, answers: ${[...said].map(([what, count]) => `${what} ${count}`).join(", ")}`);
  expect(wrong.join("\n"), `seed ${SEED}`).toBe("");
});

test(`a client that hangs up while another request runs (seed ${SEED})`, { timeout: GUARD_MS }, async () => {
  const wrong: string[] = [];
  const few = chosen().filter(([one]) => one.name !== "close");
  for (const [one, two] of COUNT === "all" ? few : few.slice(0, few.length / 3)) {
    const alone = await pairs.single(two);
    await pairs.single(one);
    const { outcome, world } = await pairs.leftTogether(one, two, moment(one), moment(one));
    const forward = await pairs.serial(one, two);
    const back = await pairs.serial(two, one);
    const allowed = [
      [alone.outcome, alone.world],
      [forward.second, forward.world],
      [back.first, back.world],
    ] as const;
    const fits = allowed.some(
      ([other, sessions]) =>
        other.said === outcome.said && other.hash === outcome.hash && textOf(sessions) === textOf(world),
    );
    const afterFirst = await pairs.single(one);
    const refusedBehind = outcome.said === "conflict" && textOf(world) === textOf(afterFirst.world);
    const nothing = outcome.said === "conflict" && textOf(world) === textOf(await pairs.beginning());
    const behind = [afterFirst, forward, back].some((other) => textOf(other.world) === textOf(world));
    if (fits || refusedBehind || nothing || (outcome.outdated && behind)) continue;
    const line = `${one.name} left, ${two.name}: ${outcome.said} ${outcome.hash || outcome.text.slice(0, 200)}; ${textOf(world)}; allowed ${allowed.map(([other, sessions]) => `${other.said} ${other.hash} ${textOf(sessions)}`).join(" | ")}`;
    wrong.push(line);
    console.log(line);
  }
  expect(wrong.join("\n"), `seed ${SEED}`).toBe("");
});
