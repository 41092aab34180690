import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Job } from "../../../backend/jobs/job.ts";
import { PlantSessions } from "../../../backend/sessions/plant-sessions.ts";

class Plant {
  released = 0;
  constructor(readonly age: number) {}
  release(): void {
    this.released += 1;
  }
}
const store = (max_sessions = 8, idle_ms = 1_800_000) => new PlantSessions<Plant>({ max_sessions, idle_ms });
const codeOf = (act: () => unknown) => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "none";
};

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ["Date", "performance", "setInterval", "clearInterval"], now: 1_700_000_000_000 }),
);
afterEach(() => void vi.useRealTimers());

describe("which sessions are kept", () => {
  test("ids are 128-bit and differ; the list is in order of creation", () => {
    const sessions = store();
    const made = [1, 2, 3].map((age) => {
      vi.advanceTimersByTime(1000);
      return sessions.add("bean", new Plant(age));
    });
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    for (const { id } of made) expect(id).toMatch(/^[0-9a-f]{32}$/);
    sessions.get(made[0]?.id ?? "");
    expect(sessions.list().map(({ plant, created_at }) => [plant.age, created_at - 1_700_000_000])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  test("beyond the number, the least recently used goes first; a get is a use", () => {
    const sessions = store(2);
    const [a, b] = [new Plant(1), new Plant(2)];
    const first = sessions.add("bean", a);
    const second = sessions.add("bean", b);
    sessions.get(first.id);
    sessions.add("bean", new Plant(3));
    expect([a.released, b.released]).toEqual([0, 1]);
    expect(codeOf(() => sessions.get(second.id))).toBe("not_found");
    expect(sessions.list()).toHaveLength(2);
  });

  test("idle ones are closed without any request; the list is no use", () => {
    const sessions = store(8, 60_000);
    const plant = new Plant(1);
    const { id } = sessions.add("bean", plant);
    vi.advanceTimersByTime(59_000);
    expect(sessions.list()).toHaveLength(1);
    vi.advanceTimersByTime(31_000);
    expect(plant.released).toBe(1);
    expect(codeOf(() => sessions.get(id))).toBe("not_found");
  });

  test("a computer that sleeps, and a clock that is set, close none", () => {
    const sessions = store(8, 120_000);
    const { id } = sessions.add("bean", new Plant(1));
    vi.setSystemTime(1_900_000_000_000);
    expect(sessions.list()).toHaveLength(1);
    const now = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(now + 36_000_000);
    expect(sessions.get(id).plant.age).toBe(1);
    clock.mockReturnValue(now + 90_000_000);
    expect(sessions.list()).toHaveLength(1);
    clock.mockRestore();
  });

  test("a use keeps it for another idle time; 0 = for ever", () => {
    const sessions = store(8, 60_000);
    const { id } = sessions.add("bean", new Plant(1));
    for (let i = 0; i < 5; i += 1) {
      vi.advanceTimersByTime(59_000);
      expect(sessions.get(id).plant.age).toBe(1);
    }
    const endless = store(8, 0);
    endless.add("bean", new Plant(1));
    vi.advanceTimersByTime(1e10);
    expect(endless.list()).toHaveLength(1);
  });
});

describe("requests of one session", () => {
  const gate = () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { open, opened };
  };

  test("run one after another, each with the plant of the one before", async () => {
    const sessions = store();
    const { id } = sessions.add("bean", new Plant(1));
    const seen: number[] = [];
    const grow = () =>
      sessions.use(id, new Job(), async (plant) => {
        seen.push(plant.age);
        await Promise.resolve();
        return { next: new Plant(plant.age + 1), value: plant };
      });
    const plants = await Promise.all([grow(), grow(), grow()]);
    expect(seen).toEqual([1, 2, 3]);
    expect(plants.map(({ released }) => released)).toEqual([1, 1, 1]);
    expect(sessions.get(id).plant.age).toBe(4);
  });

  test("a failed one keeps the plant and lets the next one in", async () => {
    const sessions = store();
    const plant = new Plant(1);
    const { id } = sessions.add("bean", plant);
    const failing = sessions.use(id, new Job(), async () => {
      throw new Error("no");
    });
    const next = sessions.use(id, new Job(), async ({ age }) => ({ next: null, value: age }));
    await expect(failing).rejects.toThrow("no");
    expect([await next, plant.released]).toEqual([1, 0]);
  });

  test("a canceled one leaves the line without overtaking", async () => {
    const sessions = store();
    const { id } = sessions.add("bean", new Plant(1));
    const { open, opened } = gate();
    const first = sessions.use(id, new Job(), async () => {
      await opened;
      return { next: null, value: 1 };
    });
    const job = new Job();
    let ran = 0;
    const count = (by: number) => async () => {
      ran += by;
      return { next: null, value: ran };
    };
    const second = sessions.use(id, job, count(1));
    const third = sessions.use(id, new Job(), count(10));
    job.cancel();
    await expect(second).rejects.toMatchObject({ code: "canceled" });
    expect(ran).toBe(0);
    open();
    expect(await Promise.all([first, third])).toEqual([1, 10]);
  });

  test("a session in use is not evicted; closed in use, its plant goes with the last request", async () => {
    const sessions = store(1);
    const plant = new Plant(1);
    const { id } = sessions.add("bean", plant);
    const { open, opened } = gate();
    const begun = gate();
    const running = sessions.use(id, new Job(), async () => {
      begun.open();
      await opened;
      return { next: null, value: "done" };
    });
    await begun.opened;
    const waiting = sessions.use(id, new Job(), async () => ({ next: null, value: "late" }));
    sessions.add("bean", new Plant(2));
    expect(sessions.list()).toHaveLength(2);
    sessions.delete(id);
    expect(plant.released).toBe(0);
    open();
    const [done, late] = await Promise.allSettled([running, waiting]);
    expect(done).toMatchObject({ value: "done" });
    expect(late).toMatchObject({ reason: { code: "not_found" } });
    expect(plant.released).toBe(1);
    await expect(sessions.use(id, new Job(), async () => ({ next: null, value: 0 }))).rejects.toMatchObject({
      code: "not_found",
    });
  });
});
