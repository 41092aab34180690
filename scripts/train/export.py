"""Writes a trained network as a model package: model.onnx, model.json, SHA256SUMS.

usage: export.py TRAINED FOLDER ID [--threshold T] [--training FILE]
"""
import argparse
import hashlib
import json
import os

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from network import CLIP, OFFSET, ROUNDS

OPSET, IR = 17, 8
VOXEL_M, FINEST_M, MOST_SINGLE = 0.02, 0.005, 0.8  # test/accuracy/wood-crops.ts
LEVELS, NEIGHBORS = 2, 16
MAX_POINTS, INNER = 24000, 0.7
LOCAL, PATH, LINES = 36, 28, 22
WIDTH = OFFSET + LOCAL + PATH + LINES


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind, inputs, **attributes):
        self.count += 1
        out = f"t{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    def linear(self, x, name, weight, bias):
        w = self.constant(f"{name}_w", weight.T.astype(np.float32))
        b = self.constant(f"{name}_b", bias.astype(np.float32))
        return self.add("Add", [self.add("MatMul", [x, w]), b])


def build(state, threshold):
    g = Graph()
    of = lambda name: state[name].numpy()
    index = lambda name, values: g.constant(name, np.array(values, np.int64))
    low, high = (g.constant(name, np.float32(value)) for name, value in (("low", -CLIP), ("high", CLIP)))

    def linear(x, name):
        return g.linear(x, name, of(f"{name}.weight"), of(f"{name}.bias"))

    def relu(x, name):
        return g.add("Relu", [linear(x, name)])

    x = g.add("Slice", ["features", index("from", [OFFSET]), index("to", [WIDTH]), index("axis", [1])])
    x = g.add("Mul", [g.add("Sub", [x, g.constant("mean", of("mean"))]), g.constant("scale", of("scale"))])
    x = g.add("Clip", [x, low, high])
    x = relu(relu(x, "first"), "second")
    for k in range(ROUNDS):
        near = g.add("Gather", [linear(x, f"rounds.{k}.say"), "neighbors_0"], axis=0)
        mean, most = (g.add(kind, [near], axes=[1], keepdims=0) for kind in ("ReduceMean", "ReduceMax"))
        x = g.add("Add", [x, relu(g.add("Concat", [x, mean, most], axis=1), f"rounds.{k}.hear")])
    margin = linear(relu(x, "last"), "out")
    margin = g.add("Sub", [margin, g.constant("threshold", np.float32(threshold))])
    # The first class is wood.
    g.add("Mul", [margin, g.constant("classes", np.array([[0.5, -0.5]], np.float32))])
    g.nodes[-1].output[0] = "logits"
    inputs = [
        helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N0", WIDTH]),
        helper.make_tensor_value_info("neighbors_0", TensorProto.INT64, ["N0", NEIGHBORS]),
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N0", 2])]
    graph = helper.make_graph(g.nodes, "wood_leaf", inputs, outputs, g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="scripts/train")
    model.ir_version = IR
    onnx.checker.check_model(model)
    return model


def package(identifier, training, metrics):
    return {
        "format": "ml-model-package",
        "schema_version": 1,
        "id": identifier,
        "name": "Wood and leaf of single trees",
        "description": "Local shape at six scales, straightest runs and cheapest paths to the base of the plant, then three rounds of what the neighbours of a voxel say. Trained on generated scans alone.",
        "task": "wood_leaf",
        "arch": "onnx",
        "variant": "paths-m",
        "output_slug": "wood_class",
        "inputs": {
            "channels": [
                {"name": "dxyz", "width": OFFSET},
                {"name": "local_geometry", "width": LOCAL},
                {"name": "path", "width": PATH},
                {"name": "lines", "width": LINES},
            ]
        },
        "hparams": {"num_classes": 2, "in_channels": WIDTH},
        "hierarchy": {
            "voxel": VOXEL_M,
            "finest_voxel": FINEST_M,
            "most_single": MOST_SINGLE,
            "levels": LEVELS,
            "k": NEIGHBORS,
        },
        "crop": {"max_points": MAX_POINTS, "inner_fraction": INNER, "hops": ROUNDS},
        "classes": [
            {"value": 1, "name": "Wood", "color": "#8b5a2b"},
            {"value": 2, "name": "Leaf", "color": "#3fa34d"},
        ],
        "training": training,
        "metrics": metrics,
    }


def write(folder, names):
    sums = [f"{hashlib.sha256(open(os.path.join(folder, name), 'rb').read()).hexdigest()}  {name}" for name in names]
    with open(os.path.join(folder, "SHA256SUMS"), "w") as file:
        file.write("\n".join(sums) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trained")
    parser.add_argument("folder")
    parser.add_argument("id")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--training", help="file of JSON with the keys training and metrics of the model card")
    args = parser.parse_args()
    trained = torch.load(args.trained)
    threshold = trained["threshold"] if args.threshold is None else args.threshold
    card = json.load(open(args.training)) if args.training else {}
    folder = os.path.join(args.folder, args.id)
    os.makedirs(folder, exist_ok=True)
    onnx.save(build(trained["state"], threshold), os.path.join(folder, "model.onnx"))
    with open(os.path.join(folder, "model.json"), "w") as file:
        json.dump(package(args.id, card.get("training", {}), card.get("metrics", {})), file, indent=2)
        file.write("\n")
    write(folder, ["model.json", "model.onnx"])
    print(folder, os.path.getsize(os.path.join(folder, "model.onnx")), "bytes")


if __name__ == "__main__":
    main()
