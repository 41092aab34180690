import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FLOAT, INT64, integer, integers, type ModelText, onnx, type Port, tensor } from "./onnx-bytes.ts";

export const WOOD_LEAF = [
  { value: 1, name: "Wood", color: "#8b5a2b" },
  { value: 2, name: "Leaf", color: "#3fa34d" },
];

/** The content of a model.json with one channel, dxyz. */
export const modelJson = (wishes: Record<string, unknown> = {}): Record<string, unknown> => ({
  format: "ml-model-package",
  schema_version: 1,
  id: "tiny",
  name: "Tiny",
  task: "wood_leaf",
  arch: "mlp",
  output_slug: "wood_class",
  inputs: { channels: ["dxyz"] },
  hparams: { num_classes: 2, in_channels: 3 },
  hierarchy: { voxel: 0.1, levels: 2, k: 4 },
  crop: { max_points: 256, inner_fraction: 0.7 },
  classes: WOOD_LEAF,
  ...wishes,
});

export const FEATURES: Port = { name: "features", type: FLOAT, dims: ["n", 3] };
export const NEIGHBORS: Port = { name: "neighbors_0", type: INT64, dims: ["n", 4] };

/** Logits from the height in the crop: wood below 0. */
export const HEIGHT_NETWORK: ModelText = {
  inputs: [FEATURES],
  tensors: [tensor("w", [3, 2], [0, 0, 0, 0, -1, 1])],
  nodes: [{ op: "MatMul", in: ["features", "w"], out: ["logits"] }],
};

/** The same from the mean of the neighbours, pooled to the second level and back. */
export const TWO_LEVEL_NETWORK: ModelText = {
  inputs: [
    FEATURES,
    NEIGHBORS,
    { name: "positions_1", type: FLOAT, dims: ["m", 3] },
    { name: "parent_0", type: INT64, dims: ["n"] },
  ],
  tensors: [tensor("w", [3, 2], [0, 0, 0, 0, -1, 1])],
  nodes: [
    { op: "Gather", in: ["features", "neighbors_0"], out: ["around"], attributes: [integer("axis", 0)] },
    {
      op: "ReduceMean",
      in: ["around"],
      out: ["mean"],
      attributes: [integers("axes", [1]), integer("keepdims", 0)],
    },
    { op: "Gather", in: ["positions_1", "parent_0"], out: ["above"], attributes: [integer("axis", 0)] },
    { op: "Add", in: ["mean", "above"], out: ["sum"] },
    { op: "MatMul", in: ["sum", "w"], out: ["logits"] },
  ],
};

/** A multilayer perceptron of 64 columns, about as large as the models that are used. */
export function perceptron(columns: number, width: number): ModelText {
  const values = (count: number, scale: number) =>
    Array.from({ length: count }, (_, i) => scale * Math.sin(i * 12.9898));
  return {
    inputs: [{ ...FEATURES, dims: ["n", columns] }],
    tensors: [
      tensor("w1", [columns, width], values(columns * width, 0.2)),
      tensor("w2", [width, width], values(width * width, 0.2)),
      tensor("w3", [width, 2], values(2 * width, 0.2)),
    ],
    nodes: [
      { op: "MatMul", in: ["features", "w1"], out: ["a"] },
      { op: "Relu", in: ["a"], out: ["b"] },
      { op: "MatMul", in: ["b", "w2"], out: ["c"] },
      { op: "Relu", in: ["c"], out: ["d"] },
      { op: "MatMul", in: ["d", "w3"], out: ["logits"] },
    ],
  };
}

/** Writes a package and answers its folder. */
export function writePackage(folder: string, json: unknown, network: ModelText | Uint8Array = HEIGHT_NETWORK): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "model.json"), typeof json === "string" ? json : JSON.stringify(json));
  writeFileSync(join(folder, "model.onnx"), network instanceof Uint8Array ? network : onnx(network));
  return folder;
}
