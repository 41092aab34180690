import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPackage } from "../../backend/services/ml/package.ts";
import { AppError } from "../../shared/errors.ts";
import { randomUnits } from "../support/fit/random-expression.ts";
import { type ModelText, number, onnx, part, tensor, text } from "../support/ml/onnx-bytes.ts";
import { HEIGHT_NETWORK, modelJson, perceptron, TWO_LEVEL_NETWORK, writePackage } from "../support/ml/packages.ts";
import { folderOfFile } from "../support/run/folders.ts";
import { sessionTest } from "../support/session/session-test.ts";

const COUNT = Number(process.env.APP_TEST_PACKAGES ?? 60);
const SEED = Number(process.env.APP_TEST_SEED ?? 1);
/** Of the packages that reading accepts, one of so many is imported: each import starts a process. */
const IMPORT_EVERY = 8;
/** CPU time of reading a package, whatever is in it. */
const SLOWEST_READ_MS = 1000;

const folder = folderOfFile("ml-fuzz-");
const user = join(folder, "user");
const made = sessionTest({ config: { mlModelsDir: user, bundledModelsDir: join(folder, "none") } });

const HOSTILE: readonly unknown[] = [
  "../../evil",
  "/etc/passwd",
  "..\\..\\evil",
  "a/b",
  ".",
  "",
  "\u0000",
  "x".repeat(5000),
  "CON",
  -1,
  0,
  0.5,
  1e300,
  2 ** 53,
  null,
  true,
  [],
  {},
  ["dxyz", "dxyz"],
  { __proto__: null, constructor: 1 },
];
const NETWORKS: readonly ModelText[] = [HEIGHT_NETWORK, TWO_LEVEL_NETWORK, perceptron(3, 8)];

type Unit = () => number;
const below = (unit: Unit, count: number) => Math.floor(unit() * count);
function pick<T>(unit: Unit, list: readonly T[]): T {
  const value = list[below(unit, list.length)];
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
}

/** Replaces or removes a random value of a JSON tree. */
function mutateJson(unit: Unit, value: unknown): unknown {
  if (typeof value !== "object" || value === null || unit() < 0.2) return pick(unit, HOSTILE);
  const copy: Record<string, unknown> = { ...(value as Record<string, unknown>) };
  const key = pick(unit, [...Object.keys(copy), "extra"]);
  if (unit() < 0.15) delete copy[key];
  else copy[key] = mutateJson(unit, copy[key]);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

const NAMES = ["features", "w", "logits", "neighbors_0", "a", "../../evil", "/etc/passwd", ""];
const LENGTHS = [-1, 0, 1, 2, 3, 7, 65_536, 2 ** 31, 2 ** 40];

/** One of the ways in which a network can be wrong. */
function mutateNetwork(unit: Unit, network: ModelText): Uint8Array {
  const { nodes, tensors = [], inputs } = network;
  const at = below(unit, nodes.length);
  const changed = (wishes: object) => nodes.map((one, i) => (i === at ? { ...one, ...wishes } : one));
  switch (below(unit, 9)) {
    case 0: // cut off
      return onnx(network).subarray(0, below(unit, onnx(network).length));
    case 1: {
      const bytes = onnx(network).slice(); // flipped bits
      for (let i = 0; i <= below(unit, 6); i++) {
        const place = below(unit, bytes.length);
        bytes[place] = (bytes[place] ?? 0) ^ (1 << below(unit, 8));
      }
      return bytes;
    }
    case 2: // tensors that are swapped, missing or of another shape
      return onnx({
        ...network,
        tensors: [tensor(pick(unit, NAMES), [below(unit, 5), below(unit, 5)], [1, 2, 3, 4]), ...tensors.slice(1)],
      });
    case 3: // cycles, and operators before their inputs
      return onnx({ ...network, nodes: changed({ in: [pick(unit, NAMES), pick(unit, NAMES)] }) });
    case 4:
      return onnx({ ...network, nodes: changed({ out: [pick(unit, NAMES)] }) });
    case 5: // huge shapes
      return onnx({
        ...network,
        tensors: [...tensors, tensor("z", [2], [pick(unit, LENGTHS), pick(unit, LENGTHS)], 7)],
        nodes: [...nodes.slice(0, -1), { op: "ConstantOfShape", in: ["z"], out: ["unused"] }, ...nodes.slice(-1)],
      });
    case 6: // ports
      return onnx({
        ...network,
        inputs: inputs.map((one) => ({
          ...one,
          name: pick(unit, [one.name, ...NAMES]),
          dims: unit() < 0.5 ? one.dims : [pick(unit, LENGTHS)],
        })),
      });
    case 7: // other operators, domains and versions
      return onnx({
        ...network,
        opset: pick(unit, [17, 17, 13, 21, 0, 99]),
        nodes: changed({
          op: pick(unit, ["MatMul", "Loop", "NoSuch", "Identity", "Softmax"]),
          domain: pick(unit, ["", "ai.onnx", "evil"]),
        }),
      });
    default: // data elsewhere, functions, unknown parts
      return onnx({
        ...network,
        inModel: [pick(unit, [part(25, text(1, "f")), number(99, 1), part(20), part(7), text(2, "ok")])],
      });
  }
}

test(
  `${COUNT} damaged packages: each is refused with a reason or runs; nothing is written elsewhere`,
  async () => {
    const unit = randomUnits(SEED);
    const source = join(folder, "source");
    const counts = { refused: 0, accepted: 0, imported: 0, not_run: 0 };
    for (let at = 0; at < COUNT; at++) {
      const json = unit() < 0.5 ? modelJson() : mutateJson(unit, modelJson());
      const network = pick(unit, NETWORKS);
      const written = unit() < 0.1 ? JSON.stringify(json).slice(0, below(unit, 400)) : json;
      writePackage(source, written, unit() < 0.25 ? network : mutateNetwork(unit, network));
      const start = process.cpuUsage();
      const read = await readPackage(source).catch((error: unknown) => error);
      const { user: inUser, system } = process.cpuUsage(start);
      expect((inUser + system) / 1000, `case ${at}`).toBeLessThan(SLOWEST_READ_MS);
      if (read instanceof Error) {
        expect(read, `case ${at}: ${read.stack}`).toBeInstanceOf(AppError);
        expect([(read as AppError).code, read.message.length > 10], `case ${at}`).toEqual(["invalid_file", true]);
        counts.refused++;
      } else if (counts.accepted++ % IMPORT_EVERY === 0) {
        const answer = await made.app.inject({
          method: "POST",
          url: "/api/ml/models/import",
          payload: { path: source },
        });
        expect([200, 400, 500], `case ${at}: ${answer.body}`).toContain(answer.statusCode);
        if (answer.statusCode === 200) counts.imported++;
        else counts.not_run++;
        if (answer.statusCode === 500) expect(answer.body, `case ${at}`).toContain("the process that runs the network");
      }
      const names = existsSync(user) ? readdirSync(user) : [];
      expect(
        names.every((name) => /^[a-z0-9][a-z0-9_-]*$/.test(name)),
        `case ${at}: ${names}`,
      ).toBe(true);
      if (names.length > 100) rmSync(user, { recursive: true });
    }
    expect(readdirSync(folder).sort()).toEqual(["source", "user"]);
    expect(counts.refused).toBeGreaterThan(COUNT / 3);
    expect(counts.imported).toBeGreaterThan(0);
    console.info(JSON.stringify(counts));
  },
  20_000 + 300 * COUNT,
);
