/** Writes models of ONNX as a test describes them: the opposite of backend/services/ml/onnx-graph.ts. */
type Bytes = Uint8Array;
const encoder = new TextEncoder();

export function varint(value: number | bigint): Bytes {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

export const joined = (...parts: readonly Bytes[]): Bytes => new Uint8Array(Buffer.concat(parts));
export const number = (field: number, value: number): Bytes => joined(varint(field << 3), varint(value));
export const part = (field: number, ...content: readonly Bytes[]): Bytes => {
  const body = joined(...content);
  return joined(varint((field << 3) | 2), varint(body.length), body);
};
export const text = (field: number, value: string): Bytes => part(field, encoder.encode(value));

export const FLOAT = 1;
export const INT64 = 7;

export interface Port {
  readonly name: string;
  readonly type?: number;
  readonly dims: readonly (number | string)[];
}
export function port(field: number, { name, type = FLOAT, dims }: Port): Bytes {
  const lengths = dims.map((dim) => part(1, typeof dim === "number" ? number(1, dim) : text(2, dim)));
  return part(field, text(1, name), part(2, part(1, number(1, type), part(2, ...lengths))));
}

/** Tensors of float32 and int64, by their raw bytes. */
export function tensor(name: string, dims: readonly number[], values: readonly number[], type = FLOAT): Bytes {
  const data = type === FLOAT ? new Float32Array(values) : BigInt64Array.from(values, (value) => BigInt(value));
  const lengths = dims.map((dim) => number(1, dim));
  return joined(...lengths, number(2, type), text(8, name), part(9, new Uint8Array(data.buffer)));
}

export interface NodeText {
  readonly op: string;
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly domain?: string;
  readonly attributes?: readonly Bytes[];
}
export function node({ op, in: inputs, out, domain, attributes = [] }: NodeText): Bytes {
  return part(
    1,
    ...inputs.map((name) => text(1, name)),
    ...out.map((name) => text(2, name)),
    text(4, op),
    ...attributes.map((attribute) => part(5, attribute)),
    ...(domain === undefined ? [] : [text(7, domain)]),
  );
}
/** Attribute with an integer, or with integers. */
export const integer = (name: string, value: number): Bytes => joined(text(1, name), number(3, value), number(20, 2));
export const integers = (name: string, values: readonly number[]): Bytes =>
  joined(text(1, name), ...values.map((value) => number(8, value)), number(20, 7));

export interface ModelText {
  readonly inputs: readonly Port[];
  readonly outputs?: readonly Port[];
  readonly nodes: readonly NodeText[];
  readonly tensors?: readonly Bytes[];
  readonly ir?: number;
  readonly opset?: number;
  /** Further fields of the graph and of the model. */
  readonly inGraph?: readonly Bytes[];
  readonly inModel?: readonly Bytes[];
}

const LOGITS: Port = { name: "logits", dims: ["n", 2] };

export function onnx(model: ModelText): Bytes {
  const { inputs, outputs = [LOGITS], nodes, tensors = [], ir = 8, opset = 17, inGraph = [], inModel = [] } = model;
  const graph = part(
    7,
    ...nodes.map(node),
    text(2, "test"),
    ...tensors.map((one) => part(5, one)),
    ...inputs.map((one) => port(11, one)),
    ...outputs.map((one) => port(12, one)),
    ...inGraph,
  );
  return joined(number(1, ir), graph, part(8, text(1, ""), number(2, opset)), ...inModel);
}
