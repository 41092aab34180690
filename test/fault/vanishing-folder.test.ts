import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { create, exported, makeApp, run } from "../support/app/app.ts";
import { lineCloud, slab, stateOf, survivingXs } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { killedCopy } from "../support/session-pairs/killed-copy.ts";

const made = sessionTest({ closeSessions: "at the end" });
const ROWS = Array.from({ length: 30 }, (_, i) => 1 + (i % 3));
const GONE = {
  code: "io",
  detail: expect.stringMatching(/^The folder \S+ of the session store is gone: nothing was changed\. Bring it/),
};
const PLAIN: readonly (readonly [string, object])[] = [
  ["delete_region", { region: slab(4, 5) }],
  ["label_region", { slug: "class", strokes: [{ stroke_id: "a", region: slab(6, 7), to_class: 9 }] }],
  ["segment_ground", { method: "smrf" }],
  ["transform", { matrix: [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }],
  ["filter", { region: slab(0, 8), rebuild: false }],
  ["split", { region: slab(0, 8) }],
  ["extract", { region: slab(0, 8) }],
  ["duplicate", {}],
];

test("a data folder that is gone: every edit says so and changes nothing, and all is there when it is back", async () => {
  const { session_id: id } = await lineCloud(made, ROWS);
  expect((await made.remove(id, 0, 1)).statusCode).toBe(200);
  const [data, away] = [join(made.folder, "data"), join(made.folder, "away")];
  const { version } = await stateOf(made, id);
  const las = await exported(made, id, "las");
  renameSync(data, away);
  for (const [action, payload] of PLAIN) {
    const answer = await made.post(id, action, payload);
    expect([action, answer.statusCode, answer.json()]).toEqual([action, 500, GONE]);
  }
  const byColumn = await run(made, `/api/cloud/session/${id}/extract_by_column`, { slug: "class" });
  expect(byColumn.outcome).toMatchObject({ kind: "failed", code: GONE.code, error: GONE.detail });
  const path = made.file("late.txt", "x y z\n0 0 0\n1 1 1\n");
  await expect(create(made, path)).rejects.toThrow(/of the session store is gone/);
  expect(existsSync(data)).toBe(false); // a new folder would hide the lost one when it comes back
  expect((await stateOf(made, id)).version).toBe(version);
  expect((await exported(made, id, "las")).equals(las)).toBe(true);
  renameSync(away, data);
  expect((await made.remove(id, 9, 9)).statusCode).toBe(200);
  expect(readdirSync(made.sessions)).toEqual([id]);
  const again = await makeApp({}, killedCopy(made.sessions));
  await again.deps.sessions.recovered();
  expect(await survivingXs(again, id)).toEqual(ROWS.map((_, i) => i).filter((i) => i > 1 && i !== 9));
  await again.close();
});
