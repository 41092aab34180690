"""The network: a voxel's features give a first margin; the features and the first margins around it give the second."""
import numpy as np
import torch
from torch import nn

OFFSET = 3  # the first columns are dxyz, which the network does not use
CLIP = 5.0
AROUND = 5  # columns that `around` makes


def around(margin, neighbors):
    """Its own margin, mean, largest and least of the neighbours, mean of the neighbours' means."""
    near = margin[neighbors]
    mean = near.mean(1)
    return torch.stack([margin, mean, near.max(1)[0], near.min(1)[0], mean[neighbors].mean(1)], 1)


class Layers(nn.Module):
    def __init__(self, width, hidden=64, last=32):
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, last)
        self.out = nn.Linear(last, 1)

    def forward(self, x):
        return self.out(torch.relu(self.second(torch.relu(self.first(x)))))[:, 0]


class Network(nn.Module):
    """Margins: logit of wood minus logit of leaf."""

    def __init__(self, width, mean, scale):
        super().__init__()
        self.register_buffer("mean", torch.as_tensor(mean, dtype=torch.float32))
        self.register_buffer("scale", torch.as_tensor(scale, dtype=torch.float32))
        self.alone = Layers(width - OFFSET)
        self.beside = Layers(width - OFFSET + AROUND)

    def standard(self, features):
        return ((features[:, OFFSET:] - self.mean) * self.scale).clamp(-CLIP, CLIP)

    def forward(self, features, neighbors):
        x = self.standard(features)
        first = self.alone(x).clamp(-CLIP, CLIP)
        return self.beside(torch.cat([x, around(first, neighbors)], 1))


def norms(crops):
    """Mean and 1 / standard deviation of every column over some rows of every crop."""
    rows = np.concatenate([crop.features[:: max(1, len(crop.features) // 500), OFFSET:] for crop in crops])
    return rows.mean(0), 1 / np.maximum(rows.std(0), 1e-3)


def tensors(crop):
    return torch.from_numpy(crop.features.copy()), torch.from_numpy(crop.neighbors.copy())


def margins_of(network, crop):
    with torch.no_grad():
        return network(*tensors(crop)).numpy()
