import { beforeEach, describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import {
  PlantAdvanceResponse,
  PlantSessionCreateResponse,
  PlantSessionDeleted,
  PlantSessionList,
  PlantSessionStatus,
} from "../../shared/contract/plant-session.ts";
import { appOfTest } from "../support/app/app.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { build, checkLengths, posted } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const BEAN = { plant_type: "bean", random_seed: 1 };
const CREATE = "/api/plant/session/create";
const GONE = "0".repeat(32);

beforeEach(() => made.deps.plants.close());
const create = async (payload: object = BEAN) => {
  const { status, body } = await posted(made, CREATE, payload);
  expect(status).toBe(200);
  return PlantSessionCreateResponse.parse(body);
};
const started = async (payload: object = BEAN) => (await create(payload)).session_id ?? "";
const advance = async (id: string, dt?: number) => {
  const { status, body } = await posted(made, `/api/plant/session/${id}/advance`, dt === undefined ? {} : { dt });
  expect(status, JSON.stringify(body).slice(0, 300)).toBe(200);
  const answer = PlantAdvanceResponse.parse(body);
  if (answer.success) checkLengths(answer);
  return answer;
};

describe("a growing plant", () => {
  test("create has age, height and document, and no mesh", async () => {
    const answer = await create({ ...BEAN, initial_age: 8 });
    expect(answer).toMatchObject({ success: true, plant_type: "bean", current_age: 8, error: null });
    expect(answer.session_id).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.height).toBeGreaterThan(0);
    expect(answer.sim_xml).toContain("<shoot");
    expect(answer).not.toHaveProperty("vertices");
    expect((await create()).current_age).toBe(1);
  });

  test("create(1) and advance(A - 1) is generate(A), in one step or in many", async () => {
    const age = 24;
    const whole = await build(made, "/api/plant/generate", { ...BEAN, age });
    const arrays = ({ vertices, colors, organ_codes, normals, uv_coordinates, height }: PlantAdvanceResponse) => ({
      vertices,
      colors,
      organ_codes,
      normals,
      uv_coordinates,
      height,
    });
    const once = await advance(await started(), age - 1);
    expect(once).toMatchObject({ previous_age: 1, current_age: age });
    const same = (a: object, b: object) => JSON.stringify(a) === JSON.stringify(b);
    expect(same(arrays(once), arrays({ ...once, ...(whole as object) }))).toBe(true);
    const id = await started();
    for (const dt of [3, 0, 7.25, 0.5]) await advance(id, dt);
    expect(same(arrays(await advance(id, age - 1 - 10.75)), arrays(once))).toBe(true);
  });

  test("advance by 0 is the mesh only; the default is one day", async () => {
    const id = await started({ ...BEAN, initial_age: 5 });
    expect(await advance(id, 0)).toMatchObject({ previous_age: 5, current_age: 5 });
    expect(await advance(id)).toMatchObject({ previous_age: 5, current_age: 6 });
  });

  test("at the species' largest age it stays as it is", async () => {
    const id = await started({ plant_type: "asparagus", random_seed: 1 });
    const old = await advance(id, 1e6);
    expect(old.current_age).toBe(20);
    const older = await advance(id, 10);
    expect([older.previous_age, older.current_age]).toEqual([20, 20]);
    expect(older.vertices).toEqual(old.vertices);
  });

  test("leaf inclination and place stay with the plant", async () => {
    const wish = { ...BEAN, leaf_inclination: { beta_mu: 1, beta_nu: 3 }, position_x: 100 };
    const grown = await advance(await started(wish), 19);
    const whole = await build(made, "/api/plant/generate", { ...wish, age: 20 });
    expect(grown.vertices).toEqual(whole.vertices);
    expect(whole.sim_xml).toContain("<leaf_inclination>");
  });

  test("a session of generate grows on", async () => {
    const { session_id } = await build(made, "/api/plant/generate", { ...BEAN, age: 10 });
    expect(await advance(session_id ?? "", 5)).toMatchObject({ previous_age: 10, current_age: 15 });
  });
});

