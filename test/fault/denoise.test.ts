import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { withoutMemoryAt } from "../support/native/native-failure.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { NOISY, rowsOf, STRAYS } from "../support/scans/noisy-cloud.ts";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const traces = () => ({
  versions: made.deps.sessions.list().map(({ state }) => state.version),
  staging: readdirSync(made.octrees, { recursive: true }).filter((name) => String(name).includes("staging")),
  bytes: addon.bulkBytesInUse(),
  runs: made.deps.jobs.size,
});

test.each(["ror", "voxel_count", "sor", "auto"])(
  "an allocation that fails anywhere leaves the session unchanged (%s)",
  async (method) => {
    const { session_id } = await cloud(made, ["x y z", ...rowsOf(NOISY)]);
    await made.deps.sessions.spill(await made.deps.sessions.get(session_id));
    const url = `/api/cloud/session/${session_id}/denoise`;
    let before = traces();
    let refused = 0;
    for (let nth = 1; ; nth += 1) {
      expect(nth).toBeLessThan(80);
      const { value, failed } = await withoutMemoryAt(nth, async () => {
        const answer = await made.app.inject({ method: "POST", url, payload: { method } });
        return { status: answer.statusCode, body: answer.json() as { code?: string; flagged?: number } };
      });
      if (!failed || value.status === 200) {
        expect(value).toMatchObject({ status: 200, body: { flagged: STRAYS } });
        if (!failed) break;
        await made.deps.sessions.spill(await made.deps.sessions.get(session_id)); // what failed came behind the answer
        before = traces();
        continue;
      }
      refused += 1;
      expect([nth, failed, value.status, value.body.code]).toEqual([nth, failed, 503, "out_of_memory"]);
      await eventually(() => expect({ nth, ...traces() }).toEqual({ nth, ...before }));
    }
    expect(refused).toBeGreaterThan(3);
    expect((await made.deps.sessions.get(session_id)).state.columns.has("extra/noise_class")).toBe(true);
    await made.deps.sessions.delete(session_id);
  },
);
