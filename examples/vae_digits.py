#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A variational auto-encoder of handwritten digits: PyTorch, on the digits of scikit-learn.

Prints the mean loss of each epoch (reconstruction plus divergence, in nats per image).
"""
import argparse
import os

import checkpoint  # first, as it says
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    """64 pixels -> two hidden layers -> a Gaussian of `latent` dimensions, and back."""

    def __init__(self, hidden, latent):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 64))

    def forward(self, x):
        h = self.encoder(x)
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decoder(z), mean, log_variance


def loss_of(x, output, mean, log_variance):
    reconstruction = F.binary_cross_entropy_with_logits(output, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return (reconstruction + divergence) / len(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "550")))
    parser.add_argument("--batch", type=int, default=300)
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--latent", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-6)
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    args = parser.parse_args()

    torch.manual_seed(1)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    data = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    model = VAE(args.hidden, args.latent)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    print(f"{len(data)} digits, {sum(p.numel() for p in model.parameters())} parameters", flush=True)

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    done = state.resume().get("epoch", 0)
    for epoch in range(done + 1, args.epochs + 1):
        total = 0.0
        for x in data[torch.randperm(len(data))].split(args.batch):
            optimizer.zero_grad()
            loss = loss_of(x, *model(x))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        print(f"Epoch {epoch}/{args.epochs} loss: {total / len(data):.4f}", flush=True)
        state.passed(epoch=epoch)


if __name__ == "__main__":
    main()
