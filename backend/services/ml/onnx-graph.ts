import { AppError } from "../../../shared/errors.ts";
import { MAX_MODEL_FIELDS, MAX_MODEL_NODES, MAX_MODEL_TENSOR_RANK } from "../../../shared/limits.ts";
import { fieldsOf, integerOf, integersOf, messageOf, type ProtoField, type ProtoMessage, textOf } from "./protobuf.ts";

/** A named tensor at the border of a graph. `dims`: null = any length. */
export interface GraphPort {
  readonly name: string;
  /** TensorProto.DataType. */
  readonly type: number;
  readonly dims: readonly (number | null)[];
}

export interface GraphNode {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** What the checks of a network need to know about a file of ONNX. */
export interface OnnxGraph {
  readonly ir_version: number;
  readonly opset: number;
  readonly inputs: readonly GraphPort[];
  readonly outputs: readonly GraphPort[];
  readonly nodes: readonly GraphNode[];
  /** Names of constant tensors. */
  readonly initializers: readonly string[];
}

/** Bits of an element, by TensorProto.DataType; strings are none. */
const ELEMENT_BITS: Readonly<Record<number, number>> = {
  1: 32, // float
  2: 8,
  3: 8,
  4: 16,
  5: 16,
  6: 32,
  7: 64,
  9: 8,
  10: 16,
  11: 64,
  12: 32,
  13: 64,
  16: 16,
};

const refuse = (what: string): AppError => new AppError("invalid_file", `model.onnx ${what}`);
const domainRefusal = (domain: string) =>
  refuse(`uses operators of the domain "${domain}"; only those of ai.onnx are allowed`);
const isPlainDomain = (domain: string): boolean => domain === "" || domain === "ai.onnx";

/**
 * Reads a model. What another reader might understand in another way is refused: unknown and repeated fields.
 * Errors: invalid_file for a damaged file, and for parts that are not allowed: data in other files, operators of other
 * domains, functions, graphs inside nodes, sparse tensors and training parts.
 */
export function readOnnx(bytes: Uint8Array): OnnxGraph {
  let ir_version = 0;
  let graph: ProtoMessage | undefined;
  const opsets: number[] = [];
  for (const field of once(
    { bytes, budget: { fields: MAX_MODEL_FIELDS } },
    "model",
    [1, 2, 3, 4, 5, 6, 7],
    [8, 14, 20, 25],
  )) {
    if (field.number === 1) ir_version = integerOf(field);
    else if (field.number === 7) graph = messageOf(field);
    else if (field.number === 8) opsets.push(readOpset(messageOf(field)));
    else if (field.number === 20) throw refuse("has a part for training; only plain networks are allowed");
    else if (field.number === 25) throw refuse("has functions; only plain operators are allowed");
  }
  if (!graph) throw refuse("has no graph");
  const [opset] = opsets;
  if (opset === undefined || opsets.length > 1) throw refuse("must name one version of the operators");
  return { ir_version, opset, ...readGraph(graph) };
}

function readOpset(message: ProtoMessage): number {
  let version = 0;
  for (const field of once(message, "opset", [1, 2], [])) {
    if (field.number === 2) version = integerOf(field);
    else if (!isPlainDomain(textOf(field))) throw domainRefusal(textOf(field));
  }
  return version;
}

function readGraph(message: ProtoMessage): Omit<OnnxGraph, "ir_version" | "opset"> {
  const nodes: GraphNode[] = [];
  const inputs: GraphPort[] = [];
  const outputs: GraphPort[] = [];
  const initializers: string[] = [];
  for (const field of once(message, "graph", [2, 10], [1, 5, 11, 12, 13, 14, 15, 16])) {
    if (field.number === 1) nodes.push(readNode(messageOf(field)));
    else if (field.number === 5) initializers.push(readTensor(messageOf(field)));
    else if (field.number === 11) inputs.push(readPort(messageOf(field)));
    else if (field.number === 12) outputs.push(readPort(messageOf(field)));
    else if (field.number === 15) throw refuse("has sparse tensors; store them in full");
    if (nodes.length > MAX_MODEL_NODES) throw refuse(`has more than ${MAX_MODEL_NODES} operators`);
    if (initializers.length > MAX_MODEL_NODES) throw refuse(`has more than ${MAX_MODEL_NODES} tensors`);
  }
  return { nodes, inputs, outputs, initializers };
}

function readNode(message: ProtoMessage): GraphNode {
  const inputs: string[] = [];
  const outputs: string[] = [];
  let op = "";
  for (const field of once(message, "node", [3, 4, 6, 7, 8], [1, 2, 5, 9])) {
    if (field.number === 1) inputs.push(textOf(field));
    else if (field.number === 2) outputs.push(textOf(field));
    else if (field.number === 4) op = textOf(field);
    else if (field.number === 5) readAttribute(messageOf(field));
    else if (field.number === 7 && !isPlainDomain(textOf(field))) throw domainRefusal(textOf(field));
    else if (field.number === 8 && textOf(field) !== "") throw refuse("has overloaded operators");
  }
  return { op, inputs, outputs };
}

function readAttribute(message: ProtoMessage): void {
  for (const field of once(message, "attribute", [1, 2, 3, 4, 5, 6, 13, 14, 20, 21, 22], [7, 8, 9, 10, 11, 15, 23])) {
    if (field.number === 6 || field.number === 11) {
      throw refuse("has graphs inside operators (If, Loop, Scan); only plain operators are allowed");
    }
    if (field.number === 21 && textOf(field) !== "") throw refuse("has attributes of functions");
    if (field.number === 22 || field.number === 23) throw refuse("has sparse tensors; store them in full");
    if (field.number === 5 || field.number === 10) readTensor(messageOf(field));
  }
}

/** Name of a tensor whose data have the length of its shape. */
function readTensor(message: ProtoMessage): string {
  const dims: number[] = [];
  let [type, name, raw] = [0, "", -1];
  for (const field of once(message, "tensor", [2, 3, 8, 9, 12, 14], [1, 4, 5, 6, 7, 10, 11, 13, 16])) {
    if (field.number === 1) dims.push(...integersOf(field, MAX_MODEL_TENSOR_RANK + 1));
    else if (field.number === 2) type = integerOf(field);
    else if (field.number === 8) name = textOf(field);
    else if (field.number === 9) raw = messageOf(field).bytes.length;
    else if (field.number === 13 || (field.number === 14 && integerOf(field) !== 0))
      throw refuse(`has the data of tensor "${short(name)}" in another file; store them in the model`);
    else if (field.number === 3) throw refuse("has tensors in segments");
  }
  const bits = ELEMENT_BITS[type];
  if (bits === undefined) throw refuse(`has the tensor "${short(name)}" of type ${type}; only numbers are allowed`);
  if (dims.length > MAX_MODEL_TENSOR_RANK || dims.some((length) => length < 0 || !Number.isSafeInteger(length)))
    throw refuse(`has the tensor "${short(name)}" with the shape [${dims.slice(0, 9).join(", ")}]`);
  const wanted = (dims.reduce((product, length) => product * length, 1) * bits) / 8;
  if (raw >= 0 && raw !== wanted)
    throw refuse(`has the tensor "${short(name)}" with ${raw} bytes; its shape [${dims.join(", ")}] needs ${wanted}`);
  if (wanted > message.bytes.length * 8) throw refuse(`has the tensor "${short(name)}" without its data`);
  return name;
}

function readPort(message: ProtoMessage): GraphPort {
  let name = "";
  let tensor: ProtoMessage | undefined;
  for (const field of once(message, "value", [1, 2, 3], [4])) {
    if (field.number === 1) name = textOf(field);
    else if (field.number === 2) tensor = tensorTypeOf(messageOf(field));
  }
  if (!tensor) throw refuse(`has the input or output "${short(name)}" that is not a tensor`);
  let type = 0;
  let dims: (number | null)[] | undefined;
  for (const field of once(tensor, "tensor type", [1, 2], [])) {
    if (field.number === 1) type = integerOf(field);
    else dims = [...once(messageOf(field), "shape", [], [1])].map((dim) => lengthOf(messageOf(dim)));
  }
  if (!dims) throw refuse(`does not say the shape of "${short(name)}"`);
  return { name, type, dims };
}

function tensorTypeOf(message: ProtoMessage): ProtoMessage | undefined {
  let tensor: ProtoMessage | undefined;
  for (const field of once(message, "type", [1, 4, 5, 6, 7, 8, 9], [])) {
    if (field.number === 1) tensor = messageOf(field);
    else if (field.number !== 6) return undefined; // sequences, maps, optional and sparse values
  }
  return tensor;
}

/** Length of a dimension; null if it is a symbol or left open. */
function lengthOf(message: ProtoMessage): number | null {
  let length: number | null = null;
  for (const field of once(message, "dimension", [1, 2, 3], [])) if (field.number === 1) length = integerOf(field);
  return length;
}

function* once(
  message: ProtoMessage,
  part: string,
  single: readonly number[],
  repeated: readonly number[],
): Generator<ProtoField> {
  const seen = new Set<number>();
  for (const field of fieldsOf(message)) {
    if (single.includes(field.number)) {
      if (seen.has(field.number)) throw refuse(`has field ${field.number} of a ${part} twice`);
      seen.add(field.number);
    } else if (!repeated.includes(field.number)) {
      throw refuse(`has the unknown field ${field.number} in a ${part}`);
    }
    yield field;
  }
}

const short = (name: string): string => name.slice(0, 80);
