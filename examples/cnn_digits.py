#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A convolutional classifier of handwritten digits: PyTorch, on the digits of scikit-learn.

Prints, as Keras would, the training loss and the accuracy on held-out digits after each epoch.
"""
import argparse
import os

import checkpoint  # first, as it says
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_model(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(2 * width * 16, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, 10))


def batches(x, y, size, workers):
    if workers == 0:
        return ((x[part], y[part]) for part in torch.randperm(len(x)).split(size))
    return DataLoader(TensorDataset(x, y), batch_size=size, shuffle=True, num_workers=workers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "160")))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--workers", type=int, default=0, help="processes that load the batches; 0: the training itself")
    parser.add_argument("--lr", type=float, default=1e-4)
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    args = parser.parse_args()

    torch.manual_seed(2)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    digits = load_digits()
    order = torch.randperm(len(digits.data))
    x = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)[order]
    y = torch.tensor(digits.target)[order]
    held_out = len(x) // 5
    x_test, y_test, x, y = x[:held_out], y[:held_out], x[held_out:], y[held_out:]
    model = make_model(args.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    print(f"{len(x)} digits to learn from, {held_out} held out", flush=True)

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    done = state.resume().get("epoch", 0)
    for epoch in range(done + 1, args.epochs + 1):
        model.train()
        total = 0.0
        for images, labels in batches(x, y, args.batch, args.workers):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"Epoch {epoch}/{args.epochs} - loss: {total / len(x):.4f} - val_accuracy: {accuracy:.4f}",
              flush=True)
        state.passed(epoch=epoch)


if __name__ == "__main__":
    main()
