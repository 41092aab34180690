"""How far labels of a tree follow from the place of a voxel alone, and how far from local shape.

usage: ceiling.py [--work FOLDER] [--data ../shared/data] [NAME,..]

In the crown (above the lowest 2 % of the leaves) logistic regressions of the label: on a plane, on all products of two
coordinates, and, fitted on a random half of the tree and judged on the other, on the columns of shape and on all columns that
the network sees. Labels that a plane explains better than shape were drawn by region: no method that looks at shapes can
reach them.
"""
import argparse
import os

import numpy as np

from evaluate import CLOUDS, ROOT, crops_of

STEPS, PENALTY = 12, 1e-5
OFFSET, LOCAL, PATH, SHAPES_OF_LINES = 3, 36, 28, 13


def fitted(x, y):
    """Newton's method; coefficients."""
    b = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        h = (x * (p * (1 - p) + 1e-6)[:, None]).T @ x + PENALTY * len(x) * np.eye(len(b))
        b += np.linalg.solve(h, x.T @ (y - p) - PENALTY * len(x) * b)
    return b


def standard(x):
    return np.c_[np.ones(len(x)), np.clip((x - x.mean(0)) / (x.std(0) + 1e-9), -5, 5)]


def products(x):
    x = standard(x)
    width = range(1, x.shape[1])
    return np.c_[x, *[x[:, i] * x[:, j] for i in width for j in width if i <= j]]


def accuracy(x, y, weight, seen, judged):
    wrong = (x[judged] @ fitted(x[seen], y[seen]) > 0) != y[judged]
    return 1 - weight[judged][wrong].sum() / weight[judged].sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="?", default="weiser_oak,lewos_tropical")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--work", default="/tmp/wood-evaluate")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    for name in args.names.split(","):
        (crop,) = crops_of(f"{name}_none", *CLOUDS[name](args.data), args.work)
        place, wood = crop.features[:, :OFFSET].astype(np.float64), crop.wood > crop.leaf
        crown = place[:, 2] > np.quantile(place[~wood, 2], 0.02)
        place, wood, weight = place[crown], wood[crown], (crop.wood + crop.leaf)[crown]
        columns = crop.features[crown, OFFSET:].astype(np.float64)
        shapes = np.c_[columns[:, :LOCAL], columns[:, LOCAL + PATH :][:, :SHAPES_OF_LINES]]
        half = np.random.default_rng(1).random(len(wood)) < 0.5
        every = np.full(len(wood), True)
        share = (weight * wood).sum() / weight.sum()
        found = {
            "the larger class": max(share, 1 - share),
            "a plane": accuracy(standard(place), wood, weight, every, every),
            "products of coordinates": accuracy(products(place), wood, weight, every, every),
            "shape, other half": accuracy(standard(shapes), wood, weight, half, ~half),
            "all columns, other half": accuracy(standard(columns), wood, weight, half, ~half),
        }
        print(name, ", ".join(f"{what} {value:.3f}" for what, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
