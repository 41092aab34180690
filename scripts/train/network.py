"""The network: features of a voxel, then two rounds over its neighbours. Plain operators only."""
import numpy as np
import torch
from torch import nn

OFFSET = 3  # the first columns are dxyz, which the network does not use
CLIP = 5.0


class Round(nn.Module):
    """Largest and mean values of the neighbours beside the voxel's own."""

    def __init__(self, width, out):
        super().__init__()
        self.mix = nn.Linear(3 * width, out)

    def forward(self, x, neighbors):
        near = x[neighbors]
        return torch.relu(self.mix(torch.cat([x, near.max(1)[0], near.mean(1)], 1)))


class Network(nn.Module):
    def __init__(self, width, mean, scale, hidden=48, near=24):
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))
        self.first = nn.Linear(width - OFFSET, hidden)
        self.second = nn.Linear(hidden, near)
        self.rounds = nn.ModuleList([Round(near, near), Round(near, near)])
        self.last = nn.Linear(3 * near, 32)
        self.out = nn.Linear(32, 2)

    def forward(self, features, neighbors, noise=0.0):
        x = ((features[:, OFFSET:] - self.mean) * self.scale).clamp(-CLIP, CLIP)
        if noise > 0:
            x = x + noise * torch.randn_like(x)
        x = torch.relu(self.second(torch.relu(self.first(x))))
        states = [x]
        for one in self.rounds:
            states.append(one(states[-1], neighbors))
        return self.out(torch.relu(self.last(torch.cat(states, 1))))


def norms(crops):
    """Mean and 1 / standard deviation of every column over some rows of every crop."""
    rows = np.concatenate([crop.features[:: max(1, len(crop.features) // 500), OFFSET:] for crop in crops])
    return rows.mean(0), 1 / np.maximum(rows.std(0), 1e-3)


def logits_of(network, crop):
    with torch.no_grad():
        out = network(torch.from_numpy(crop.features.copy()), torch.from_numpy(crop.neighbors.astype(np.int64)))
    return out.numpy()
