import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { Job } from "../../backend/jobs/job.ts";
import { addon } from "../../backend/native/core/addon.ts";
import { create } from "../support/app/app.ts";
import { readRun } from "../support/app/run-body.ts";
import { heldUntil, heldUntilCanceled, NO_MEMORY, withoutMemoryAt } from "../support/native/native-failure.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { sourceOf } from "../support/session-model/source.ts";

const made = sessionTest({ listening: true });

const LOWER = { kind: "box", min: [-9, -9, -9], max: [9, 9, 0.5] };
const LEFT = { kind: "box", min: [-9, -9, -9], max: [1, 9, 9] };
const STROKE = { stroke_id: "one", region: LEFT, to_class: 4 };
const TURN = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
const STEP = [1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1];

/** Every edit of a session: its path behind the id, its body. Merge takes the other session as well. */
const EDITS: readonly (readonly [name: string, path: string, body: object])[] = [
  ["delete_region", "delete_region", { region: LEFT }],
  ["reset_edits", "reset_edits", { edit_count: 1 }],
  ["label_region", "label_region", { slug: "cls", strokes: [{ ...STROKE, stroke_id: "two", to_class: 3 }] }],
  ["label_region of a new column", "label_region", { slug: "fresh", strokes: [STROKE] }],
  ["reset_label_edits", "reset_label_edits", { slug: "cls" }],
  ["commit_labels", "commit_labels", { slug: "cls" }],
  ["bake", "bake", {}],
  ["bake, rows kept", "bake?compact=false", {}],
  ["filter", "filter", { region: LEFT }],
  ["filter without octree", "filter", { region: LEFT, rebuild: false }],
  ["split", "split", { region: LEFT }],
  ["split that moves nothing", "split", { region: { ...LEFT, max: [99, 99, 99] } }],
  ["extract", "extract", { region: LEFT }],
  [
    "extract_by_column",
    "extract_by_column",
    { slug: "cls", exclude_values: [0, 1, 2], rebuild_parent: true, include_misses: true },
  ],
  ["duplicate", "duplicate", {}],
  ["transform, turn", "transform", { matrix: TURN }],
  ["transform, step", "transform", { matrix: STEP }],
  ["transform, pose", "transform", { matrix: TURN, octree_mode: "pose" }],
  ["rebuild_octree", "rebuild_octree", {}],
  ["merge", "merge", {}],
  ["segment_ground", "segment_ground", { cloth_resolution: 0.5 }],
  ["segment_trees", "segment_trees", { method: "chm", chm_min_height: 0, chm_cell: 0.3 }],
  ["segment_trees without octree", "segment_trees", { defer_octree: true }],
  ["segment_wood", "segment_wood", { method: "geometric" }],
  ["segment_ground without octree", "segment_ground", { method: "auto", defer_octree: true }],
];
const STREAMED = /^(bake|extract_by_column|commit_labels)/;
/** What is undone, or posed, needs something there. */
const STALE = /^(delete|reset|label|commit|bake|filter|split|extract|duplicate|transform, turn|rebuild|merge|segment)/;

/** Warnings about the few points of these tests. */
const OF_THE_POINTS = /^No point is wood|labelled as noise|stand at the place of another one|cm apart \(median\)/;

interface Ending {
  readonly ok: boolean;
  readonly code: string | undefined;
  /** A failed miss overlay is a warning, not an error (contract cloud-import 13.3). */
  readonly warnings: readonly string[];
}
async function edit(id: string, [, path, body]: (typeof EDITS)[number], other: string): Promise<Ending> {
  const merging = path === "merge";
  const url = merging ? "/api/cloud/session/merge" : `/api/cloud/session/${id}/${path}`;
  const payload = merging ? { session_ids: [id, other] } : body;
  const answer = await made.app.inject({ method: "POST", url, payload });
  if (answer.statusCode !== 200) return { ok: false, code: (answer.json() as { code: string }).code, warnings: [] };
  const done = (value: unknown) => ({
    ok: true,
    code: undefined,
    warnings: ((value as { warnings?: string[] }).warnings ?? []).filter((warning) => !OF_THE_POINTS.test(warning)),
  });
  if (!STREAMED.test(path)) return done(answer.json());
  const { outcome } = readRun(answer.rawPayload);
  if (outcome.kind === "json") return done(outcome.value);
  return { ok: false, code: outcome.kind === "failed" ? outcome.code : outcome.kind, warnings: [] };
}

