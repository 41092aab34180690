"""Trains the wood and leaf network on crops of generated scans.

usage: train.py CROPS OUT [--steps N] [--fold K] [--seed N] [--judged 3,12]
--fold K of 3 leaves every third species out and reports on them. Without it the trees of the seeds --judged are left out:
the report is of them, and the threshold is chosen by them alone.
"""
import argparse
import time

import numpy as np
import torch

from crops import Scores, load
from network import Network, margins_of, norms, tensors

FOLDS = 3
THREADS = 2
SMOOTHED = 0.02
NOISE = 0.1  # of the standardized features
DROPPED = 0.03  # share of the columns
CROPS_PER_STEP = 2
RATE = 4e-3
SLOWNESS = 0.99  # of the mean of the weights that is kept
REPORT = 100


def species_of(crops):
    return sorted({crop.about["species"] for crop in crops})


def weighted(crop):
    """Weights of the rows and their shares of wood. Points of a voxel count, many of them less; the rarer class more."""
    count = np.sqrt(crop.wood + crop.leaf)
    share = crop.wood / np.maximum(1, crop.wood + crop.leaf)
    wood, leaf = (count * share).sum(), (count * (1 - share)).sum()
    total = wood + leaf
    balance = [np.sqrt(total / (2 * max(one, 0.05 * total))) for one in (leaf, wood)]
    weight = count * (balance[0] * (1 - share) + balance[1] * share)
    # Half as many rows weigh more than half: a small plant is as worth knowing.
    weight *= len(weight) ** -0.5 / weight.mean()
    return torch.from_numpy(weight.astype(np.float32)), torch.from_numpy((SMOOTHED + (1 - 2 * SMOOTHED) * share).astype(np.float32))


def train(crops, steps, seed, log):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Network(crops[0].features.shape[1], *norms(crops))
    slow = {name: value.clone() for name, value in network.state_dict().items()}
    targets = [weighted(crop) for crop in crops]
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.15)
    total, order = 0.0, []
    for step in range(steps):
        loss, rows = 0.0, 0.0
        for _ in range(CROPS_PER_STEP):
            order = order or list(rng.permutation(len(crops)))
            which = order.pop()
            features, neighbors = tensors(crops[which])
            weight, wanted = targets[which]
            x = network.standard(features)
            x = x + NOISE * torch.randn_like(x)
            # Some columns of a whole crop mislead: what is left has to do.
            x = x * (torch.rand(x.shape[1]) >= DROPPED)
            margins = network.margins(x, neighbors)
            loss = loss + torch.nn.functional.binary_cross_entropy_with_logits(margins, wanted, weight=weight, reduction="sum")
            rows += weight.sum()
        loss = loss / rows
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        for name, value in network.state_dict().items():
            slow[name] += (1 - SLOWNESS) * (value - slow[name])
        total += loss.item()
        if (step + 1) % REPORT == 0:
            log(f"step {step + 1}: loss {total / REPORT:.4f}")
            total = 0.0
    network.load_state_dict(slow)
    return network.eval()


def scored(crops, found, threshold, keep=lambda about: True):
    scores = Scores()
    for crop, margin in zip(crops, found):
        if keep(crop.about):
            scores.add(margin > threshold, crop.wood, crop.leaf, crop.twig)
    return scores


def best_threshold(crops, found):
    """Best sum of accuracy and F1 of the crops with leaves."""

    def value(threshold):
        scores = scored(crops, found, threshold, lambda about: about["leaves"])
        return scores.accuracy + scores.f1

    return float(max(np.arange(-1.5, 1.51, 0.1), key=value))


def report(crops, found, threshold, log):
    def line(name, keep):
        log(f"  {name}: {scored(crops, found, threshold, keep)}")

    log(f"all {scored(crops, found, threshold)}")
    for name in species_of(crops):
        line(name, lambda about: about["species"] == name and about["leaves"])
    line("leaf-off", lambda about: not about["leaves"])
    for positions in (1, 4, 9):
        line(f"{positions} positions", lambda about: about["positions"] == positions and about["leaves"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("crops")
    parser.add_argument("out")
    parser.add_argument("--steps", type=int, default=2400)
    parser.add_argument("--fold", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judged", default="3,12")
    args = parser.parse_args()
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    started = time.process_time()
    crops = load(args.crops)
    names = species_of(crops)
    held = {name for i, name in enumerate(names) if i % FOLDS == args.fold} if args.fold is not None else set()
    lines = []

    def log(line):
        print(line, flush=True)
        lines.append(line)

    kept = {int(seed) for seed in args.judged.split(",")}
    is_judged = lambda about: about["species"] in held if held else about["seed"] in kept
    seen = [crop for crop in crops if not is_judged(crop.about)]
    judged = [crop for crop in crops if is_judged(crop.about)]
    log(f"{len(seen)} crops of {len(crops)}, held out: {', '.join(sorted(held)) or f'trees {args.judged}'}")
    network = train(seen, args.steps, args.seed, log)
    found = [margins_of(network, crop) for crop in judged]
    threshold = best_threshold(judged, found)
    log(f"threshold {threshold:.2f}, {time.process_time() - started:.0f} s of CPU")
    report(judged, found, threshold, log)
    torch.save({"state": network.state_dict(), "threshold": threshold, "log": lines}, args.out)


if __name__ == "__main__":
    main()
