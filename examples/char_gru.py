#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A character-level GRU language model: PyTorch, on the licence texts every Debian system has.

Prints the mean cross-entropy (nats per character) every few steps, and a sample of what it learnt
to write at the end.
"""
import argparse
import os

import checkpoint  # first, as it says
import licences
import torch
from torch import nn
from torch.nn import functional as F


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
    parser.add_argument("--text", default=licences.FOLDER, help="a file or a folder")
    parser.add_argument("--epochs", type=int, default=int(os.environ.get("EPOCHS", "15")))
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--length", type=int, default=50, help="characters a sequence")
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.002)
    parser.add_argument("--checkpoint", metavar="FILE", help="saved on a signal, and gone on from where it is there")
    args = parser.parse_args()

    torch.manual_seed(3)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    text = "\n\n".join(licences.read(args.text))
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

    state = checkpoint.Checkpoint(args.checkpoint, model=model, optimizer=optimizer)
    where = state.resume()
    for epoch in range(where.get("epoch", 1), args.epochs + 1):
        total, count = where.pop("total", 0.0), where.pop("count", 0)
        done, order = where.pop("step", 0), where.pop("order", None)
        if order is None:
            order = torch.randperm(rows)[:batches * args.batch].split(args.batch)
        for step, batch in enumerate(order[done:], done + 1):
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
            state.passed(epoch=epoch, step=step, order=order, total=total, count=count)
    print("sample:", sample(model, alphabet, 200), flush=True)


if __name__ == "__main__":
    main()