const FILES = new Set(["writeColumnFiles", "mapColumnFile"]);
const listed = (folder: string) => readdirSync(folder, { recursive: true }).map(String).sort();
/** What an edit that failed must leave as it was. Whole octrees may stay in the cache. */
const traces = (ids: readonly string[]) => ({
  states: ids.map((id) => made.deps.sessions.list().find((session) => session.id === id)?.state.version),
  sessions: made.deps.sessions.list().length,
  files: listed(made.sessions).filter((name) => !name.endsWith(".lock")),
  staging: listed(made.octrees).filter((name) => name.includes("staging")),
  bytes: addon.bulkBytesInUse(),
  runs: made.deps.jobs.size,
});

/** Both sessions come from one file, so they have the same trees. */
const toldBy = (name: string) =>
  name === "merge" ? [expect.stringMatching(/^\d+ tree numbers are in more than one cloud/)] : [];

/** Two sessions, the first with deletions, strokes and, unless it is to be posed or moved, an octree behind them. */
async function twoSessions(name: string): Promise<[string, string]> {
  const source = { seed: 5, rows: 120, columns: 0b1_1111_1111_1111 & ~1024, place: 0, exact: true };
  const file = made.file("fault.txt", sourceOf(source).text);
  const [first, second] = [await create(made, file), await create(made, file)];
  const id = first.session_id;
  if (name !== "commit_labels") await edit(id, ["", "label_region", { slug: "cls", strokes: [STROKE] }], "");
  if (STALE.test(name)) {
    await edit(id, ["", "delete_region", { region: LOWER }], "");
    await edit(id, ["", "delete_region", { region: { ...LOWER, min: [3, 3, -9], max: [3, 9, 9] } }], "");
  }
  await Promise.all(
    [id, second.session_id].map(async (each) => made.deps.sessions.spill(await made.deps.sessions.get(each))),
  );
  return [id, second.session_id];
}

/** Octrees that no session shows: with them in the cache the next attempt would have nothing to build. */
function forgetBuilt(): void {
  const shown = new Set(made.deps.sessions.octreeIds());
  for (const id of readdirSync(made.octrees))
    if (/^[0-9a-f]{40}$/.test(id) && !shown.has(id)) rmSync(join(made.octrees, id), { recursive: true });
}
const closeAll = async () => {
  for (const { id } of made.deps.sessions.list()) await made.deps.sessions.delete(id);
  forgetBuilt();
};

/** Lets the 1st, 2nd, ... moment of an edit fail until it has none left, and checks the world after each. */
async function failEverywhere(
  wanted: (typeof EDITS)[number],
  attempt: (nth: number, body: () => Promise<Ending>) => Promise<{ value: Ending; hit: string | undefined }>,
  code: string,
): Promise<number> {
  let [id, other] = await twoSessions(wanted[0]);
  try {
    forgetBuilt();
    let before = traces([id, other]);
    // The memory of a column that nobody released comes back too, but only when JavaScript collects garbage.
    const late: string[] = [];
    for (let nth = 1; nth < 300; nth += 1) {
      const { value, hit } = await attempt(nth, () => edit(id, wanted, other));
      if (!hit) {
        expect({ nth, ...value }).toEqual({ nth, ok: true, code: undefined, warnings: toldBy(wanted[0]) });
        expect(late.length < 2 ? [] : late).toEqual([]); // one may be the machine
        return nth - 1;
      }
      if (value.ok && FILES.has(hit)) return nth - 1; // files are written behind the answer, too: the edit was saved
      if (value.ok && value.warnings.some((warning) => warning.includes(NO_MEMORY))) {
        await closeAll();
        [id, other] = await twoSessions(wanted[0]);
        before = traces([id, other]);
        continue;
      }
      expect({ nth, hit, ...value }).toEqual({ nth, hit, ok: false, code, warnings: [] });
      const times = stopwatch();
      await eventually(() => expect({ nth, hit, ...traces([id, other]) }).toEqual({ nth, hit, ...before }));
      if (times().own_ms > 250) late.push(`${nth} ${hit}`);
      forgetBuilt();
    }
    throw new Error("no end of moments");
  } finally {
    await closeAll();
  }
}

