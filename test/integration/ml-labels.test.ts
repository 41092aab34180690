import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { JobRegistry } from "../../backend/jobs/registry.ts";
import { addon } from "../../backend/native/core/addon.ts";
import { voxelFeatureWidths } from "../../backend/native/wood-model.ts";
import { installedModels } from "../../backend/services/ml/library.ts";
import { type MlPlan, mlLabels, mlLabelsBytes, planMl } from "../../backend/services/wood/ml-labels.ts";
import { CHANNEL_WIDTHS } from "../../shared/contract/ml.ts";
import { type ModelText, tensor } from "../support/ml/onnx-bytes.ts";
import { HEIGHT_NETWORK, modelJson, perceptron, TWO_LEVEL_NETWORK, writePackage } from "../support/ml/packages.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { stopwatch, type Times } from "../support/run/stopwatch.ts";
import { agreement, leafyTree } from "../support/scans/leafy-tree.ts";
import { sessionTest } from "../support/session/session-test.ts";

const folder = folderOfFile("ml-labels-");
const BUNDLED = join(import.meta.dirname, "../../resources/ml_models");
const made = sessionTest({ config: { mlModelsDir: folder, bundledModelsDir: join(folder, "none"), mlDevice: "cpu" } });

async function planOf(id: string, json: object, network: ModelText): Promise<MlPlan> {
  writePackage(join(folder, id), { ...modelJson({ id }), ...json }, network);
  return planMl(id, made.deps);
}
const column = (values: Float64Array) => new addon.Column("vec3d", new Uint8Array(values.buffer));

interface Given {
  readonly plan: MlPlan;
  readonly positions: Float64Array;
  readonly skip?: Uint8Array;
  readonly reflectance?: Float64Array;
  readonly threads?: number;
}
function labelsOf({ plan, positions, skip, reflectance, threads }: Given) {
  return new JobRegistry().run(async (job) => {
    const input = {
      positions: column(positions),
      skip: skip ? new addon.Column("u8", skip) : null,
      reflectance: reflectance ? new addon.Column("f64", new Uint8Array(reflectance.buffer)) : null,
    };
    const { labels, ...rest } = await mlLabels(input, plan, job, threads);
    const values = new Uint8Array(labels.native.length);
    labels.native.readInto(values, 0);
    return { values, ...rest };
  });
}

/** A pole of points at whole metres, from `low` to `high`, in the order of a shuffle. */
const pole = (low: number, high: number, at = 0) =>
  Float64Array.from(
    Array.from({ length: high - low + 1 }, (_, i) => low + ((i * 7) % (high - low + 1))).flatMap((z) => [at, at, z]),
  );
const noise = (seed: number) => {
  let state = seed;
  return () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
};
/** Points in a column of 8 x 8 x 40 m. */
function thicket(count: number, offset = 0): Float64Array {
  const next = noise(3);
  return Float64Array.from({ length: 3 * count }, (_, i) => offset + (i % 3 === 2 ? 40 : 8) * next());
}

test("the widths of channels are those of the native side", () => {
  expect(CHANNEL_WIDTHS).toEqual(voxelFeatureWidths());
});

describe("labels of a network that tells heights apart", () => {
  const json = { hierarchy: { voxel: 0.5, levels: 2, k: 4 } };
  let height: MlPlan;
  beforeAll(async () => {
    height = await planOf("height", json, HEIGHT_NETWORK);
  });

  test("one crop: above its seed, the lowest voxel, all is leaf; rows that are skipped have none", async () => {
    const positions = pole(0, 40);
    const { values, voxel_count, warnings } = await labelsOf({ plan: height, positions });
    const heights = positions.filter((_, i) => i % 3 === 2);
    expect([...values]).toEqual([...heights].map((z) => (z > 0 ? 2 : 1)));
    expect([voxel_count, warnings]).toEqual([41, []]);
    const skip = Uint8Array.from(heights, (z) => (z < 10 ? 1 : 0));
    const part = await labelsOf({ plan: height, positions, skip });
    expect([...part.values]).toEqual([...heights].map((z) => (z < 10 ? 0 : z > 10 ? 2 : 1)));
  });

  test("the same 5000 km away, and for points that are not finite, which are leaf", async () => {
    const far = Float64Array.from([...pole(0, 40, 5e6), Number.NaN, 0, 0]);
    const { values } = await labelsOf({ plan: height, positions: far });
    const near = await labelsOf({ plan: height, positions: pole(0, 40) });
    expect([...values]).toEqual([...near.values, 2]);
  });

  test.each([
    ["no points", new Float64Array(0), []],
    ["one point", Float64Array.from([1, 2, 3]), [1]],
    ["only points that are not finite", Float64Array.from([Number.NaN, 0, 0, 1, Number.POSITIVE_INFINITY, 0]), [2, 2]],
    ["equal points", Float64Array.from([1, 1, 1, 1, 1, 1]), [1, 1]],
    ["two points 10,000 km apart", Float64Array.from([0, 0, 0, 0, 0, 1e7]), [1, 2]],
  ])("%s", async (_, positions, wanted) => {
    expect([...(await labelsOf({ plan: height, positions })).values]).toEqual(wanted);
  });
});

