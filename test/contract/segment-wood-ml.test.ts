import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import * as device from "../../backend/services/ml/device.ts";
import { listMlModels } from "../../backend/services/ml/library.ts";
import * as network from "../../backend/services/ml/network.ts";
import { SessionWoodResponse } from "../../shared/contract/cloud-session/segment-wood.ts";
import { WoodResponse } from "../../shared/contract/segment-wood.ts";
import { AppError } from "../../shared/errors.ts";
import { HEIGHT_NETWORK, modelJson, writePackage } from "../support/ml/packages.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { answered, cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const folder = folderOfFile("ml-wood-");
const bundled = join(folder, "bundled");
const made = sessionTest({ config: { mlModelsDir: join(folder, "user"), bundledModelsDir: bundled, mlDevice: "cpu" } });
const URL = "/api/segment/wood";
const hierarchy = { voxel: 0.5, levels: 2, k: 4 };
beforeAll(() => {
  writePackage(join(bundled, "height"), modelJson({ id: "height", hierarchy }), HEIGHT_NETWORK);
  writePackage(join(folder, "user", "other"), modelJson({ id: "other", task: "ground" }));
});

/** A pole: above its lowest voxel, the network says leaf. */
const POLE = Array.from({ length: 30 }, (_, i) => [0, 0, (i * 7) % 30]);
const WANTED = POLE.map(([, , z = 0]) => (z > 0 ? 2 : 1));

test("the default model labels inline points; the answer names it", async () => {
  const answer = await answered(made, WoodResponse, URL, { points: POLE, method: "ml" });
  expect({ ...answer, labels: Array.from(answer.labels) }).toMatchObject({
    success: true,
    labels: WANTED,
    method: "ml",
    model_id: "height",
    num_points: 30,
    num_wood: 1,
    num_leaf: 29,
    voxel_size: 0.5,
    non_finite: 0,
    params: {},
    source_counts: [30],
    warnings: [
      expect.stringContaining("No ground labels came with the points"),
      expect.stringMatching(/^The points are 100.0 cm apart .* method ml missed/),
    ],
  });
});

test("a plant in a pot is shown to the network in the size of a tree, which is told", async () => {
  const points = POLE.map((point) => point.map((value) => value / 1000));
  const answer = await answered(made, WoodResponse, URL, { points, method: "ml" });
  expect(answer.voxel_size).toBeCloseTo(0.5 / 10, 6); // points 1 mm apart stay within 1 cm
  expect(answer.warnings).toContain(
    "The cloud is smaller than a tree: the network, which knows trees, saw it enlarged 10 times.",
  );
});

test("parameters of shapes are named as unused", async () => {
  const { warnings } = await answered(made, WoodResponse, URL, {
    points: POLE,
    method: "ml",
    wood_bias: 0.3,
    k_max: 50,
  });
  expect(warnings[0]).toBe("Method ml does not use wood_bias, k_max.");
});

test("several sessions give one answer, and a session gets the column", async () => {
  const rows = ["x y z", ...POLE.map((point) => point.join(" "))];
  const { session_id } = await cloud(made, rows);
  const source = { session_id };
  const joined = await answered(made, WoodResponse, URL, {
    sources: [source, source],
    method: "ml",
    model_id: "height",
  });
  expect([Array.from(joined.labels), joined.source_counts]).toEqual([
    [...WANTED, ...WANTED],
    [30, 30],
  ]);
  const url = `/api/cloud/session/${session_id}/segment_wood`;
  const answer = await answered(made, SessionWoodResponse, url, { method: "ml", defer_octree: true });
  expect(answer).toMatchObject({
    octree_deferred: true,
    model_id: "height",
    num_wood: 1,
    num_leaf: 29,
    analyzed_points: 30,
  });
});

test.each([
  ["missing", 'model_id "missing" is not installed; installed: height'],
  ["other", 'model_id "other" is a model for ground, not for wood_leaf'],
  ["../other", 'model_id "../other" is not installed; installed: height'],
])("model_id %s: 400 before any work, in both endpoints", async (model_id, detail) => {
  expect(await refusal(made, URL, { points: POLE, method: "ml", model_id })).toEqual([400, detail]);
  const { session_id } = await cloud(made, ["x y z", "0 0 0", "0 0 1", "0 0 2"]);
  const url = `/api/cloud/session/${session_id}/segment_wood`;
  expect(await refusal(made, url, { method: "ml", model_id })).toEqual([400, detail]);
});

test("without the runtime the refusal says what is missing", async () => {
  const found = await device.mlDevice(made.deps);
  const without = vi
    .spyOn(device, "mlDevice")
    .mockResolvedValue({ ...found, runtime: null, reason: network.NO_RUNTIME });
  try {
    expect(await refusal(made, URL, { points: POLE, method: "ml" })).toEqual([400, network.NO_RUNTIME]);
  } finally {
    without.mockRestore();
  }
});

test("a probe that fails for a reason which may pass is tried again", async () => {
  const config = { ...made.deps.config };
  const broken = vi.spyOn(network, "withNetwork").mockRejectedValueOnce(new AppError("internal", "no process"));
  expect(await device.mlDevice({ ...made.deps, config })).toMatchObject({ runtime: null, reason: "no process" });
  broken.mockRestore();
  expect((await device.mlDevice({ ...made.deps, config })).runtime).not.toBe(null);
});

test("without a bundled model the request must name one", async () => {
  rmSync(join(bundled, "height"), { recursive: true });
  try {
    const [status, detail] = await refusal(made, URL, { points: POLE, method: "ml" });
    expect([status, detail]).toEqual([400, expect.stringContaining("import one and name it in model_id")]);
    expect(await listMlModels("wood_leaf", made.deps)).toMatchObject({ models: [], default_wood_model: null });
  } finally {
    writePackage(join(bundled, "height"), modelJson({ id: "height", hierarchy }), HEIGHT_NETWORK);
  }
});

test("a cancel of the session's run answers 499 and leaves nothing", async () => {
  const { session_id } = await cloud(made, ["x y z", ...POLE.map((point) => point.join(" "))]);
  const before = addon.bulkBytesInUse();
  const url = `/api/cloud/session/${session_id}/segment_wood`;
  const running = refusal(made, url, { method: "ml" });
  await eventually(() => expect(made.deps.jobs.size).toBe(1));
  made.deps.jobs.cancelAll();
  expect(await running).toEqual([499, "Wood segmentation was canceled."]);
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});