describe.each(EDITS.map((wanted) => [wanted[0], wanted] as const))("%s", (_name, wanted) => {
  test("canceled at each checkpoint: nothing changes", async () => {
    const original = Job.prototype.checkpoint;
    const checkpoints = await failEverywhere(
      wanted,
      async (nth, body) => {
        let calls = 0;
        const spy = vi.spyOn(Job.prototype, "checkpoint").mockImplementation(function (this: Job) {
          calls += 1;
          if (calls === nth) made.deps.jobs.cancelAll(); // there is one
          original.call(this);
        });
        const value = await body().finally(() => spy.mockRestore());
        return { value, hit: calls >= nth ? "checkpoint" : undefined };
      },
      "canceled",
    );
    expect(checkpoints).toBeGreaterThan(0);
  });

  test("any native call out of memory: nothing changes", async () => {
    const calls = await failEverywhere(
      wanted,
      async (nth, body) => {
        const { value, failed } = await withoutMemoryAt(nth, body);
        return { value, hit: failed };
      },
      "out_of_memory",
    );
    expect(calls).toBeGreaterThan(0);
  });
});

describe("a client that hangs up during a plain answer", () => {
  const plain = EDITS.filter(([name]) => ["split", "extract", "merge", "transform, turn", "duplicate"].includes(name));
  const inside = ["octreeBuild", "cloudStats"] as const;
  test.each(plain.flatMap((wanted) => inside.map((op) => [wanted[0], op, wanted] as const)))(
    "%s, inside %s: nothing changes",
    async (name, op, [, path, body]) => {
      const [id, other] = await twoSessions(name);
      forgetBuilt();
      const before = traces([id, other]);
      const merging = path === "merge";
      const url = merging ? "/api/cloud/session/merge" : `/api/cloud/session/${id}/${path}`;
      const payload = JSON.stringify(merging ? { session_ids: [id, other] } : body);
      const client = new AbortController();
      const headers = { "content-type": "application/json" };
      await heldUntilCanceled(
        op,
        () => client.abort(),
        async () => {
          const answer = fetch(made.base + url, { method: "POST", headers, body: payload, signal: client.signal });
          await expect(answer).rejects.toThrow(/abort/);
          await eventually(() => expect(made.deps.jobs.size).toBe(0));
        },
      );
      await eventually(() => expect(traces([id, other])).toEqual(before));
      await closeAll();
    },
  );
});

describe("two edits at once on one session", () => {
  test("both are applied in arrival order", async () => {
    const [id, other] = await twoSessions("");
    const all = { kind: "box", min: [-99, -99, -99], max: [99, 99, 99] };
    const send = (path: string, payload: object) =>
      made.app.inject({ method: "POST", url: `/api/cloud/session/${id}/${path}`, payload }).then((a) => a.json());
    const [left, rest, none] = await Promise.all([
      send("delete_region", { region: LEFT }),
      send("delete_region", { region: all }),
      send("delete_region", { region: all }),
    ]);
    expect(left.deleted_count).toBeGreaterThan(0);
    expect(rest.deleted_count).toBeGreaterThan(left.deleted_count);
    expect(none.deleted_count).toBe(rest.deleted_count);
    const [first, second] = await Promise.all([
      send("reset_edits", { edit_count: 2 }),
      send("reset_edits", { edit_count: 1 }),
    ]);
    expect([first.deleted_count, second.deleted_count]).toEqual([rest.deleted_count, left.deleted_count]);
    const strokes = (stroke_id: string, to_class: number) => ({
      slug: "fresh",
      strokes: [{ ...STROKE, region: all, stroke_id, to_class }],
    });
    const [one, two] = await Promise.all([
      send("label_region", strokes("a", 1)),
      send("label_region", strokes("b", 2)),
    ]);
    expect([one.created_column, two.created_column]).toEqual([true, false]);
    expect([Object.keys(one.class_counts), Object.keys(two.class_counts)]).toEqual([["1"], ["2"]]);
    expect(two.label_edit_count).toBe(2);
    expect(await made.deps.sessions.delete(other)).toBe(true);
    await closeAll();
  });

  test.each(["filter", "split", "transform, turn"])(
    "%s overtaken by a deletion: 409, and only the deletion is applied",
    async (name) => {
      const [id, other] = await twoSessions(name);
      forgetBuilt();
      const wanted = EDITS.find(([each]) => each === name) as (typeof EDITS)[number];
      const remove = () =>
        made.app.inject({ method: "POST", url: `/api/cloud/session/${id}/delete_region`, payload: { region: LEFT } });
      let removed: Promise<{ statusCode: number }> | undefined;
      const ending = await heldUntil(
        "octreeBuild",
        async () => {
          removed = remove();
          await removed;
        },
        () => edit(id, wanted, other),
      );
      expect([(await removed)?.statusCode, ending]).toEqual([200, { ok: false, code: "conflict", warnings: [] }]);
      const { version } = (await made.deps.sessions.get(id)).state;
      expect(version).toBe(4); // a stroke, two deletions, this deletion
      expect(made.deps.sessions.list()).toHaveLength(2);
      await closeAll();
    },
  );
});

