#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An LSTM that tells from a few words which licence they are from: PyTorch, on the licence texts every
Debian system has.

Prints the mean training loss of each epoch and the accuracy on held-out passages.
"""
import argparse
import os

import checkpoint  # first, as it says
import licences
import torch
from torch import nn
from torch.nn import functional as F

HELD_OUT = 5  # each fifth passage


class Classifier(nn.Module):
    def __init__(self, characters, hidden, classes):
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.lstm = nn.LSTM(32, hidden, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        h, _ = self.lstm(self.embedding(x))
        return self.head(h.mean(1))


def passages(texts, length):
    """Passages as rows of letters' numbers, and which text each is from."""
    codes = {c: i for i, c in enumerate(sorted(set("".join(texts))))}
    rows, labels = [], []
    for label, text in enumerate(texts):
        for at in range(0, len(text) - length + 1, length):
            rows.append([codes[c] for c in text[at:at + length]])
            labels.append(label)
    return torch.tensor(rows), torch.tensor(labels), len(codes)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--text", default=licences.FOLDER, help="a folder")
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "60")))
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--length", type=int, default=60, help="characters a passage")
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.003)
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    args = parser.parse_args()

    torch.manual_seed(4)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    texts = licences.read(args.text)
    x, y, characters = passages(texts, args.length)
    is_held_out = torch.arange(len(x)) % HELD_OUT == 0
    x_test, y_test, x, y = x[is_held_out], y[is_held_out], x[~is_held_out], y[~is_held_out]
    model = Classifier(characters, args.hidden, len(texts))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    print(f"{len(x)} passages of {len(texts)} licences to learn from, {len(x_test)} held out", flush=True)

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    done = state.resume().get("epoch", 0)
    for epoch in range(done + 1, args.epochs + 1):
        total = 0.0
        for batch in torch.randperm(len(x)).split(args.batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[batch]), y[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(batch)
        with torch.no_grad():
            accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
        print(f"epoch {epoch}/{args.epochs} train_loss: {total / len(x):.4f} accuracy: {accuracy:.4f}", flush=True)
        state.passed(epoch=epoch)


if __name__ == "__main__":
    main()
