"""Scores a trained network on labelled real scans and on the stands of another program, which no training sees.

usage: evaluate.py TRAINED [--data ../shared/data] [--work FOLDER] [--threshold T] [--only NAME,..]
"""
import argparse
import gzip
import os
import struct
import subprocess

import numpy as np
import torch

from crops import Scores, load
from network import Network, margins_of

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
WOOD, LEAF = 1, 2


def leaf_wood(data, name):
    table = np.loadtxt(os.path.join(data, "leaf_wood", f"{name}.xyz"), comments=("#", "/"), skiprows=1)
    return table[:, :3], table[:, -1].astype(np.uint8)


def forest_plot(data, name):
    """Coding of the folder's MANIFEST: first differences of int32 as byte planes."""
    folder = os.path.join(data, "forest_reference", name)

    def npy(file):
        with gzip.open(os.path.join(folder, file)) as stream:
            return np.load(stream)

    planes = npy("xyz_mm.npy.gz")
    flat = np.ascontiguousarray(planes.T).view("<i4").ravel()
    organ = npy("organ.npy.gz")
    xyz = np.cumsum(flat.reshape(len(organ), 3).astype(np.int64), axis=0) / 1000.0
    kept = (organ == 2) | (organ == 3)
    return xyz[kept], np.where(organ[kept] == 2, WOOD, LEAF).astype(np.uint8)


CLOUDS = {
    "lewos_tropical": lambda data: leaf_wood(data, "lewos_tropical"),
    "weiser_oak": lambda data: leaf_wood(data, "weiser_oak"),
    "open_11": lambda data: forest_plot(data, "open_11"),
    "slope20_13": lambda data: forest_plot(data, "slope20_13"),
    "dense_12": lambda data: forest_plot(data, "dense_12"),
}


def changed(xyz, labels, change, rng):
    if change == "half":
        keep = rng.random(len(xyz)) < 0.5
        return xyz[keep], labels[keep]
    if change == "noise":
        return xyz + rng.normal(0, 0.005, xyz.shape), labels
    if change == "side":
        order = np.argsort(xyz[:, 0])
        keep = np.sort(order[: int(0.7 * len(order))])
        return xyz[keep], labels[keep]
    if change == "mirrored":
        return xyz * [-1, 1, 1], labels
    if change == "rotated":
        c, s = np.cos(1.0), np.sin(1.0)
        centre = xyz.mean(0)
        return (xyz - centre) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T + centre, labels
    if change == "offset":
        return xyz + [5e6, 5e6, 0], labels
    return xyz, labels


def crops_of(name, xyz, labels, work):
    folder = os.path.join(work, name)
    if not os.path.isdir(folder):
        raw = os.path.join(work, f"{name}.raw")
        with open(raw, "wb") as file:
            file.write(struct.pack("<Q", len(xyz)) + np.ascontiguousarray(xyz, "<f8").tobytes() + labels.tobytes())
        script = os.path.join(ROOT, "scripts", "train", "make-crops.mjs")
        subprocess.run(["node", script, folder, name, raw], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        os.remove(raw)
    return load(folder)


def labels_of(network, crops, threshold):
    """Mean probability of each voxel over the crops that hold it."""
    voxels = crops[0].about["voxels"]
    sums, counts = np.zeros(voxels), np.zeros(voxels)
    points = np.zeros((3, voxels))
    for crop in crops:
        sums[crop.voxel] += 1 / (1 + np.exp(threshold - margins_of(network, crop)))
        counts[crop.voxel] += 1
        points[:, crop.voxel] = crop.wood, crop.leaf, crop.twig
    return sums / np.maximum(counts, 1) > 0.5, points


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trained")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--work", default="/tmp/wood-evaluate")
    parser.add_argument("--threshold", type=float)
    parser.add_argument("--only", default=",".join(CLOUDS))
    parser.add_argument("--changes", default="none")
    args = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(args.work, exist_ok=True)
    trained = torch.load(args.trained)
    threshold = trained["threshold"] if args.threshold is None else args.threshold
    state = trained["state"]
    network = Network(len(state["mean"]) + 3, state["mean"], state["scale"])
    network.load_state_dict(state)
    network.eval()
    for name in args.only.split(","):
        for change in args.changes.split(","):
            xyz, labels = changed(*CLOUDS[name](args.data), change, np.random.default_rng(1))
            crops = crops_of(f"{name}_{change}", xyz, labels, args.work)
            found, (wood, leaf, twig) = labels_of(network, crops, threshold)
            print(name, change, Scores().add(found, wood, leaf, twig), f"features {crops[0].about['feature_s']:.1f} s", flush=True)


if __name__ == "__main__":
    main()
