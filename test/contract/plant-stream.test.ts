import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { PlantGenerationResponse } from "../../shared/contract/plant.ts";
import { eventsOf, openEvents } from "../support/app/events.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch, within } from "../support/run/stopwatch.ts";
import { build, checkLengths } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const URL_ = "/api/plant/generate/stream";
const BEAN = { plant_type: "bean", age: 20, random_seed: 1 };

async function events(payload: object) {
  const { rawPayload, headers, statusCode } = await made.app.inject({ method: "POST", url: URL_, payload });
  expect([statusCode, headers["content-type"]]).toEqual([200, "text/event-stream"]);
  return eventsOf(rawPayload).map(({ event, data }) => ({ event, data: JSON.parse(data) }));
}

describe("events", () => {
  test("run_id, progress with the contract's labels, the result last", async () => {
    const all = await events(BEAN);
    expect(all[0]).toEqual({ event: "run_id", data: { run_id: expect.stringMatching(/^[0-9a-f]{32}$/) } });
    const progress = all.filter(({ event }) => event === "progress").map(({ data }) => data);
    const labels = [...new Set(progress.map(({ message }) => message))];
    expect(labels).toEqual(["Growing plants...", "Packing geometry...", "Finalizing..."]);
    const fractions = progress.map((step) => step.progress as number);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
    for (const { progress: fraction, message } of progress) {
      if (message === "Growing plants...") expect(fraction).toBeLessThanOrEqual(0.6);
      if (message === "Packing geometry...") expect(fraction).toBeGreaterThanOrEqual(0.6);
      if (message === "Finalizing...") expect(fraction).toBeGreaterThanOrEqual(0.97);
    }
    expect(all.at(-1)?.event).toBe("result");
    const plant = PlantGenerationResponse.parse(all.at(-1)?.data);
    checkLengths(plant);
    const { session_id: _, ...streamed } = plant;
    const { session_id: __, ...plain } = await build(made, "/api/plant/generate", BEAN);
    expect(streamed).toEqual(plain);
  });

  test("the age of a single plant is the one reached, and its session grows on", async () => {
    const all = await events({ plant_type: "asparagus", age: 500, random_seed: 1 });
    expect(all.at(-1)?.data).toMatchObject({ success: true, age: 20, age_reached: 20 });
    const { session_id } = all.at(-1)?.data ?? {};
    const status = (await made.app.inject({ url: `/api/plant/session/${session_id}` })).json();
    expect(status).toMatchObject({ success: true, plant_type: "asparagus", current_age: 20 });
  });

  test("a canopy has its echoes and no session; its progress counts plants", async () => {
    const all = await events({
      mode: "canopy",
      plant_type: "butterlettuce",
      age: 10,
      count_x: 4,
      count_y: 2,
      random_seed: 1,
    });
    expect(all.at(-1)).toMatchObject({
      event: "result",
      data: { success: true, plant_count: 8, count_x: 4, count_y: 2, spacing_x: 0.5, session_id: null, age: 10 },
    });
  });

  test.each([
    [{ plant_type: "triffid" }, "triffid", "not_found"],
    [{ age: -1 }, "-1", "invalid_argument"],
    [{ mode: "canopy", count_x: 0 }, "0 and 3", "invalid_argument"],
    [{ mode: "canopy", germination_rate: 2 }, "from 0 to 1", "invalid_argument"],
  ])("%j is an error event", async (payload, text, code) => {
    const all = await events(payload);
    expect(all.at(-1)).toEqual({ event: "error", data: { detail: expect.stringContaining(text), code } });
    expect(all.filter(({ event }) => event === "result")).toEqual([]);
  });

  test("another mode is no request", async () => {
    expect((await made.app.inject({ method: "POST", url: URL_, payload: { mode: "forest" } })).statusCode).toBe(422);
  });
});

describe("cancel", () => {
  const CANOPY = { mode: "canopy", plant_type: "olive", age: 500, count_x: 30, count_y: 30, random_seed: 1 };

  test("by the run's id while plants grow: at once, and without a trace", async () => {
    made.deps.plants.close();
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
    const live = await openEvents(made.base, URL_, CANOPY);
    await live.until(
      ({ event, data }) => event === "progress" && (JSON.parse(data) as { progress: number }).progress > 0,
    );
    const stop = stopwatch();
    await fetch(`${made.base}/api/cancel/${live.run_id}`, { method: "POST" });
    expect(await live.last).toEqual({ event: "canceled", data: "{}" });
    expect(stop().own_ms).toBeLessThan(250);
    await eventually(() => expect(made.deps.jobs.size).toBe(0));
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
    expect(made.deps.plants.list()).toEqual([]);
  });

  test("by hanging up", async () => {
    const live = await openEvents(made.base, URL_, CANOPY);
    await live.until(({ event }) => event === "progress");
    live.hangUp();
    await within(250, () => expect(made.deps.jobs.size).toBe(0));
  });

  test.each(["growPlant", "placePlant", "expandPlants", "plantDocument"] as const)(
    "a single plant during %s ends and keeps no session",
    async (op) => {
      const sessions = made.deps.plants.list().length;
      const { value, reached } = await atMoment(
        { op },
        () => made.deps.jobs.cancelAll(),
        () => events({ plant_type: "almond", age: 1350, random_seed: 1 }),
      );
      expect(reached).toBe(true);
      expect(value.at(-1)?.event).toBe("canceled");
      expect(made.deps.plants.list()).toHaveLength(sessions);
    },
  );
});
