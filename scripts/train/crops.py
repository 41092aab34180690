"""Crops of labelled clouds, as test/accuracy/wood-crops.ts writes them, and scores of predictions."""
import glob
import json
import os

import numpy as np


class Crop:
    def __init__(self, path):
        data = open(path, "rb").read()
        end = data.index(b"\n")
        self.about = json.loads(data[:end])
        rows, width, k = (self.about[name] for name in ("rows", "width", "neighbors"))
        at = end + 1

        def take(kind, count):
            nonlocal at
            out = np.frombuffer(data, kind, count, at)
            at += out.nbytes
            return out

        self.features = take("<f4", rows * width).reshape(rows, width).copy()
        self.neighbors = take("<i8", rows * k).reshape(rows, k).astype(np.uint16 if rows < 65536 else np.int64)
        self.wood, self.leaf, self.twig = (take("<f4", rows).copy() for _ in range(3))
        self.voxel = take("<u4", rows).copy()
        self.path = path


def load(folder, keep=lambda name: True):
    return [Crop(path) for path in sorted(glob.glob(os.path.join(folder, "*.crop"))) if keep(os.path.basename(path))]


class Scores:
    """Sums over points: a voxel's points share its label."""

    def __init__(self):
        self.tp = self.fp = self.fn = self.tn = self.twig = self.twig_found = 0.0

    def add(self, is_wood, wood, leaf, twig):
        self.tp += wood[is_wood].sum()
        self.fp += leaf[is_wood].sum()
        self.fn += wood[~is_wood].sum()
        self.tn += leaf[~is_wood].sum()
        self.twig += twig.sum()
        self.twig_found += twig[is_wood].sum()
        return self

    @property
    def accuracy(self):
        return (self.tp + self.tn) / max(1.0, self.tp + self.tn + self.fp + self.fn)

    @property
    def f1(self):
        return 2 * self.tp / max(1.0, 2 * self.tp + self.fp + self.fn)

    @property
    def kappa(self):
        n = self.tp + self.tn + self.fp + self.fn
        chance = ((self.tp + self.fp) * (self.tp + self.fn) + (self.tn + self.fn) * (self.tn + self.fp)) / max(1.0, n * n)
        return (self.accuracy - chance) / max(1e-12, 1 - chance)

    @property
    def twig_recall(self):
        return self.twig_found / self.twig if self.twig > 0 else float("nan")

    def __str__(self):
        recall = self.tp / max(1.0, self.tp + self.fn)
        precision = self.tp / max(1.0, self.tp + self.fp)
        return (
            f"OA {self.accuracy:.3f} F1 {self.f1:.3f} kappa {self.kappa:.3f} "
            f"recall {recall:.3f} precision {precision:.3f} twigs {self.twig_recall:.3f} of {self.twig:.0f}"
        )