describe("status, list, delete", () => {
  test("as the contract says", async () => {
    const now = Date.now() / 1000;
    const [a, b] = [await started(), await started({ plant_type: "maize", initial_age: 3, random_seed: 1 })];
    const status = PlantSessionStatus.parse((await made.app.inject({ url: `/api/plant/session/${b}` })).json());
    expect(status).toMatchObject({ success: true, session_id: b, plant_type: "maize", current_age: 3, error: null });
    const list = PlantSessionList.parse((await made.app.inject({ url: "/api/plant/sessions" })).json());
    expect(list.sessions.map(({ session_id }) => session_id)).toEqual([a, b]);
    expect(list.count).toBe(2);
    for (const { created_at } of list.sessions) expect(Math.abs(created_at - now)).toBeLessThan(60);
    const deleted = await made.app.inject({ method: "DELETE", url: `/api/plant/session/${a}` });
    expect(PlantSessionDeleted.parse(deleted.json())).toEqual({ success: true, session_id: a });
    expect((await made.app.inject({ url: `/api/plant/session/${a}` })).statusCode).toBe(404);
  });

  test("unknown sessions: 404; a negative step: 400", async () => {
    const problems = async (method: "GET" | "POST" | "DELETE", url: string, payload?: object) => {
      const answer = await made.app.inject({ method, url, ...(payload ? { payload } : {}) });
      return [answer.statusCode, answer.json().code];
    };
    expect(await problems("GET", `/api/plant/session/${GONE}`)).toEqual([404, "not_found"]);
    expect(await problems("DELETE", `/api/plant/session/${GONE}`)).toEqual([404, "not_found"]);
    expect(await problems("POST", `/api/plant/session/${GONE}/advance`, { dt: 1 })).toEqual([404, "not_found"]);
    const id = await started();
    expect(await problems("POST", `/api/plant/session/${id}/advance`, { dt: -1 })).toEqual([400, "invalid_argument"]);
    expect(await problems("POST", `/api/plant/session/${id}/advance`, { dt: "1" })).toEqual([422, "validation"]);
  });

  test("an unknown type or a negative age is no session", async () => {
    const unknown = await create({ plant_type: "triffid" });
    expect(unknown).toMatchObject({ success: false, session_id: null, current_age: null, sim_xml: null });
    expect(unknown.available_models).toContain("bean");
    expect((await create({ ...BEAN, initial_age: -2 })).error).toContain("-2");
    expect((await posted(made, CREATE, { leaf_inclination: { beta_mu: -1, beta_nu: 1 } })).status).toBe(422);
    expect(made.deps.plants.list()).toEqual([]);
  });
});

describe("limits", () => {
  test("the ninth session closes the one unused for longest", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 8; i += 1) ids.push(await started());
    expect((await made.app.inject({ url: `/api/plant/session/${ids[0]}` })).statusCode).toBe(200);
    await started();
    expect((await made.app.inject({ url: `/api/plant/session/${ids[1]}` })).statusCode).toBe(404);
    expect((await made.app.inject({ url: `/api/plant/session/${ids[0]}` })).statusCode).toBe(200);
    expect(made.deps.plants.list()).toHaveLength(8);
  });

  test("the environment sets the number", async () => {
    const few = await appOfTest({ maxPlantSessions: 1 });
    const first = (await posted(few, CREATE, BEAN)).body.session_id;
    await posted(few, CREATE, BEAN);
    expect((await few.app.inject({ url: `/api/plant/session/${first}` })).statusCode).toBe(404);
  });

  test("after 30 minutes without use a session is gone", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    /** The list is no use of a session; it looks at the clock, as a timer does twice a minute. */
    const pass = async (seconds: number) => {
      for (let left = seconds; left > 0; left -= 50) {
        vi.advanceTimersByTime(1000 * Math.min(50, left));
        await made.app.inject({ url: "/api/plant/sessions" });
      }
    };
    try {
      const id = await started();
      await pass(1799);
      expect((await made.app.inject({ url: `/api/plant/session/${id}` })).statusCode).toBe(200);
      await pass(1801);
      expect((await made.app.inject({ url: `/api/plant/session/${id}` })).statusCode).toBe(404);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("two requests at once", () => {
  test("are done one after the other", async () => {
    const id = await started();
    const answers = await Promise.all([advance(id, 2), advance(id, 3), advance(id, 4)]);
    expect(answers.map(({ previous_age, current_age }) => [previous_age, current_age])).toEqual([
      [1, 3],
      [3, 6],
      [6, 10],
    ]);
  });

  test("a delete during an advance: the advance ends, the session is gone", async () => {
    const id = await started();
    const { value, reached } = await atMoment(
      { op: "advancePlant", phase: null },
      () => made.deps.plants.delete(id),
      () => advance(id, 20),
    );
    expect([reached, value.success, value.current_age]).toEqual([true, true, 21]);
    expect((await made.app.inject({ url: `/api/plant/session/${id}` })).statusCode).toBe(404);
  });

  test("a canceled advance leaves the plant as it was", async () => {
    const id = await started();
    const { value, reached } = await atMoment(
      { op: "expandPlants", phase: null },
      () => made.deps.jobs.cancelAll(),
      () => posted(made, `/api/plant/session/${id}/advance`, { dt: 10 }),
    );
    expect([reached, value.status]).toEqual([true, 499]);
    expect(await advance(id, 0)).toMatchObject({ previous_age: 1, current_age: 1 });
  });

  test("closing the sessions frees everything", async () => {
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
    const id = await started();
    await advance(id, 5);
    made.deps.plants.close();
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
  });
});