test("voxels follow the density where a model says how fine they may be", async () => {
  const voxels = (finest: object) => ({ hierarchy: { voxel: 2, levels: 2, k: 4, ...finest } });
  const [one, fine, shared] = [
    await planOf("one_edge", voxels({}), HEIGHT_NETWORK),
    await planOf("fine_edges", voxels({ finest_voxel: 0.2 }), HEIGHT_NETWORK),
    await planOf("shared_voxels", voxels({ finest_voxel: 0.2, most_single: 0.1 }), HEIGHT_NETWORK),
  ];
  const dense = thicket(20_000);
  expect((await labelsOf({ plan: one, positions: dense })).voxel_m).toBe(2);
  // Of voxels with a mean of m points at random, m / (exp(m) - 1) of those that have any have one: .8 for m = .43, .1 for
  // 3.61; the points are 7.8 a m3.
  const found = await labelsOf({ plan: fine, positions: dense });
  expect(found.voxel_m).toBeCloseTo((0.43 / 7.8125) ** (1 / 3), 1);
  expect(20_000 / found.voxel_count).toBeCloseTo(0.43 / (1 - Math.exp(-0.43)), 1);
  const coarser = await labelsOf({ plan: shared, positions: dense });
  expect(coarser.voxel_m).toBeCloseTo((3.61 / 7.8125) ** (1 / 3), 1);
  expect((await labelsOf({ plan: fine, positions: thicket(100) })).voxel_m).toBe(2);
  expect((await labelsOf({ plan: fine, positions: pole(0, 40) })).warnings).toEqual([]);
});

describe("several crops", () => {
  const json = { hierarchy: { voxel: 0.5, levels: 2, k: 4 }, crop: { max_points: 1000, inner_fraction: 0.7 } };
  test.each([
    ["features alone", HEIGHT_NETWORK],
    ["two levels", TWO_LEVEL_NETWORK],
    ["a perceptron", perceptron(3, 64)],
  ])("%s: the same labels for 1 and more threads and any order of the points", async (name, network) => {
    const plan = await planOf(name.replaceAll(" ", "-"), json, network);
    const positions = thicket(6000);
    const first = await labelsOf({ plan, positions, threads: 1 });
    expect(first.voxel_count).toBeGreaterThan(3000);
    expect(new Set(first.values)).toEqual(new Set([1, 2]));
    const more = await labelsOf({ plan, positions, threads: Math.max(2, availableParallelism()) });
    expect(Buffer.compare(first.values, more.values)).toBe(0);
    const order = Array.from({ length: 6000 }, (_, i) => (i * 4999) % 6000);
    const shuffled = Float64Array.from(order.flatMap((i) => [...positions.subarray(3 * i, 3 * i + 3)]));
    const again = await labelsOf({ plan, positions: shuffled });
    expect(
      Buffer.compare(
        again.values,
        Uint8Array.from(order, (i) => first.values[i] ?? 0),
      ),
    ).toBe(0);
  });
});

test("the bundled model gives the same labels on 1 and 2 threads", async () => {
  const plan = await planMl(null, { ...made.deps, config: { ...made.deps.config, bundledModelsDir: BUNDLED } });
  const tree = leafyTree(3, { leaves: 9000, wood: 6000 });
  const positions = Float64Array.from(tree.points.flat());
  const one = await labelsOf({ plan, positions, threads: 1 });
  const two = await labelsOf({ plan, positions, threads: 2 });
  expect(Buffer.compare(one.values, two.values)).toBe(0);
  expect(agreement(one.values, tree.classes)).toBeGreaterThan(0.9);
});

