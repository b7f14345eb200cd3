#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/ahead: ahead.py EVENTS TURNS MEGABYTES RATE, the events of the host's engine as docker tells them."""
import json
import sys

from bench_stats import heading, load, median, row

WIDTH = 46
AIM_SHARE = 0.3


def moments(name):
    """When each container started and ended. Unit: seconds."""
    times = {}
    with open(name, encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            times[event["Actor"]["Attributes"]["name"], event["Action"]] = event["timeNano"] / 1e9
    return times


def main():
    events, turns, megabytes, rate = sys.argv[1:]
    times = moments(events)

    def gaps(kind, way):
        names = [f"{kind}-{way}-{turn}" for turn in range(1, int(turns) + 1)]
        return [times[f"{name}-next", "start"] - times[f"{name}-first", "die"] for name in names]

    print(f"{megabytes} MB at {rate}; {load()}")
    print(heading("seconds from an end to the next start", WIDTH))
    untold, told = gaps("far", "untold"), gaps("far", "told")
    print(row("image not there, length of the first unknown", untold, WIDTH))
    print(row("image not there, length of the first known", told, WIDTH))
    print(row("image there, length of the first unknown", gaps("near", "untold"), WIDTH))
    print(row("image there, length of the first known", gaps("near", "told"), WIDTH))
    share = sum(told) / sum(untold)
    print(f"idle time that remains: {share:.2f}, median {median(told):.1f} s of {median(untold):.1f} s "
          f"(aim: at most {AIM_SHARE}): {'met' if share <= AIM_SHARE else 'missed'}")


main()
