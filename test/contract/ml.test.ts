import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { listMlModels } from "../../backend/services/ml/library.ts";
import { MlDevice, MlModel, MlModelsResponse } from "../../shared/contract/ml.ts";
import {
  FLOAT,
  integer,
  joined,
  type ModelText,
  node,
  number,
  onnx,
  part,
  port,
  tensor,
  text,
} from "../support/ml/onnx-bytes.ts";
import {
  FEATURES,
  HEIGHT_NETWORK,
  modelJson,
  TWO_LEVEL_NETWORK,
  WOOD_LEAF,
  writePackage,
} from "../support/ml/packages.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { checked } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const folder = folderOfFile("ml-models-");
const user = join(folder, "user");
const bundled = join(folder, "bundled");
const made = sessionTest({ config: { mlModelsDir: user, bundledModelsDir: bundled, mlDevice: "cpu" } });
beforeEach(() => {
  for (const root of [user, bundled]) rmSync(root, { recursive: true, force: true });
});

const list = async (query = "") =>
  checked(MlModelsResponse, (await made.app.inject({ url: `/api/ml/models${query}` })).json());
const ids = async (query = "") => (await list(query)).models.map(({ id }) => id);
const bring = (path: string) => made.app.inject({ method: "POST", url: "/api/ml/models/import", payload: { path } });
const take = (id: string) => made.app.inject({ method: "DELETE", url: `/api/ml/models/${id}` });
const source = (json: unknown, network?: ModelText | Uint8Array) => writePackage(join(folder, "source"), json, network);
/** Metrics of lists in lists: an answer with them cannot be written. */
const DEEP = JSON.stringify(modelJson({ id: "deep", metrics: "@" })).replace(
  '"@"',
  "[".repeat(100_000) + "]".repeat(100_000),
);
/** Why an import is refused; the folder of models stays as it was. */
async function refusal(json: unknown, network?: ModelText | Uint8Array): Promise<string> {
  const answer = await bring(source(json, network));
  expect([answer.statusCode, existsSync(user) ? readdirSync(user) : []]).toEqual([400, []]);
  return (answer.json() as { detail: string }).detail;
}

