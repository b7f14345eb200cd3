#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measurement of bench/overhead. Starts the containers, waits until flowcond has found the
metric of each, and then looks for some seconds at what flowcond uses; and as long again with
`docker stats` beside it, at what that uses, in its own process and in the engine."""
import argparse
import concurrent.futures
import os
import shutil
import signal
import subprocess
import time

import processes
from bench_stats import heading, load, row
from daemon_api import get
from engine_http import Engine

WIDTH = 34
CONTROLLED = {"flowcon.enable": "true"}
STARTERS = 4  # containers that are started at a time
SETTLE_SECONDS = 180  # for all metrics to be found
QUIET_SECONDS = 15  # afterwards: the work of starting is done with
LONGEST_SECONDS = 6 * 3600

AIM_CPU = 0.005  # of one core
AIM_MIB = 24


def start_containers(engine, options):
    def start(number):
        command = ["/bin/chatter", "--rate", str(options.rate), "--seconds", str(LONGEST_SECONDS),
                   "--seed", str(number + 1)]
        engine.start(engine.create(f"chatter{number}", options.image, command, CONTROLLED))

    with concurrent.futures.ThreadPoolExecutor(STARTERS) as pool:
        for _ in pool.map(start, range(options.containers)):
            pass


def values_seen(options):
    """How many values flowcond has seen in each container, or None before all have a metric."""
    containers = get(options.flowcon, "/v1/status")["containers"]
    if len(containers) < options.containers or not all(job["metric"] for job in containers):
        return None
    return sum(job["values"] for job in containers)


def settle(options):
    end = time.monotonic() + SETTLE_SECONDS
    while values_seen(options) is None:
        if time.monotonic() > end:
            raise SystemExit(f"not all metrics are found after {SETTLE_SECONDS} s")
        time.sleep(2)
    time.sleep(QUIET_SECONDS)


class Group:
    """Some processes whose CPU time is added up, second by second."""

    def __init__(self, pids):
        self.pids = pids
        self.first = self.sum(processes.cpu_seconds)
        self.before = self.sum(processes.fine_cpu_seconds)
        self.percents = []

    def sum(self, measure):
        return sum(measure(pid) for pid in self.pids)

    def look(self, elapsed):
        now = self.sum(processes.fine_cpu_seconds)
        self.percents.append(100 * (now - self.before) / elapsed)
        self.before = now

    def total(self):
        return self.sum(processes.cpu_seconds) - self.first


class Phase:
    """What the groups of processes use in some seconds: percents of one core each second, and over
    the whole time."""

    def __init__(self, groups, flowcond, seconds):
        self.resident = []
        woken = processes.wake_ups(flowcond)
        tracked = {name: Group(pids) for name, pids in groups.items()}
        begin = last = time.monotonic()
        for number in range(seconds):
            time.sleep(max(0.0, begin + number + 1 - time.monotonic()))
            now = time.monotonic()
            for group in tracked.values():
                group.look(now - last)
            self.resident.append(processes.memory_mib(flowcond, "VmRSS"))
            last = now
        self.seconds = last - begin
        self.percents = {name: group.percents for name, group in tracked.items()}
        self.share = {name: group.total() / self.seconds for name, group in tracked.items()}
        self.wake_ups = (processes.wake_ups(flowcond) - woken) / self.seconds


def with_docker_stats(groups, flowcond, seconds):
    """A phase with `docker stats` running as a person runs it, its output thrown away."""
    stats = subprocess.Popen([shutil.which("docker"), "stats"], stdout=subprocess.DEVNULL)
    try:
        time.sleep(5)  # its connections are made
        if stats.poll() is not None:
            raise SystemExit("docker stats has ended by itself")
        return Phase({**groups, "client": [stats.pid]}, flowcond, seconds)
    finally:
        stats.terminate()
        stats.wait()


def report(options, alone, beside, values, begin_load):
    print(f"{options.containers} containers, {options.rate} lines a second each; {os.cpu_count()} cores")
    print(f"{begin_load} at the beginning, {load()} at the end\n")
    print(heading("% of one core, each second", WIDTH))
    engine = "dockerd, containerd, shims"
    print(row("flowcond", alone.percents["flowcond"], WIDTH))
    print(row("  while docker stats runs", beside.percents["flowcond"], WIDTH))
    print(row("docker stats, the command", beside.percents["client"], WIDTH))
    print(row(engine, alone.percents["engine"], WIDTH))
    print(row("  while docker stats runs", beside.percents["engine"], WIDTH))
    print()
    print(heading("MiB, each second", WIDTH))
    print(row("flowcond resident (VmRSS)", alone.resident + beside.resident, WIDTH))
    peak = processes.memory_mib(options.flowcond, "VmHWM")
    rival = beside.share["client"] + max(0.0, beside.share["engine"] - alone.share["engine"])
    share = alone.share["flowcond"]
    lines = options.containers * options.rate * alone.seconds
    print(f"\nover {alone.seconds:.0f} s: flowcond {share:.2%} of a core, {alone.wake_ups:.0f} wake-ups a "
          f"second, peak {peak:.1f} MiB, {values} values out of {lines:.0f} lines")
    print(f"docker stats: {beside.share['client']:.1%} in the command and "
          f"{beside.share['engine'] - alone.share['engine']:+.1%} in the engine: "
          f"{rival / max(share, 1e-9):.0f} times flowcond")
    resident = max(alone.resident + beside.resident)
    is_cpu, is_memory = share < AIM_CPU, resident < AIM_MIB
    print(f"aim {'met' if is_cpu and is_memory else 'missed'}: under {AIM_CPU:.1%} of a core: {share:.2%} "
          f"({'yes' if is_cpu else 'no'}); under {AIM_MIB} MiB: {resident:.1f} "
          f"({'yes' if is_memory else 'no'})")


def main():
    signal.signal(signal.SIGTERM, lambda *_: exit(143))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="the engine's socket")
    parser.add_argument("--containerd", required=True, help="containerd's socket")
    parser.add_argument("--dockerd", type=int, required=True, help="its process id")
    parser.add_argument("--flowcon", required=True, help="the daemon's socket")
    parser.add_argument("--flowcond", type=int, required=True, help="its process id")
    parser.add_argument("--image", required=True)
    parser.add_argument("--containers", type=int, required=True)
    parser.add_argument("--rate", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    options = parser.parse_args()
    begin_load = load()
    start_containers(Engine(options.engine), options)
    print(f"{options.containers} containers run; waiting for their metrics", flush=True)
    settle(options)
    engine = [options.dockerd] + processes.processes_with_argument(options.containerd)
    groups = {"flowcond": [options.flowcond], "engine": sorted(set(engine))}
    before = values_seen(options)
    alone = Phase(groups, options.flowcond, options.seconds)
    values = values_seen(options) - before
    if values < options.containers * options.rate * alone.seconds / 2:
        raise SystemExit(f"flowcond has seen {values} values only: what it uses then says nothing")
    beside = with_docker_stats(groups, options.flowcond, options.seconds)
    report(options, alone, beside, values, begin_load)


if __name__ == "__main__":
    main()
