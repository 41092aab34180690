import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeJournal } from "../../backend/sessions/journal-codec.ts";
import {
  MAX_JOURNAL_RECORD_BYTES,
  MAX_LABEL_CHARS,
  MAX_PLAN_COLUMNS,
  MAX_SLUG_CHARS,
  MAX_STROKE_ID_CHARS,
} from "../../shared/limits.ts";
import { slab } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const cloud = made.shared(["0 0 0", "1 0 0", "2 0 0"]);
const text = (length: number) => "x".repeat(length);
const stroke = (stroke_id: string) => ({ stroke_id, region: slab(0, 1), to_class: 3 });

test.each<[string, (over: number) => [string, object]]>([
  ["stroke_id", (over) => ["label_region", { strokes: [stroke(text(MAX_STROKE_ID_CHARS + over))] }]],
  ["label", (over) => ["label_region", { strokes: [stroke("a")], label: text(MAX_LABEL_CHARS + over) }]],
])("%s: the longest is taken, one more character is refused", async (_name, call) => {
  const ask = async (over: number) => (await made.post(cloud.session_id, ...call(over))).statusCode;
  expect([await ask(1), await ask(0)]).toEqual([422, 200]);
});

test.each<[string, object, (string | number)[]]>([
  ["slug of an edit", { strokes: [stroke("a")], slug: text(MAX_SLUG_CHARS + 1) }, ["slug"]],
])("%s: one character too many is refused, and the answer names it", async (_name, payload, path) => {
  const answer = await made.post(cloud.session_id, "label_region", payload);
  expect([answer.statusCode, answer.body]).toEqual([422, expect.stringContaining(path.join("."))]);
});

test.each<[string, (over: number) => object]>([
  ["slug", (over) => ({ columns: [{ index: 0, role: "x", slug: text(MAX_SLUG_CHARS + over) }] })],
  ["label", (over) => ({ columns: [{ index: 0, role: "x", label: text(MAX_LABEL_CHARS + over) }] })],
  [
    "columns",
    (over) => ({ columns: Array.from({ length: MAX_PLAN_COLUMNS + over }, (_, index) => ({ index, role: "skip" })) }),
  ],
])("column_plan.%s: a larger one is refused before the file is read", async (_name, plan) => {
  const status = async (over: number) => {
    const payload = { source_path: "/no/such/file.txt", column_plan: plan(over) };
    return (await made.app.inject({ method: "POST", url: "/api/cloud/session/create", payload })).statusCode;
  };
  expect([await status(1), await status(0)]).toEqual([422, 404]);
});

test("a change whose record a restart would not read is refused before it is acknowledged", async () => {
  const session = await made.deps.sessions.get(cloud.session_id);
  const { state } = session;
  const journal = () => readFileSync(join(made.sessions, cloud.session_id, "journal.log"));
  const before = journal();
  const change = { meta: { ascii_format: text(MAX_JOURNAL_RECORD_BYTES) } };
  await expect(session.commit(state, change)).rejects.toMatchObject({
    code: "invalid_argument",
    message: expect.stringContaining(`at most ${MAX_JOURNAL_RECORD_BYTES}`),
  });
  expect(session.state).toBe(state);
  expect(journal().subarray(0, before.length)).toEqual(before);
  await session.commit(session.state, { meta: { octree_pose: [4] } });
  expect(decodeJournal(journal()).records.at(-1)).toMatchObject({ meta: { octree_pose: [4] } });
});
