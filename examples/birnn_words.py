#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bidirectional RNN that finds the words in text without blanks: PyTorch, on the licence texts every
Debian system has.

Prints the mean loss (nats per letter) of each epoch, and at the end a passage with the words it found.
"""
import argparse
import os

import checkpoint  # first, as it says
import licences
import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, characters, hidden):
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.rnn = nn.RNN(32, hidden, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(self.embedding(x))
        return self.head(h).squeeze(-1)


def letters_of(texts):
    """The letters of all words in a row, and 1 for each that ends its word."""
    words = " ".join(texts).lower().split()
    letters = "".join(words)
    ends = torch.zeros(len(letters))
    at = -1
    for word in words:
        at += len(word)
        ends[at] = 1
    return letters, ends


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--text", default=licences.FOLDER, help="a file or a folder")
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "60")))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--length", type=int, default=60, help="letters a sequence")
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    args = parser.parse_args()

    torch.manual_seed(5)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    letters, ends = letters_of(licences.read(args.text))
    codes = {c: i for i, c in enumerate(sorted(set(letters)))}
    rows = len(letters) // args.length
    x = torch.tensor([codes[c] for c in letters[:rows * args.length]]).view(rows, args.length)
    y = ends[:rows * args.length].view(rows, args.length)
    model = Tagger(len(codes), args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    print(f"{rows * args.length} letters, {int(y.sum())} words", flush=True)

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    done = state.resume().get("epoch", 0)
    for epoch in range(done + 1, args.epochs + 1):
        total = 0.0
        for batch in torch.randperm(rows).split(args.batch):
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(x[batch]), y[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * len(batch)
        print(f"[{epoch}/{args.epochs}] loss={total / rows:.4f}", flush=True)
        state.passed(epoch=epoch)
    with torch.no_grad():
        found = model(x[:3]).flatten() > 0
    print("words:", "".join(c + " " * bool(end) for c, end in zip(letters, found)), flush=True)


if __name__ == "__main__":
    main()