describe("installed models", () => {
  test("none: empty lists and no default", async () => {
    expect(await list()).toEqual({ models: [], default_models: {}, default_wood_model: null, broken: [] });
  });

  test("an imported model is listed, replaced by its successor, filtered by task, and removed", async () => {
    const answer = await bring(join(source(modelJson({ metrics: { f1: 0.9 } })), "model.json"));
    expect(answer.statusCode, answer.body).toBe(200);
    expect(checked(MlModel, answer.json())).toEqual({
      id: "tiny",
      name: "Tiny",
      description: "",
      task: "wood_leaf",
      arch: "mlp",
      variant: "",
      channels: ["dxyz"],
      classes: WOOD_LEAF,
      output_slug: "wood_class",
      metrics: { f1: 0.9 },
      origin: "user",
      is_default: false,
    });
    expect((await bring(source(modelJson({ name: "Second" }), TWO_LEVEL_NETWORK))).statusCode).toBe(200);
    expect((await list()).models.map(({ name }) => name)).toEqual(["Second"]);
    expect([await ids("?task=wood_leaf"), await ids("?task=wood")]).toEqual([["tiny"], []]);
    expect(readdirSync(user)).toEqual(["tiny"]);
    const gone = await take("tiny");
    expect([gone.statusCode, gone.json(), readdirSync(user)]).toEqual([200, { success: true }, []]);
    expect((await take("tiny")).statusCode).toBe(404);
  });

  test("bundled models come first and are the defaults; they cannot be replaced, shadowed or removed", async () => {
    for (const id of ["own-b", "own-a"]) writePackage(join(bundled, id), modelJson({ id }));
    writePackage(join(user, "own-a"), modelJson({ id: "own-a", name: "Shadow" }));
    writePackage(join(user, "aaa"), modelJson({ id: "aaa" }));
    const { models, broken, ...defaults } = await list();
    expect(models.map(({ id, origin, is_default }) => [id, origin, is_default])).toEqual([
      ["own-a", "bundled", true],
      ["own-b", "bundled", false],
      ["aaa", "user", false],
    ]);
    expect(defaults).toEqual({ default_models: { wood_leaf: "own-a" }, default_wood_model: "own-a" });
    expect(broken).toEqual([
      { path: join(user, "own-a"), reason: '"own-a" is the id of a bundled model; choose another id' },
    ]);
    expect((await bring(source(modelJson({ id: "own-b" })))).statusCode).toBe(409);
    expect((await take("own-b")).statusCode).toBe(409);
    expect(existsSync(join(bundled, "own-b", "model.onnx"))).toBe(true);
  });

  test("broken packages are reported and hide no others", async () => {
    writePackage(join(user, "good"), modelJson({ id: "good" }));
    writePackage(join(user, "renamed"), modelJson({ id: "other" }));
    writePackage(join(user, "deep"), DEEP);
    writePackage(join(user, "cut"), modelJson({ id: "cut" }), onnx(HEIGHT_NETWORK).subarray(0, 40));
    mkdirSync(join(user, "empty"));
    symlinkSync(join(user, "good"), join(user, "link"));
    writeFileSync(join(user, "README.md"), "");
    const { models, broken } = await list();
    expect(models.map(({ id }) => id)).toEqual(["good"]);
    expect(broken.map(({ path, reason }) => `${path.slice(user.length + 1)}: ${reason}`)).toEqual([
      expect.stringMatching(/^cut: model.onnx is damaged/),
      "deep: model.json is nested more than 16 deep",
      expect.stringMatching(/^empty: model.json is missing/),
      "link: it is a link; import the package instead",
      'renamed: its id is "other", so its folder must have that name',
    ]);
  });

  test.each(["..", "%2e%2e", "..%2fuser", "a%2Fb", "%00", ".new-1", "missing", "x".repeat(200)])(
    "removing %s touches nothing",
    async (id) => {
      writePackage(join(user, "good"), modelJson({ id: "good" }));
      expect((await take(id)).statusCode).toBeGreaterThanOrEqual(400);
      expect(await ids()).toEqual(["good"]);
    },
  );
});

describe("refused paths", () => {
  test.each([
    ["relative", "model", "is not an absolute path"],
    ["missing", "/data/missing", "there is no such folder"],
    ["a device", "/dev/zero", "is neither the folder of a package"],
    ["an empty folder", "/proc/self/task", "model.json is missing"],
  ])("%s", async (_, path, why) => {
    const answer = await bring(path);
    expect([answer.statusCode, (answer.json() as { detail: string }).detail]).toEqual([
      400,
      expect.stringContaining(why),
    ]);
  });
});

