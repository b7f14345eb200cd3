#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measurement of bench/peers, once on each host and then over all of them.

    peers_cpu.py SECONDS               CPU time of what makes a cluster, as JSON
    peers_cpu.py --sum N FILE...       what those are together, and the verdict
"""
import json
import os
import sys
import time

import processes
from bench_stats import load

KINDS = {"flowcond": "flowcond", "ssh": "ssh", "docker-flowcon": "dial-stdio", "sshd": "sshd",
         "sshd-session": "sshd", "sshd-auth": "sshd"}
WIDTH = 34
AIM = 0.05  # of one core


def tracked():
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/comm", encoding="utf-8") as file:
                    kind = KINDS.get(file.read().strip())
            except OSError:
                continue
            if kind:
                found[int(entry)] = kind
    return found


def look(seconds):
    begin = tracked()
    before = {pid: (processes.fine_cpu_seconds(pid), processes.wake_ups(pid)) for pid in begin}
    start = time.monotonic()
    time.sleep(seconds)
    sums = {}
    for pid, kind in begin.items():
        cpu, woken = before[pid]
        one = sums.setdefault(kind, {"processes": 0, "cpu": 0.0, "wake_ups": 0, "mib": 0.0})
        one["processes"] += 1
        one["cpu"] += processes.fine_cpu_seconds(pid) - cpu
        one["wake_ups"] += processes.wake_ups(pid) - woken
        one["mib"] += processes.memory_mib(pid, "VmRSS")
    if tracked() != begin:
        raise SystemExit("processes came or went: something did change")
    json.dump({"seconds": time.monotonic() - start, "kinds": sums}, sys.stdout)


def report(count, files):
    sums, seconds = {}, 0.0
    for name in files:
        with open(name, encoding="utf-8") as file:
            one = json.load(file)
        seconds = one["seconds"]
        for kind, values in one["kinds"].items():
            total = sums.setdefault(kind, dict.fromkeys(values, 0))
            for key, value in values.items():
                total[key] += value
    if sums.get("flowcond", {}).get("processes") != count:
        raise SystemExit(f"there are not {count} flowcond")
    print(f"{count} flowcond in a star over ssh, nothing changes, {seconds:.0f} s; {load()}\n")
    print(f"{'':<{WIDTH}}{'processes':>10}{'% of a core':>13}{'each':>9}{'wake-ups/s':>12}{'MiB':>9}")
    for kind, one in sums.items():
        share = one["cpu"] / seconds
        print(f"{kind:<{WIDTH}}{one['processes']:>10}{share:>13.2%}{share / one['processes']:>9.3%}"
              f"{one['wake_ups'] / seconds:>12.0f}{one['mib']:>9.0f}")
    total = sum(one["cpu"] for one in sums.values()) / seconds
    share = sums["flowcond"]["cpu"] / seconds
    print(f"{'together':<{WIDTH}}{'':>10}{total:>13.2%}")
    print(f"\naim {'met' if share < AIM else 'missed'}: {count} flowcond together under {AIM:.0%} of a core: "
          f"{share:.2%} (with ssh, sshd and dial-stdio {total:.2%})")


def main():
    match sys.argv[1:]:
        case ["--sum", count, *files]:
            report(int(count), files)
        case [seconds]:
            look(float(seconds))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
