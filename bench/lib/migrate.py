#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/migrate: migrate.py CORES FILE, a move a line as the daemon's API shows it,
with "between": seconds between two losses in the training's log."""
import json
import sys

from bench_stats import heading, load, median, row

WIDTH = 34
AIMS = {"app": 1.5, "criu": 3}  # seconds between two losses
ORDER = ("reserve", "save", "transfer", "start", "remove", "done")


def steps_of(move):
    """Seconds that each step lasted, until the next one began."""
    at = move["steps"]
    known = [step for step in ORDER if step in at]
    return {step: at[after] - at[step] for step, after in zip(known, known[1:])}


def main():
    cores, name = sys.argv[1:]
    with open(name, encoding="utf-8") as file:
        moves = [json.loads(line) for line in file]
    print(f"a PyTorch training between two hosts of {cores} core(s); {load()}")
    verdicts = []
    for method in sorted({move["method"] for move in moves}):
        good = [move for move in moves if move["method"] == method and move["step"] == "done"]
        failed = sum(move["method"] == method for move in moves) - len(good)
        if not good:
            raise SystemExit(f"no move by {method} came to its end")
        print(f"\n{heading(method + ', seconds', WIDTH)}")
        stopped = [move["stopped_seconds"] for move in good if move["stopped_seconds"] is not None]
        print(row("stop until it runs again", stopped, WIDTH))
        between = [move["between"] for move in good]
        print(row("between two losses in its log", between, WIDTH))
        print(row("the whole move", [move["seconds"] for move in good], WIDTH))
        for step in ORDER:
            lasted = [steps_of(move)[step] for move in good if step in steps_of(move)]
            if lasted:
                print(row(f"  {step}", lasted, WIDTH))
        print(row("MB that travelled", [move["bytes"] / 1e6 for move in good], WIDTH))
        if failed:
            print(f"{failed} moves were undone")
        reached = "yes" if median(between) < AIMS[method] else "no"
        verdicts.append(f"{method} {median(between):.2f} s, aim {AIMS[method]} s: {reached}; at most {max(between):.2f} s")
    print("\nbetween two losses, median: " + "\n  ".join(verdicts))


if __name__ == "__main__":
    main()
