"""The network: features of a voxel, then rounds in which it sees the mean and the largest of what its neighbours say."""
import numpy as np
import torch
from torch import nn

OFFSET = 3  # the first columns are dxyz, which the network does not use
CLIP = 5.0
WIDE, HIDDEN, SAID, LAST, ROUNDS = 96, 64, 16, 32, 3


class Round(nn.Module):
    def __init__(self):
        super().__init__()
        self.say = nn.Linear(HIDDEN, SAID)
        self.hear = nn.Linear(HIDDEN + 2 * SAID, HIDDEN)

    def forward(self, x, neighbors):
        near = self.say(x).index_select(0, neighbors.reshape(-1)).view(*neighbors.shape, SAID)
        return x + torch.relu(self.hear(torch.cat([x, near.mean(1), near.amax(1)], 1)))


class Network(nn.Module):
    """Margins: logit of wood minus logit of leaf."""

    def __init__(self, width, mean, scale):
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))
        self.first = nn.Linear(width - OFFSET, WIDE)
        self.second = nn.Linear(WIDE, HIDDEN)
        self.rounds = nn.ModuleList(Round() for _ in range(ROUNDS))
        self.last = nn.Linear(HIDDEN, LAST)
        self.out = nn.Linear(LAST, 1)

    def standard(self, features):
        return ((features[:, OFFSET:] - self.mean) * self.scale).clamp(-CLIP, CLIP)

    def margins(self, x, neighbors):
        """x: standardized features"""
        x = torch.relu(self.second(torch.relu(self.first(x))))
        for one in self.rounds:
            x = one(x, neighbors)
        return self.out(torch.relu(self.last(x)))[:, 0]

    def forward(self, features, neighbors):
        return self.margins(self.standard(features), neighbors)


def norms(crops):
    """Mean and 1 / standard deviation of every column over some rows of every crop."""
    rows = np.concatenate([crop.features[:: max(1, len(crop.features) // 500), OFFSET:] for crop in crops]).astype(np.float64)
    return rows.mean(0), 1 / np.maximum(rows.std(0), 1e-3)


def tensors(crop):
    return torch.from_numpy(crop.features.copy()), torch.from_numpy(crop.neighbors.astype(np.int64))


def margins_of(network, crop):
    with torch.no_grad():
        return network(*tensors(crop)).numpy()
