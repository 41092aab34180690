// What a session's journal costs and what it gives back: recovery after kill -9.
import { ResetEditsResponse } from "../../shared/contract/cloud-session/reset-edits.ts";
import { type Settings, withService } from "./service.ts";
import { Caller, drained, middle, opened, UNREAD } from "./session-caller.ts";

/** Several edited sessions, kill -9, a new start: the time to READY and to the first touch of each. */
export async function recovery(count: number, sessions: number) {
  return withService(async (service) => {
    const caller = new Caller(service);
    const urls: string[] = [];
    for (let i = 0; i < sessions; i += 1) {
      const { url, bounds } = await opened(caller, count, { world_shift: [i, 0, 0] });
      await caller.json(UNREAD, `${url}/delete_region`, { region: middle(bounds, 0.3) });
      const strokes = [{ stroke_id: "s", region: middle(bounds, 0.5), to_class: 2 }];
      await caller.json(UNREAD, `${url}/label_region`, { strokes });
      urls.push(url);
    }
    const wall_s = await service.killAndRestart();
    const again = new Caller(service);
    const touches: number[] = [];
    for (const url of urls.reverse()) {
      const { body, s } = await again.json(ResetEditsResponse, `${url}/reset_edits`, { edit_count: 1 });
      if (body.total_count !== count || body.deleted_count === 0) throw new Error("an edit was lost");
      touches.push(s);
    }
    return { count, wall_s, first_touch_max_s: Math.max(...touches), first_touch_s: touches };
  });
}

interface JournalTimes {
  readonly create_s: number;
  /** Median of 40. */
  readonly edit_s: number;
}

function journalTimes(count: number, settings: Settings): Promise<JournalTimes> {
  return withService(
    async (service) => {
      const caller = new Caller(service);
      const { url, create_s, bounds } = await opened(caller, count);
      await drained(service);
      const region = middle(bounds, 0.02);
      const times: number[] = [];
      for (let i = 0; i < 20; i += 1) {
        times.push((await caller.json(UNREAD, `${url}/delete_region`, { region })).s);
        times.push((await caller.json(UNREAD, `${url}/reset_edits`, { edit_count: 0 })).s);
      }
      return { create_s, edit_s: times.sort((a, b) => a - b)[20] ?? Number.NaN };
    },
    undefined,
    settings,
  );
}

/**
 * What the journal costs: a create and a small edit with it, beside the same without. Without, with, with, without: the
 * system is slower to hand out memory that it has not used lately, and who comes first would pay for that.
 */
export async function journal(count: number) {
  const OFF = { APP_SESSION_JOURNAL: "0" };
  const before = await journalTimes(count, OFF);
  const first = await journalTimes(count, {});
  const second = await journalTimes(count, {});
  const after = await journalTimes(count, OFF);
  const mean = (figure: keyof JournalTimes, a: JournalTimes, b: JournalTimes) => (a[figure] + b[figure]) / 2;
  const [create_s, create_without_s] = [mean("create_s", first, second), mean("create_s", before, after)];
  return {
    count,
    wall_s: create_s,
    create_without_s,
    create_share: create_s / create_without_s - 1,
    edit_ms: mean("edit_s", first, second) * 1000,
    edit_without_ms: mean("edit_s", before, after) * 1000,
    creates_s: [before, first, second, after].map((times) => times.create_s),
  };
}
