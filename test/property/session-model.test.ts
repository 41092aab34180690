import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { folderOfFile, QUICK } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { scenario } from "../support/session-model/commands.ts";
import { runScenario } from "../support/session-model/run.ts";

const SEQUENCES = Number(process.env.APP_TEST_SEQUENCES ?? 100);
const SEED = process.env.APP_TEST_SEED;
const LIMITS = { maxSteps: 4, maxRows: 700 };
const CLEAN_EVERY = 50;

const folder = folderOfFile("model-", QUICK);
const made = sessionTest({ config: { maxDeletedHistory: LIMITS.maxSteps }, folder });

test(
  `${SEQUENCES} random sequences of edits equal a model of plain arrays`,
  async () => {
    const before = addon.bulkBytesInUse();
    let runs = 0;
    let commands = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async (wish) => {
        commands += await runScenario(made, wish, LIMITS);
        runs += 1;
        made.log.length = 0;
        if (runs % CLEAN_EVERY === 0) {
          for (const id of readdirSync(made.octrees)) rmSync(join(made.octrees, id), { recursive: true });
        }
      }),
      { numRuns: SEQUENCES, ...(SEED && { seed: Number(SEED) }) },
    );
    console.log(`session model: ${runs} sequences, ${commands} commands`);
    await made.deps.jobs.idle();
    expect(readdirSync(made.sessions).filter((name) => !name.startsWith("."))).toEqual([]);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before)); // a file that was being written keeps its column
  },
  60_000 + SEQUENCES * 1000, // twenty times what a sequence takes on a machine of its own
);
