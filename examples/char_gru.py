#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A character-level GRU language model: PyTorch, on the licence texts every Debian system has.

Prints the mean cross-entropy (nats per character) every few steps, and a sample of what it learnt
to write at the end.
"""
import argparse
import os
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

TEXTS = ("GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3", "GFDL-1.2", "GFDL-1.3",
         "Apache-2.0", "Artistic", "MPL-1.1", "MPL-2.0")


class CharGRU(nn.Module):
    def __init__(self, characters, hidden):
        super().__init__()
        self.embedding = nn.Embedding(characters, 64)
        self.gru = nn.GRU(64, hidden, batch_first=True)
        self.head = nn.Linear(hidden, characters)

    def forward(self, x, state=None):
        h, state = self.gru(self.embedding(x), state)
        return self.head(h), state


def sample(model, alphabet, length):
    """What the model writes after a blank line, one drawn character at a time."""
    x, state, text = torch.tensor([[alphabet.index("\n")]]), None, ""
    with torch.no_grad():
        for _ in range(length):
            logits, state = model(x, state)
            x = torch.multinomial(F.softmax(logits[:, -1] / 0.6, dim=1), 1)
            text += alphabet[x.item()]
    return " ".join(text.split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--text", default="/usr/share/common-licenses", help="a file or a folder")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--length", type=int, default=50, help="characters a sequence")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.002)
    args = parser.parse_args()

    torch.manual_seed(3)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    path = pathlib.Path(args.text)
    files = [path / name for name in TEXTS if (path / name).exists()] if path.is_dir() else [path]
    text = "\n\n".join(f.read_text(encoding="utf-8", errors="replace") for f in files)
    alphabet = "".join(sorted(set(text)))
    codes = {c: i for i, c in enumerate(alphabet)}
    data = torch.tensor([codes[c] for c in text])
    rows = (len(data) - 1) // args.length
    x = data[:rows * args.length].view(rows, args.length)
    y = data[1:rows * args.length + 1].view(rows, args.length)

    model = CharGRU(len(alphabet), args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    batches = rows // args.batch
    print(f"{len(text)} characters, {len(alphabet)} different, {batches} steps an epoch", flush=True)

    for epoch in range(1, args.epochs + 1):
        total, count = 0.0, 0
        order = torch.randperm(rows)[:batches * args.batch].split(args.batch)
        for step, batch in enumerate(order, 1):
            optimizer.zero_grad()
            logits, _ = model(x[batch])
            loss = F.cross_entropy(logits.flatten(0, 1), y[batch].flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total, count = total + loss.item(), count + 1
            if step % 5 == 0 or step == len(order):
                print(f"epoch {epoch}/{args.epochs} step {step}/{len(order)} loss={total / count:.4f}",
                      flush=True)
                total, count = 0.0, 0
    print("sample:", sample(model, alphabet, 200), flush=True)


if __name__ == "__main__":
    main()
