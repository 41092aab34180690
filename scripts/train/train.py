"""Trains the wood and leaf network on crops of generated scans.

usage: train.py CROPS OUT [--epochs N] [--fold K] [--seed N]
--fold K of 3 leaves every third species out and reports on them; without it all are trained on.
"""
import argparse
import os
import time

import numpy as np
import torch

from crops import Scores, load
from network import Network, logits_of, norms

FOLDS = 3
SMOOTHED = 0.02


def species_of(crops):
    return sorted({crop.about["species"] for crop in crops})


def weights_of(crop):
    """Points of a voxel count, many of them less; the rarer class counts more."""
    count = np.sqrt(crop.wood + crop.leaf)
    share = crop.wood / np.maximum(1, crop.wood + crop.leaf)
    wood, leaf = (count * share).sum(), (count * (1 - share)).sum()
    total = wood + leaf
    balance = [np.sqrt(total / (2 * max(one, 0.05 * total))) for one in (leaf, wood)]
    weight = count * (balance[0] * (1 - share) + balance[1] * share)
    return torch.from_numpy((weight / weight.mean()).astype(np.float32)), torch.from_numpy(share.astype(np.float32))


def train(crops, epochs, seed, log):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Network(crops[0].features.shape[1], *norms(crops))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=1e-3)
    steps = epochs * len(crops)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps, pct_start=0.15)
    prepared = [weights_of(crop) for crop in crops]
    for epoch in range(epochs):
        total = 0.0
        for i in rng.permutation(len(crops)):
            crop, (weight, share) = crops[i], prepared[i]
            features = torch.from_numpy(crop.features.copy())
            neighbors = torch.from_numpy(crop.neighbors.astype(np.int64))
            out = network(features, neighbors, noise=0.15)
            wanted = SMOOTHED + (1 - 2 * SMOOTHED) * share
            loss = torch.nn.functional.binary_cross_entropy_with_logits(out[:, 1] - out[:, 0], wanted, weight=weight)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        log(f"epoch {epoch + 1}: loss {total / len(crops):.4f}")
    return network.eval()


def margins(network, crops):
    return [(logit[:, 1] - logit[:, 0]) for logit in (logits_of(network, crop) for crop in crops)]


def scored(crops, found, threshold, keep=lambda about: True):
    scores = Scores()
    for crop, margin in zip(crops, found):
        if keep(crop.about):
            scores.add(margin > threshold, crop.wood, crop.leaf, crop.twig)
    return scores


def best_threshold(crops, found):
    """Of the mean over crops of accuracy and F1; leaf-off crops have one class and are left out."""
    shown = [(crop, margin) for crop, margin in zip(crops, found) if crop.about["leaves"]]
    best, threshold = -1.0, 0.0
    for one in np.arange(-1.5, 1.51, 0.1):
        scores = Scores()
        for crop, margin in shown:
            scores.add(margin > one, crop.wood, crop.leaf, crop.twig)
        value = scores.accuracy + scores.f1
        if value > best:
            best, threshold = value, float(one)
    return threshold


def report(crops, found, threshold, log):
    log(f"all {scored(crops, found, threshold)}")
    for name in species_of(crops):
        log(f"  {name}: {scored(crops, found, threshold, lambda about: about['species'] == name and about['leaves'])}")
    log(f"  leaf-off: {scored(crops, found, threshold, lambda about: not about['leaves'])}")
    for positions in (1, 4, 9):
        log(f"  {positions} positions: {scored(crops, found, threshold, lambda about: about['positions'] == positions and about['leaves'])}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("crops")
    parser.add_argument("out")
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--fold", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    started = time.time()
    crops = load(args.crops)
    names = species_of(crops)
    held = {name for i, name in enumerate(names) if i % FOLDS == args.fold} if args.fold is not None else set()
    lines = []

    def log(line):
        print(line, flush=True)
        lines.append(line)

    seen = [crop for crop in crops if crop.about["species"] not in held]
    log(f"{len(seen)} crops of {len(crops)}, held out: {', '.join(sorted(held)) or 'none'}")
    network = train(seen, args.epochs, args.seed, log)
    judged = [crop for crop in crops if crop.about["species"] in held] or crops
    found = margins(network, judged)
    threshold = best_threshold(judged, found)
    log(f"threshold {threshold:.2f}, {time.time() - started:.0f} s")
    report(judged, found, threshold, log)
    torch.save({"state": network.state_dict(), "threshold": threshold, "log": lines}, args.out)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