describe("refused model.json", () => {
  const hparams = (wishes: object) => ({ hparams: { num_classes: 2, in_channels: 3, ...wishes } });
  const [wood = {}, leaf = {}] = WOOD_LEAF;
  test.each<[why: string, json: unknown]>([
    ["is not JSON", "{"],
    ["its format is not", "[]"],
    ["is nested more than 16 deep", DEEP],
    ["its format is not", "null"],
    ["its format is not", modelJson({ format: "other" })],
    ["schema_version: is newer", modelJson({ schema_version: 2 })],
    ["id: must match", modelJson({ id: "../evil" })],
    ["id: must match", modelJson({ id: "Upper" })],
    ["id: must match", modelJson({ id: "x".repeat(65) })],
    ["name:", modelJson({ name: " " })],
    ["task:", modelJson({ task: "" })],
    ["arch:", modelJson({ arch: "" })],
    ["output_slug:", modelJson({ output_slug: "a/b" })],
    [
      "inputs.channels: must start with dxyz",
      modelJson({ inputs: { channels: ["reflectance"] }, ...hparams({ in_channels: 1 }) }),
    ],
    ["inputs.channels", modelJson({ inputs: { channels: ["dxyz", "color"] } })],
    [
      "inputs.channels: names a channel twice",
      modelJson({ inputs: { channels: ["dxyz", "dxyz"] }, ...hparams({ in_channels: 6 }) }),
    ],
    ["inputs.channels.0.width: is 4", modelJson({ inputs: { channels: [{ name: "dxyz", width: 4 }] } })],
    ["hparams.in_channels: is 4", modelJson(hparams({ in_channels: 4 }))],
    ["hparams.num_classes: is 3", modelJson(hparams({ num_classes: 3 }))],
    ["hierarchy.voxel", modelJson({ hierarchy: { voxel: 0, levels: 2, k: 4 } })],
    ["hierarchy.voxel", modelJson({ hierarchy: { voxel: 1e-6, levels: 2, k: 4 } })],
    ["hierarchy.levels", modelJson({ hierarchy: { voxel: 1, levels: 1, k: 4 } })],
    ["hierarchy.levels", modelJson({ hierarchy: { voxel: 1, levels: 1e9, k: 4 } })],
    ["hierarchy.k", modelJson({ hierarchy: { voxel: 1, levels: 2, k: 1 } })],
    [
      "hierarchy.finest_voxel: is 0.6, but voxel is 0.5",
      modelJson({ hierarchy: { voxel: 0.5, finest_voxel: 0.6, levels: 2, k: 4 } }),
    ],
    ["hierarchy.finest_voxel", modelJson({ hierarchy: { voxel: 1, finest_voxel: 1e-4, levels: 2, k: 4 } })],
    ["hierarchy.most_single", modelJson({ hierarchy: { voxel: 1, most_single: 1.5, levels: 2, k: 4 } })],
    ["crop.hops", modelJson({ crop: { hops: 9 } })],
    ["crop.max_points", modelJson({ crop: { max_points: 255 } })],
    ["crop.max_points", modelJson({ crop: { max_points: 1e9 } })],
    ["crop.inner_fraction", modelJson({ crop: { inner_fraction: 0.05 } })],
    ["classes", modelJson({ classes: [wood] })],
    ["classes: has a value twice", modelJson({ classes: [wood, wood], task: "other" })],
    ["classes.0.value", modelJson({ classes: [{ ...wood, value: 0 }, leaf] })],
    ["classes.0.color", modelJson({ classes: [{ ...wood, color: "red" }, leaf] })],
    ["classes: of a wood_leaf model", modelJson({ classes: [{ ...wood, value: 7 }, leaf] })],
  ])("%s", async (why, json) => {
    expect(await refusal(json)).toContain(why);
  });

  test("a file that is too large or no file is not read", async () => {
    expect(await refusal(`{"format": "${" ".repeat(2 ** 20)}"`)).toContain("model.json is larger than 1 MiB");
    const path = source(modelJson());
    rmSync(join(path, "model.onnx"));
    mkdirSync(join(path, "model.onnx"));
    expect((await bring(path)).json()).toMatchObject({ detail: expect.stringContaining("model.onnx") });
    rmSync(path, { recursive: true });
  });
});

