import { ApiError, CanceledError } from "../../shared/client/index.ts";
import type { Uniform } from "../accuracy/random.ts";
import { ANALYSES, CLOUD_ANALYSES } from "./analyses.ts";
import { lookAgain, onCloud, STEPS, type Step, type User, Wrong } from "./steps.ts";

export interface Tally {
  steps: number;
  canceled: number;
  /** Steps that ended with the right answer, by name. */
  readonly done: Map<string, number>;
  /** Steps refused with a reason that a user must expect, by name and reason. */
  readonly refused: Map<string, number>;
  readonly wrong: string[];
}

const CANCEL_SHARE = 0.12;
/** A step must not take longer, whatever the others do. */
export const STALL_MS = 180_000;

const onClouds = CLOUD_ANALYSES.map(([name, weight, step]) => [name, weight, onCloud(step)] as const);
const ALL = [...STEPS, ...onClouds, ...ANALYSES];

function chosen(random: Uniform): readonly [string, number, Step] {
  let at = random() * ALL.reduce((sum, [, weight]) => sum + weight, 0);
  for (const step of ALL) {
    at -= step[1];
    if (at < 0) return step;
  }
  return ALL[0] as (typeof ALL)[number];
}

/** One step, some of them canceled at a random moment, as often by a cancel as by a connection that breaks. */
export async function oneStep(user: User, tally: Tally): Promise<void> {
  const [name, , step] = chosen(user.random);
  const interrupted = user.random() < CANCEL_SHARE;
  const abort = new AbortController();
  const timer = interrupted ? setTimeout(() => abort.abort(), 1500 * user.random() ** 2) : undefined;
  let watch: NodeJS.Timeout | undefined;
  const stall = new Promise<never>((_, reject) => {
    const tell = async () => {
      const health = await user.client.health().catch((error: Error) => error.message);
      const now = JSON.stringify([health, user.clouds]);
      reject(new Wrong(`${name} did not end within ${STALL_MS / 1000} s: ${now}`));
    };
    watch = setTimeout(() => void tell(), STALL_MS);
  });
  tally.steps += 1;
  try {
    await Promise.race([step(user, interrupted ? { signal: abort.signal } : {}), stall]);
    tally.done.set(name, (tally.done.get(name) ?? 0) + 1);
  } catch (error) {
    await judge(user, tally, name, error);
  } finally {
    clearTimeout(timer);
    clearTimeout(watch);
  }
}

/** What a user may be told: a 4xx, or the same as the last line of a stream, whose status is 200. */
function isExpected({ status, code }: ApiError): boolean {
  if (status === 200) return code !== "internal" && code !== "io";
  return status >= 400 && status < 500;
}

async function judge(user: User, tally: Tally, name: string, error: unknown): Promise<void> {
  if (error instanceof CanceledError || (error as Error).name === "AbortError") tally.canceled += 1;
  else if (error instanceof ApiError && isExpected(error)) {
    const reason = `${name}: ${error.code} ${error.message.replace(/[0-9a-f]{8}|[\d.]+/g, "#").slice(0, 120)}`;
    tally.refused.set(reason, (tally.refused.get(reason) ?? 0) + 1);
  } else tally.wrong.push(`${name}: ${(error as Error).stack ?? String(error)}`);
  await caughtUp(user, tally);
}

/** After a step whose answer was lost: what each cloud holds now. A cloud that is gone was closed by that step. */
async function caughtUp(user: User, tally: Tally): Promise<void> {
  for (const cloud of [...user.clouds]) {
    try {
      await lookAgain(user, cloud);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) user.clouds.splice(user.clouds.indexOf(cloud), 1);
      else tally.wrong.push(`looking again: ${(error as Error).stack ?? String(error)}`);
    }
  }
}