describe("reflectance", () => {
  const json = {
    inputs: { channels: ["dxyz", "reflectance"] },
    hparams: { num_classes: 2, in_channels: 4 },
    hierarchy: { voxel: 0.5, levels: 2, k: 4 },
  };
  const bright: ModelText = {
    ...HEIGHT_NETWORK,
    inputs: [{ name: "features", dims: ["n", 4] }],
    tensors: [tensor("w", [4, 2], [0, 0, 0, 0, 0, 0, 1, -1])],
  };
  test("is used if it is there; else the points are equally bright, with a warning", async () => {
    const plan = await planOf("bright", json, bright);
    const positions = pole(0, 40);
    const reflectance = Float64Array.from(
      positions.filter((_, i) => i % 3 === 2),
      (z) => (z % 2 === 0 ? 90 : 10),
    );
    const seen = await labelsOf({ plan, positions, reflectance });
    expect([...seen.values]).toEqual([...reflectance].map((value) => (value > 50 ? 1 : 2)));
    const unseen = await labelsOf({ plan, positions });
    expect([...new Set(unseen.values)]).toEqual([1]);
    expect(unseen.warnings).toEqual([expect.stringContaining("Model bright uses the reflectance")]);
  });
});

describe("the model of a request", () => {
  test("is not run when it was removed or replaced after the plan", async () => {
    const positions = pole(0, 5);
    const removed = await planOf("removed", {}, HEIGHT_NETWORK);
    rmSync(join(folder, "removed"), { recursive: true });
    const again = expect.stringContaining("send it again");
    await expect(labelsOf({ plan: removed, positions })).rejects.toMatchObject({ code: "conflict", message: again });
    const replaced = await planOf("replaced", {}, HEIGHT_NETWORK);
    await planOf("replaced", { hierarchy: { voxel: 0.2, levels: 2, k: 4 } }, HEIGHT_NETWORK);
    await expect(labelsOf({ plan: replaced, positions })).rejects.toMatchObject({ code: "conflict", message: again });
  });

  test.each([
    ["missing", "is not installed"],
    ["../height", "is not installed"],
  ])("%s", async (id, why) => {
    await expect(planMl(id, made.deps)).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(why),
    });
  });
  test("no default, another task, a broken package", async () => {
    await expect(planMl(null, made.deps)).rejects.toMatchObject({ message: expect.stringContaining("import one") });
    writePackage(join(folder, "other"), modelJson({ id: "other", task: "ground" }));
    await expect(planMl("other", made.deps)).rejects.toMatchObject({
      message: expect.stringContaining("not for wood_leaf"),
    });
    writePackage(join(folder, "broken"), modelJson({ id: "broken", name: "" }));
    await expect(planMl("broken", made.deps)).rejects.toMatchObject({
      message: expect.stringContaining("cannot be used: model.json: name"),
    });
    expect((await installedModels(made.deps)).broken).toHaveLength(1);
  });
  test("its memory grows with the points and with its crops", async () => {
    const small = await planOf("small", {}, HEIGHT_NETWORK);
    const large = await planOf("large", { crop: { max_points: 60_000 } }, HEIGHT_NETWORK);
    expect(mlLabelsBytes(1e6, large)).toBeGreaterThan(mlLabelsBytes(1e6, small));
    expect(mlLabelsBytes(2e6, small)).toBeGreaterThan(mlLabelsBytes(1e6, small));
  });
});

test("a cancel ends the run and the process within 250 ms", async () => {
  const json = { hierarchy: { voxel: 0.05, levels: 2, k: 4 }, crop: { max_points: 20_000, inner_fraction: 0.1 } };
  const plan = await planOf("slow", json, perceptron(3, 512));
  const registry = new JobRegistry();
  let stop: (() => Times) | undefined;
  const run = registry.run(async (job) => {
    const cancel = setInterval(() => {
      if (job.takeProgress().every(({ message }) => message !== "Network")) return;
      clearInterval(cancel);
      setTimeout(() => {
        stop = stopwatch();
        job.cancel();
      }, 300);
    }, 5);
    return mlLabels({ positions: column(thicket(60_000)), skip: null, reflectance: null }, plan, job).finally(() =>
      clearInterval(cancel),
    );
  });
  await expect(run).rejects.toMatchObject({ code: "canceled" });
  expect(stop?.().own_ms).toBeLessThan(250);
});
