import { expect, test } from "vitest";
import { ApiError, CanceledError, createClient, type RunProgress } from "../../shared/client/index.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const client = () => createClient({ baseUrl: made.base });
const BEAN = { plant_type: "bean", age: 8, random_seed: 1 };

test("builds: frames, instances, canopies, events", async () => {
  const { meta, buffers } = await client().generatePlant(BEAN);
  expect(buffers.get("vertices")).toHaveLength(9 * meta.triangle_count);
  expect((await client().generatePlant({ ...BEAN, instances: true })).meta.instance_count).toBeGreaterThan(0);
  expect((await client().generateCanopy({ ...BEAN, count_x: 2, count_y: 1 })).meta.plant_count).toBe(2);
  const steps: RunProgress[] = [];
  const streamed = await client().streamPlant(BEAN, { onProgress: (step) => steps.push(step) });
  expect(streamed.triangle_count).toBe(meta.triangle_count);
  expect(steps.at(-1)).toMatchObject({ progress: 1, run_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
});

test("sessions and morphs", async () => {
  const plants = client();
  const { session_id, sim_xml } = await plants.createPlantSession({ ...BEAN, initial_age: 5 });
  expect((await plants.advancePlant(session_id ?? "", { dt: 3 })).current_age).toBe(8);
  expect((await plants.plantSession(session_id ?? "")).current_age).toBe(8);
  expect((await plants.plantSessions()).sessions.map((one) => one.session_id)).toContain(session_id);
  expect(await plants.closePlantSession(session_id ?? "")).toMatchObject({ success: true });
  const document = { plant_type: "bean", sim_xml: sim_xml ?? "", expression: "leaf_scale *= 2" };
  expect((await plants.parseMorph(document)).edits).toHaveLength(1);
  expect((await plants.morphPlant(document)).current_age).toBe(5);
  expect((await plants.plantModels()).models).toContain("bean");
});

test("failures and a signal", async () => {
  const failed = async (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);
  for (const work of [
    client().generatePlant({ plant_type: "triffid" }),
    client().streamPlant({ plant_type: "triffid" }),
  ]) {
    const error = await failed(work);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 200, code: "not_found", message: expect.stringContaining("triffid") });
  }
  const abort = new AbortController();
  const canopy = { mode: "canopy", plant_type: "apple", age: 700, count_x: 20, count_y: 20 } as const;
  const error = await failed(client().streamPlant(canopy, { signal: abort.signal, onProgress: () => abort.abort() }));
  expect(error).toBeInstanceOf(CanceledError);
});
