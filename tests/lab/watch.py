# SPDX-License-Identifier: Apache-2.0
"""watch.py GROUP HOST HOST: says each time that containers run on both hosts, and for how long.

GROUP is the lab's control group; the kernel is asked which containers have a process, so that an engine that
is down or late hides nothing. It goes on until it is ended.
"""
import os
import re
import signal
import sys
import time

CONTAINER = re.compile("[0-9a-f]{64}")


def folder_of(group):
    """Where one hierarchy that engines use has the group."""
    points = {}
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, point, kind, options, *_ = line.split()
            if kind == "cgroup" and "pids" in options.split(","):
                points.setdefault("v1", point)
            if kind == "cgroup2":
                points.setdefault("v2", point)
    return points.get("v1", points.get("v2")) + group


def running(folder):
    ids = set()
    try:
        names = os.listdir(folder)
    except OSError:
        return ids  # the host is off
    for name in filter(CONTAINER.fullmatch, names):
        try:
            with open(f"{folder}/{name}/cgroup.procs", encoding="utf-8") as processes:
                if processes.read(1):
                    ids.add(name)
        except OSError:
            pass  # it has just ended
    return ids


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    first, second = (f"{folder_of(sys.argv[1])}/{host}" for host in sys.argv[2:4])
    since = None
    try:
        while True:
            here = running(first)
            there = running(second)
            # The one that ran before the other was looked at, and ran after that: both at once.
            both = bool(here and there and here & running(first))
            if both and since is None:
                since = time.monotonic()
                print(time.strftime("two copies run at %H:%M:%S"), flush=True)
            if not both and since is not None:
                print(f"two copies ran for {time.monotonic() - since:.1f} s", flush=True)
                since = None
            time.sleep(0.05)
    finally:
        if since is not None:
            print(f"two copies ran for {time.monotonic() - since:.1f} s, until the end", flush=True)


if __name__ == "__main__":
    main()