describe("refused networks", () => {
  const { inputs, tensors, nodes } = HEIGHT_NETWORK;
  const like = (wishes: Partial<ModelText>): ModelText => ({ inputs, tensors: tensors ?? [], nodes, ...wishes });
  const matmul = nodes[0] ?? { op: "", in: [], out: [] };
  const outside = joined(
    number(1, 3),
    number(1, 2),
    number(2, FLOAT),
    text(8, "w"),
    part(13, text(1, "location"), text(2, "/etc/passwd")),
  );
  const inner = part(7, text(2, "inner"));
  test.each<[why: string, network: ModelText | Uint8Array]>([
    ["has no graph", new Uint8Array(0)],
    ["is damaged", new Uint8Array([7, 7, 7])],
    ["is damaged", onnx(HEIGHT_NETWORK).subarray(0, 100)],
    ["in another file", like({ tensors: [outside] })],
    ["in another file", like({ tensors: [joined(tensor("w", [3, 2], [1, 2, 3, 4, 5, 6]), number(14, 1))] })],
    ["bytes; its shape [3, 3] needs 36", like({ tensors: [tensor("w", [3, 3], [1, 2, 3, 4, 5, 6])] })],
    ["without its data", like({ tensors: [joined(number(1, 2 ** 40), number(2, FLOAT), text(8, "w"))] })],
    ["with the shape [-1", like({ tensors: [joined(number(1, -1), number(2, FLOAT), text(8, "w"))] })],
    [
      "with the shape [0, 0, 0",
      like({ tensors: [joined(part(1, new Uint8Array(1e6)), number(2, FLOAT), text(8, "w"))] }),
    ],
    [
      "too many parts",
      like({ nodes: [{ ...matmul, attributes: [new Uint8Array(1_000_000).map((_, i) => (i % 2 === 0 ? 0x40 : 1))] }] }),
    ],
    ["of type 8; only numbers", like({ tensors: [joined(number(1, 1), number(2, 8), text(8, "w"))] })],
    ['of the domain "com.microsoft"', like({ nodes: [{ ...matmul, domain: "com.microsoft" }] })],
    ['of the domain "evil"', like({ inModel: [part(8, text(1, "evil"), number(2, 1))] })],
    ["must name one version", like({ inModel: [part(8, number(2, 17))] })],
    ["has functions", like({ inModel: [part(25, text(1, "f"))] })],
    ["has a part for training", like({ inModel: [part(20, new Uint8Array(0))] })],
    ["has field 7 of a model twice", like({ inModel: [inner] })],
    ["unknown field 99 in a model", like({ inModel: [number(99, 1)] })],
    ["sparse tensors", like({ inGraph: [part(15, new Uint8Array(0))] })],
    [
      "graphs inside operators",
      like({ nodes: [{ ...matmul, attributes: [joined(text(1, "body"), part(6, text(2, "inner")))] }] }),
    ],
    [
      "graphs inside operators",
      like({ nodes: [{ ...matmul, attributes: [joined(text(1, "body"), part(11, text(2, "inner")))] }] }),
    ],
    ["attributes of functions", like({ nodes: [{ ...matmul, attributes: [joined(text(1, "a"), text(21, "b"))] }] })],
    ["uses the operator Loop", like({ nodes: [{ ...matmul, op: "Loop" }] })],
    [
      "uses the operator RandomNormalLike",
      like({ nodes: [{ op: "RandomNormalLike", in: ["features"], out: ["logits"] }] }),
    ],
    ["has the format version 99", like({ ir: 99 })],
    ["has operators of version 99", like({ opset: 99 })],
    ['asks for the input "secret"', like({ inputs: [FEATURES, { name: "secret", dims: ["n", 3] }] })],
    ['asks for the input "parent_1"', like({ inputs: [FEATURES, { name: "parent_1", dims: ["n"] }] })],
    [
      'has no input "features"',
      like({ inputs: [{ name: "positions_0", dims: ["n", 3] }], nodes: [{ ...matmul, in: ["positions_0", "w"] }] }),
    ],
    ["two inputs of one name", like({ inputs: [FEATURES, FEATURES] })],
    ["two tensors of one name", like({ tensors: [...(tensors ?? []), ...(tensors ?? [])] })],
    ["with the shape [any, 4]; model.json needs [any, 3]", like({ inputs: [{ ...FEATURES, dims: ["n", 4] }] })],
    ["with the shape [512, 3]", like({ inputs: [{ ...FEATURES, dims: [512, 3] }] })],
    ["of another type than float32", like({ inputs: [{ ...FEATURES, type: 7 }] })],
    ["must have one output", like({ outputs: [{ name: "other", dims: ["n", 2] }] })],
    ["must have one output", like({ outputs: [] })],
    ["with the shape [any, 3]; model.json needs [any, 2]", like({ outputs: [{ name: "logits", dims: ["n", 3] }] })],
    ["never makes its output", like({ nodes: [] })],
    [
      'needs "b" before it is made',
      like({
        nodes: [
          { op: "Add", in: ["features", "b"], out: ["a"] },
          { op: "Relu", in: ["a"], out: ["b"] },
          { ...matmul, in: ["b", "w"] },
        ],
      }),
    ],
    ['makes "logits" twice', like({ nodes: [matmul, matmul] })],
    ["does not say the shape", like({ inGraph: [part(11, text(1, "x"), part(2, part(1, number(1, 1))))] })],
    ["that is not a tensor", like({ inGraph: [part(11, text(1, "x"), part(2, part(4, new Uint8Array(0))))] })],
    ["ONNX Runtime refuses the network", like({ nodes: [{ ...matmul, op: "NoSuchOperator" }] })],
    ["ONNX Runtime refuses the network", like({ tensors: [tensor("w", [2, 2], [1, 2, 3, 4])] })],
    [
      "answers float32 [512, 4] for [512, 2]",
      like({ tensors: [tensor("w", [3, 4], Array(12).fill(1))], outputs: [{ name: "logits", dims: ["n", "c"] }] }),
    ],
    ["values that are not finite", like({ tensors: [tensor("w", [3, 2], [1, 2, 3, 4, 5, Number.NaN])] })],
    [
      "ONNX Runtime refuses the network",
      like({
        tensors: [tensor("w", [2], [512, 2], 7), tensor("v", [3, 2], [1, 2, 3, 4, 5, 6])],
        nodes: [
          { ...matmul, in: ["features", "v"], out: ["a"] },
          { op: "Reshape", in: ["a", "w"], out: ["logits"] },
        ],
      }),
    ],
  ])("%s", async (why, network) => {
    expect(await refusal(modelJson(), network)).toContain(why);
  });

  test("a network of two levels cannot count its hops", async () => {
    const json = modelJson({ crop: { max_points: 256, inner_fraction: 0.7, hops: 1 } });
    expect(await refusal(json, TWO_LEVEL_NETWORK)).toContain("asks for a second level");
  });

  test("bytes that begin as a file of the runtime's own format are run as the ONNX that was checked", async () => {
    const both = joined(text(2, "\0\0ORTM and a name"), onnx(HEIGHT_NETWORK));
    expect(Buffer.from(both.subarray(4, 8)).toString()).toBe("ORTM");
    const answer = await bring(source(modelJson(), both));
    expect(answer.statusCode, answer.body).toBe(200);
  });

  test("nodes, ports and attributes of the test's own writer are what the runtime reads", () => {
    expect(port(11, FEATURES).length + node({ ...matmul, attributes: [integer("axis", 0)] }).length).toBeGreaterThan(
      40,
    );
  });
});

test("the device answers where networks run, and why", async () => {
  const device = checked(MlDevice, (await made.app.inject({ url: "/api/ml/device" })).json());
  expect(device).toMatchObject({ device: "cpu", cuda: false, mps: false, torch: null, vram_gb: null });
  expect([device.runtime, device.reason]).toEqual(["1.30.0", "Networks run on the CPU (APP_ML_DEVICE is cpu)."]);
  expect(device.device_name).not.toBe("");
});

test("the models of the product can be used, and one of them is the default for wood", async () => {
  const own = await listMlModels(undefined, { config: { ...made.deps.config, bundledModelsDir: undefined } as never });
  expect([own.broken, own.models.every(({ origin }) => origin === "bundled")]).toEqual([[], true]);
  expect(own.models.map(({ id }) => id)).toContain(own.default_wood_model);
});