describe("DELETE during a run", () => {
  test.each([
    ["bake", "octreeBuild"],
    ["bake", "compactColumns"],
    ["bake, rows kept", "octreeBuild"],
    ["filter", "octreeBuild"],
    ["split", "octreeBuild"],
    ["split", "compactColumns"],
    ["commit_labels", "octreeBuild"],
    ["transform, turn", "octreeBuild"],
    ["rebuild_octree", "octreeBuild"],
  ] as const)("%s, inside %s: it ends with not_found and leaves no folder and no memory", async (name, op) => {
    const start = addon.bulkBytesInUse();
    const [id, other] = await twoSessions(name);
    await made.deps.sessions.delete(other);
    forgetBuilt();
    const wanted = EDITS.find(([each]) => each === name) as (typeof EDITS)[number];
    const close = async () => {
      const { deleted } = (await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` })).json();
      expect(deleted).toBe(true);
    };
    const ending = await heldUntil(op, close, () => edit(id, wanted, other));
    expect(ending).toEqual({ ok: false, code: "not_found", warnings: [] });
    expect(made.deps.sessions.list()).toEqual([]);
    await eventually(() => expect([listed(made.sessions), addon.bulkBytesInUse()]).toEqual([[], start]));
    expect(listed(made.octrees).filter((entry) => entry.includes("staging"))).toEqual([]);
    await closeAll();
  });
});

describe("the octree cache is deleted during use", () => {
  test.each(
    EDITS.filter(([, path]) => !/^(delete|reset|label)/.test(path)).map((wanted) => [wanted[0], wanted] as const),
  )("%s builds what it needs", async (name, wanted) => {
    const [id, other] = await twoSessions(name);
    for (const entry of readdirSync(made.octrees)) rmSync(join(made.octrees, entry), { recursive: true });
    expect(await edit(id, wanted, other)).toEqual({ ok: true, code: undefined, warnings: toldBy(name) });
    expect(await edit(id, ["", "rebuild_octree", {}], other)).toEqual({ ok: true, code: undefined, warnings: [] });
    const { octree_cache_id, miss_octree_cache_id } = (await made.deps.sessions.get(id)).state.meta;
    expect(listed(made.octrees)).toEqual(expect.arrayContaining([octree_cache_id, miss_octree_cache_id]));
    await closeAll();
  });
  test.each(["bake", "bake, rows kept"])("%s with nothing to do builds the missing octree", async (name) => {
    const { session_id } = await create(made, made.file("plain.txt", "x y z\n0 0 0\n1 1 1\n"));
    for (const entry of readdirSync(made.octrees)) rmSync(join(made.octrees, entry), { recursive: true });
    const wanted = EDITS.find(([each]) => each === name) as (typeof EDITS)[number];
    expect(await edit(session_id, wanted, "")).toEqual({ ok: true, code: undefined, warnings: [] });
    expect(readdirSync(made.octrees)).toContain((await made.deps.sessions.get(session_id)).state.meta.octree_cache_id);
    await closeAll();
  });
});
