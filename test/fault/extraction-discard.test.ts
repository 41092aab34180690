import { readdirSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { openRun } from "../support/app/live-run.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { lineCloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

/** How long it takes to remove a folder; 0 until a run is to be canceled. */
const disk = vi.hoisted(() => ({ slow_ms: 0 }));
vi.mock("../../backend/file-moves.ts", async (original) => {
  const real = await original<typeof import("../../backend/file-moves.ts")>();
  const remove = async (path: string) => {
    await new Promise((resolve) => setTimeout(resolve, disk.slow_ms));
    await real.remove(path);
  };
  return { ...real, remove };
});

const CHILDREN = 60;
const made = sessionTest({ listening: true });

test("a canceled extraction ends before the files of its children are gone, and they go", async () => {
  const { session_id } = await lineCloud(
    made,
    Array.from({ length: 5 * CHILDREN }, (_, i) => 1 + (i % CHILDREN)),
  );
  const folders = readdirSync(made.sessions);
  const path = `/api/cloud/session/${session_id}/extract_by_column`;
  const run = await openRun(made.base, path, { slug: "class" });
  await eventually(() => expect(readdirSync(made.sessions).length).toBeGreaterThan(folders.length + CHILDREN / 2));
  disk.slow_ms = 60;
  const { own_ms, outcome } = await run.cancel();
  expect(outcome.kind).toBe("canceled");
  expect(own_ms).toBeLessThan(250);
  disk.slow_ms = 0;
  await eventually(() => expect(readdirSync(made.sessions)).toEqual(folders));
  expect(made.deps.sessions.list().map(({ id }) => id)).toEqual([session_id]);
});
