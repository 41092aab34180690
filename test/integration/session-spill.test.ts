import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { Job } from "../../backend/jobs/job.ts";
import { addon } from "../../backend/native/core/addon.ts";
import { appOfTest, create, type TestApp } from "../support/app/app.ts";
import { eventually } from "../support/run/stopwatch.ts";

afterEach(() => void vi.useRealTimers());

const ROWS = ["x y z", ...Array.from({ length: 3000 }, (_, i) => `${i} 0 0`)].join("\n");
const region = { kind: "box", min: [-1, -1, -1], max: [10, 1, 1] };
const painted = { kind: "box", min: [20, -1, -1], max: [30, 1, 1] };
/** A session with a deletion and a stroke: mask and label column live in memory only. */
async function edited(made: TestApp, name: string): Promise<string> {
  const { session_id } = await create(made, made.file(`${name}.txt`, ROWS));
  const url = `/api/cloud/session/${session_id}`;
  const strokes = [{ stroke_id: "a", region: painted, to_class: 3 }];
  for (const [action, payload] of [
    ["delete_region", { region }],
    ["label_region", { strokes }],
  ] as const) {
    const { statusCode } = await made.app.inject({ method: "POST", url: `${url}/${action}`, payload });
    expect(statusCode).toBe(200);
  }
  return session_id;
}
const inMemory = async (made: TestApp, id: string) => {
  const found = made.deps.sessions.list().find((session) => session.id === id); // a look that does not count as use
  return [...(found?.state.columns ?? [])].filter(([, { file }]) => file === null).map(([key]) => key);
};
const summary = async (made: TestApp, id: string) =>
  (await made.app.inject({ url: `/api/cloud/session/${id}/label_summary` })).body;

test("an idle session moves its memory to files and answers as before", async () => {
  const made = await appOfTest({ sessionIdleTtlS: 60 });
  const before = addon.bulkBytesInUse();
  const id = await edited(made, "idle");
  const answer = await summary(made, id);
  expect(await inMemory(made, id)).toEqual(["deleted", "extra/manual_class"]);
  await made.deps.sessions.spillIdle();
  expect(await inMemory(made, id)).toHaveLength(2); // used a moment ago
  const session = await made.deps.sessions.get(id);
  vi.spyOn(session, "lastUsed", "get").mockReturnValue(performance.now() - 61_000);
  await made.deps.sessions.spillIdle();
  expect(await inMemory(made, id)).toEqual([]);
  expect(addon.bulkBytesInUse()).toBe(before);
  const files = readdirSync(join(made.sessions, id)).filter((name) => name.endsWith(".col"));
  expect(files).toHaveLength(6); // positions, mask, labels; rows of each edit, and the old class; nothing else
  expect(await summary(made, id)).toBe(answer);
  const reset = await made.app.inject({ method: "POST", url: `/api/cloud/session/${id}/reset_edits`, payload: {} });
  expect(reset.json()).toMatchObject({ deleted_count: 0, remaining_count: 3000 });
});

test("a time of 0 never spills by time; beyond the count, the least recently used session is spilled first", async () => {
  const made = await appOfTest({ sessionIdleTtlS: 0, maxCloudSessions: 1 });
  const old = await edited(made, "old");
  const fresh = await edited(made, "fresh");
  await made.deps.sessions.get(fresh);
  await made.deps.sessions.spillIdle();
  expect([await inMemory(made, old), (await inMemory(made, fresh)).length]).toEqual([[], 2]);
});

test("an operation that waits for memory makes idle sessions spill", async () => {
  const made = await appOfTest({ memoryBudgetBytes: 1000 });
  const id = await edited(made, "pressed");
  const [first, second] = [new Job(), new Job()];
  let done: () => void = () => undefined;
  const running = made.deps.admission.run(first, "first", 900, () => new Promise<void>((resolve) => (done = resolve)));
  const waiting = made.deps.admission.run(second, "second", 900, async () => "ran");
  await eventually(async () => expect(await inMemory(made, id)).toEqual([]));
  done();
  await running;
  expect(await waiting).toBe("ran");
});

test("without a journal nothing is spilled and nothing is lost", async () => {
  const made = await appOfTest({ sessionJournal: false });
  const id = await edited(made, "off");
  await made.deps.sessions.spillIdle(0);
  expect(await inMemory(made, id)).not.toEqual([]);
  expect(JSON.parse(await summary(made, id)).label_edit_count).toBe(1);
});
