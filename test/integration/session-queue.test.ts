import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { CloudSession } from "../../backend/sessions/cloud-session.ts";
import { openRun } from "../support/app/live-run.ts";
import { eventually, within } from "../support/run/stopwatch.ts";
import { cloud, slab } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const GIVEN_UP_MS = 250;
const made = sessionTest({ listening: true });

/** Holds the lock of a session, as a long edit does, until the call of its result. */
async function hold(session: CloudSession): Promise<() => Promise<void>> {
  let end: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    end = resolve;
  });
  const held = session.edit(null, () => gate);
  return async () => {
    end();
    await held;
  };
}

async function opened() {
  const { session_id } = await cloud(made, ["x y z", ...Array.from({ length: 1200 }, (_, i) => `${i} 0 0`)]);
  const session = await made.deps.sessions.get(session_id);
  return { session_id, session, url: `/api/cloud/session/${session_id}` };
}

/** A request whose client can leave. */
function left(url: string, payload: object) {
  const connection = new AbortController();
  const answer = fetch(made.base + url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payload),
    signal: connection.signal,
  });
  answer.catch(() => undefined);
  return { leave: () => connection.abort(), answer };
}

test.each<[string, object]>([
  ["delete_region", { region: slab(3, 5) }],
  ["reset_edits", { edit_count: 0 }],
  ["label_region", { slug: "class", label: "Class", strokes: [{ stroke_id: "a", region: slab(1, 2), to_class: 3 }] }],
  ["reset_label_edits", { slug: "class", edit_count: 0 }],
  ["filter", { region: slab(3, 50), rebuild: false }],
  ["filter", { region: slab(3, 50), rebuild: true }],
  ["split", { region: slab(3, 50) }],
  ["transform", { matrix: [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], octree_mode: "pose" }],
  ["rebuild_octree", {}],
  ["denoise", { method: "ror", radius: 3, min_neighbors: 1, defer_octree: true }],
])("a client of %s %j that hangs up leaves the queue for the session", async (action, payload) => {
  const { session, url } = await opened();
  const release = await hold(session);
  const { state } = session;
  try {
    const { leave } = left(`${url}/${action}`, payload);
    await eventually(() => expect(session.waiting).toBe(1));
    expect(made.deps.admission.memory().admitted_bytes).toBe(0);
    const label = `POST /api/cloud/session/:id/${action}`;
    expect(made.deps.jobs.waiting()).toMatchObject([{ label, waits_for: "session" }]);
    leave();
    await within(GIVEN_UP_MS, () => expect(made.deps.jobs.size).toBe(0));
  } finally {
    await release();
  }
  expect(session.state).toBe(state);
});

test.each<[string, object]>([
  ["bake", {}],
  ["commit_labels", { slug: "class" }],
  ["extract_by_column", { slug: "class", rebuild_parent: true }],
])("%s leaves the queue when it is canceled, and the edits behind it keep their order", async (action, payload) => {
  const { session_id, session, url } = await opened();
  const stroke = { stroke_id: "a", region: slab(1, 20), to_class: 3 };
  await made.post(session_id, "label_region", { slug: "class", label: "Class", strokes: [stroke] });
  await made.remove(session_id, 30, 40);
  const folders = readdirSync(made.sessions);
  const release = await hold(session);
  try {
    const run = await openRun(made.base, `${url}/${action}`, payload);
    expect(await run.until("Waiting for another edit of this cloud")).toBe(true);
    expect(made.deps.admission.memory().admitted_bytes).toBe(0);
    const behind = left(`${url}/delete_region`, { region: slab(3, 5) });
    await eventually(() => expect(session.waiting).toBe(2));
    const last = left(`${url}/reset_edits`, { edit_count: 1 });
    await eventually(() => expect(session.waiting).toBe(3));
    const { own_ms, outcome } = await run.cancel();
    expect(outcome.kind).toBe("canceled");
    expect(own_ms).toBeLessThan(GIVEN_UP_MS);
    expect(session.waiting).toBe(2);
    await release();
    expect((await (await behind.answer).json()) as object).toMatchObject({ deleted_count: 14 });
    expect((await (await last.answer).json()) as object).toMatchObject({ deleted_count: 11 });
  } finally {
    await release();
  }
  expect(readdirSync(made.sessions)).toEqual(folders);
});
