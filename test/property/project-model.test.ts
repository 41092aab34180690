import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { contentsOf, opened, saved } from "../support/project/project.ts";
import { folderOfFile, QUICK } from "../support/run/folders.ts";
import { stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { scenario } from "../support/session-model/commands.ts";
import type { World } from "../support/session-model/plan.ts";
import { runScenario } from "../support/session-model/run.ts";

const SEQUENCES = Number(process.env.APP_TEST_PROJECT_SEQUENCES ?? 15);
const LIMITS = { maxSteps: 4, maxRows: 700 };

const folder = folderOfFile("project-model-", QUICK);
const made = sessionTest({ config: { maxDeletedHistory: LIMITS.maxSteps }, folder });

/** Saves all sessions, closes them and opens the project: equal field by field. */
async function reopened(world: World): Promise<World> {
  const path = join(folder, "model.proj");
  const before = new Map<string, unknown>();
  for (const id of world.keys()) before.set(id, contentsOf(await stateOf(made, id)));
  await saved(made, path, [...world.keys()]);
  for (const id of world.keys()) await made.deps.sessions.delete(id);
  const { session_map, warnings } = await opened(made, path);
  expect(warnings).toEqual([]);
  for (const [old, id] of Object.entries(session_map)) {
    expect(contentsOf(await stateOf(made, id))).toEqual(before.get(old));
  }
  return new Map([...world].map(([old, cloud]) => [session_map[old] as string, cloud]));
}

test(
  `${SEQUENCES} random sequences of edits go through a project, and every step is undone behind it`,
  async () => {
    const before = addon.bulkBytesInUse();
    await fc.assert(
      fc.asyncProperty(scenario, async (wish) => {
        await runScenario(made, wish, LIMITS, reopened);
        made.log.length = 0;
      }),
      { numRuns: SEQUENCES },
    );
    await made.deps.jobs.idle();
    expect(readdirSync(made.sessions).filter((name) => !name.startsWith("."))).toEqual([]);
    expect(addon.bulkBytesInUse()).toBe(before);
  },
  60_000 + SEQUENCES * 2000,
);
