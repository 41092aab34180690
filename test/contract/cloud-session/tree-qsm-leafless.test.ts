import { expect, test } from "vitest";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { gaussian, uniform } from "../../accuracy/random.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();

/** A stem of 3 m, 8 cm thick to each side, and eight clouds of points around lines: all labelled as wood. */
function tree(): string[] {
  const next = uniform(4);
  const rows = ["x y z tree_instance wood_class"];
  const put = (...place: readonly number[]) => rows.push([...place.map((v) => v.toFixed(5)), 1, 1].join(" "));
  for (let i = 0; i < 9000; i += 1) {
    const turn = 2 * Math.PI * next();
    put(0.08 * Math.cos(turn), 0.08 * Math.sin(turn), 3 * next());
  }
  for (let k = 0; k < 8; k += 1)
    for (let i = 0; i < 400; i += 1) {
      const [turn, along] = [2.4 * k, 0.08 + 1.5 * next()];
      const off = () => 0.05 * gaussian(next);
      put(along * Math.cos(turn) + off(), along * Math.sin(turn) + off(), 1.2 + 0.2 * k + 0.3 * along + off());
    }
  return rows;
}

test("where most of a model lies on no surface, it has intervals if its points are labelled as wood, and none otherwise", async () => {
  const { session_id } = await cloud(made, tree());
  const models = async (wood_only: boolean) => {
    const request = { radius_model: "tapered", include_models: false, wood_only };
    const { results } = await tail(made, TreeQsmTail, `/api/cloud/session/${session_id}/tree_qsm`, request);
    const [{ metrics, warnings } = { metrics: null, warnings: [] }] = results;
    return { metrics, told: warnings?.join() ?? "" };
  };
  const wood = await models(true);
  expect(wood.told).toMatch(/as twigs that few points were measured on: .* the interval of the volume is wide/);
  const [low, high] = wood.metrics?.stem_volume_ci95_m3 ?? [0, 0];
  expect([low, high].every((end) => Math.abs(end / (Math.PI * 0.08 ** 2 * 3) - 1) < 0.3)).toBe(true);
  expect(wood.metrics?.total_woody_volume_ci95_m3).not.toBeNull();
  const unknown = await models(false);
  expect(unknown.told).toMatch(/as leaves do, .* a rough guess/);
  expect(unknown.metrics?.total_woody_volume_ci95_m3).toBeNull();
  expect(unknown.metrics?.total_woody_volume_m3).toBe(wood.metrics?.total_woody_volume_m3);
});
