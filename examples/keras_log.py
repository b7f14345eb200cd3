#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training that prints what Keras prints, progress bars and all, and needs nothing but Python.

Logistic regression on made-up points; the bar of an epoch is drawn again and again after a carriage return, as Keras
does on a terminal. flowcond takes the loss of each finished epoch, not those of bars half done:
`docker flowcon extract --explain FILE` shows what else it found, and why it took this."""

import argparse
import math
import random
import sys
import time


def points(count, rng):
    """Points in the plane, and on which side of a slanted line each is, with a little noise."""
    made = []
    for _ in range(count):
        x, y = rng.gauss(0, 1), rng.gauss(0, 1)
        made.append((x, y, 1.0 if x + 0.5 * y + rng.gauss(0, 0.3) > 0 else 0.0))
    return made


def probability(weights, x, y):
    return 1 / (1 + math.exp(-(weights[0] * x + weights[1] * y + weights[2])))


def measure(weights, data):
    """Mean cross entropy and share of right answers."""
    loss, right = 0.0, 0
    for x, y, label in data:
        p = min(max(probability(weights, x, y), 1e-9), 1 - 1e-9)
        loss -= math.log(p if label else 1 - p)
        right += (p > 0.5) == (label > 0.5)
    return loss / len(data), right / len(data)


def step(weights, batch, rate):
    gradient = [0.0, 0.0, 0.0]
    for x, y, label in batch:
        error = probability(weights, x, y) - label
        for i, value in enumerate((x, y, 1.0)):
            gradient[i] += error * value / len(batch)
    for i in range(3):
        weights[i] -= rate * gradient[i]


def bar(done, steps):
    width = 30
    filled = done * width // steps
    if filled >= width:
        return "=" * width
    return "=" * filled + ">" + "." * (width - filled - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--steps", type=int, default=40, help="per epoch")
    parser.add_argument("--batch", type=int, default=512)
    args = parser.parse_args()
    rng = random.Random(7)
    train, held_out = points(args.steps * args.batch, rng), points(1000, rng)
    weights = [0.0, 0.0, 0.0]
    for epoch in range(1, args.epochs + 1):
        print(f"Epoch {epoch}/{args.epochs}")
        begun = time.monotonic()
        for at in range(args.steps):
            batch = train[at * args.batch:(at + 1) * args.batch]
            step(weights, batch, rate=0.05)
            loss, accuracy = measure(weights, batch)
            print(f"\r{at + 1:2d}/{args.steps} [{bar(at + 1, args.steps)}] - loss: {loss:.4f} - accuracy: {accuracy:.4f}",
                  end="", flush=True)
        spent = time.monotonic() - begun
        val_loss, val_accuracy = measure(weights, held_out)
        print(f"\r{args.steps}/{args.steps} [{bar(args.steps, args.steps)}] - {spent:.0f}s {1000 * spent / args.steps:.0f}ms/step"
              f" - loss: {loss:.4f} - accuracy: {accuracy:.4f} - val_loss: {val_loss:.4f} - val_accuracy: {val_accuracy:.4f}",
              flush=True)


if __name__ == "__main__":
    sys.exit(main())
