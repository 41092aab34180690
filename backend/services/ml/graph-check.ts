import type { ModelPackage } from "../../../shared/contract/ml.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MODEL_IR, MAX_MODEL_OPSET, MIN_MODEL_IR, MIN_MODEL_OPSET } from "../../../shared/limits.ts";
import type { GraphPort, OnnxGraph } from "./onnx-graph.ts";

const FLOAT = 1;
const INT64 = 7;
const TYPE_NAMES: Readonly<Record<number, string>> = { [FLOAT]: "float32", [INT64]: "int64" };
/** Operators whose answer is another one at each call, and those that hold graphs or sequences. */
const REFUSED: ReadonlySet<string> = new Set([
  "Bernoulli",
  "Multinomial",
  "RandomNormal",
  "RandomNormalLike",
  "RandomUniform",
  "RandomUniformLike",
  "If",
  "Loop",
  "Scan",
  "SequenceMap",
]);

const refuse = (what: string): AppError => new AppError("invalid_file", `model.onnx ${what}`);

/** The inputs that a graph of this package may have; a dimension of null must be left open. */
export function possibleInputs({ hparams, hierarchy: { levels, k } }: ModelPackage): GraphPort[] {
  const ports: GraphPort[] = [{ name: "features", type: FLOAT, dims: [null, hparams.in_channels] }];
  for (let level = 0; level < levels; level++) {
    ports.push({ name: `positions_${level}`, type: FLOAT, dims: [null, 3] });
    ports.push({ name: `neighbors_${level}`, type: INT64, dims: [null, k] });
    if (level < levels - 1) ports.push({ name: `parent_${level}`, type: INT64, dims: [null] });
  }
  return ports;
}

/** Levels of crops that inputs ask for, 1 or more: those of the lists and places, and that above a list of parents. */
export function levelsOf(inputs: readonly string[]): number {
  const levels = inputs.map((name) => {
    const [kind, level] = name.split("_");
    return level === undefined ? 1 : Number(level) + (kind === "parent" ? 2 : 1);
  });
  return Math.max(1, ...levels);
}

/**
 * Checks that a graph is what its model.json says: versions, inputs, output, and operators in an order in which each has
 * what it needs, so that there is no cycle. Answers the names of its inputs. Errors: invalid_file.
 */
export function checkGraph(graph: OnnxGraph, model: ModelPackage): string[] {
  const { ir_version, opset } = graph;
  if (ir_version < MIN_MODEL_IR || ir_version > MAX_MODEL_IR)
    throw refuse(`has the format version ${ir_version}; ${MIN_MODEL_IR} to ${MAX_MODEL_IR} are read`);
  if (opset < MIN_MODEL_OPSET || opset > MAX_MODEL_OPSET)
    throw refuse(`has operators of version ${opset}; ${MIN_MODEL_OPSET} to ${MAX_MODEL_OPSET} are run`);
  const [output] = graph.outputs;
  if (graph.outputs.length !== 1 || output?.name !== "logits") throw refuse('must have one output, "logits"');
  checkOrder(graph);
  const constants = new Set(graph.initializers);
  const inputs = graph.inputs.filter(({ name }) => !constants.has(name)); // old files list constants, too
  const possible = new Map(possibleInputs(model).map((port) => [port.name, port]));
  for (const input of inputs) {
    const wanted = possible.get(input.name);
    if (!wanted)
      throw refuse(`asks for the input "${input.name.slice(0, 80)}"; there are ${[...possible.keys()].join(", ")}`);
    checkPort(input, wanted, "input");
  }
  if (!inputs.some(({ name }) => name === "features")) throw refuse('has no input "features"');
  const names = inputs.map(({ name }) => name);
  if (model.crop.hops > 0 && levelsOf(names) > 1)
    throw refuse("asks for a second level; a network with crop.hops has one level");
  checkPort(output, { name: "logits", type: FLOAT, dims: [null, model.hparams.num_classes] }, "output");
  return names;
}

function checkPort(port: GraphPort, wanted: GraphPort, kind: string): void {
  if (port.type !== wanted.type)
    throw refuse(`has the ${kind} "${port.name}" of another type than ${TYPE_NAMES[wanted.type]}`);
  const fits =
    port.dims.length === wanted.dims.length &&
    port.dims.every((length, at) => length === wanted.dims[at] || (kind === "output" && length === null && at > 0));
  if (!fits)
    throw refuse(`has the ${kind} "${port.name}" with the shape ${shape(port)}; model.json needs ${shape(wanted)}`);
}

const shape = ({ dims }: GraphPort): string => `[${dims.map((length) => length ?? "any").join(", ")}]`;

function checkOrder({ nodes, inputs, outputs, initializers }: OnnxGraph): void {
  const known = new Set([...inputs.map(({ name }) => name), ...initializers]);
  if (new Set(inputs.map(({ name }) => name)).size < inputs.length) throw refuse("has two inputs of one name");
  if (new Set(initializers).size < initializers.length) throw refuse("has two tensors of one name");
  for (const { op, inputs: needs, outputs: makes } of nodes) {
    if (REFUSED.has(op)) throw refuse(`uses the operator ${op}, which is not allowed`);
    for (const name of needs) {
      if (name !== "" && !known.has(name))
        throw refuse(`has an operator ${op.slice(0, 40)} that needs "${name.slice(0, 80)}" before it is made`);
    }
    for (const name of makes) {
      if (name === "") continue;
      if (known.has(name)) throw refuse(`makes "${name.slice(0, 80)}" twice`);
      known.add(name);
    }
  }
  for (const { name } of outputs) if (!known.has(name)) throw refuse(`never makes its output "${name.slice(0, 80)}"`);
}
