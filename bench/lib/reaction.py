#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measurement of bench/reaction. Three containers: `steady` is under control and quiet, `comer`
is under control and is started and killed again and again, `other` is not under control. Each
arrival and each departure changes the weight of `steady`; between them `other` is updated in the
ways that a person or a program has without flowcond."""
import argparse
import os
import shutil
import signal
import subprocess
import time

from bench_stats import heading, load, median, percentile, row
from cgroup_watch import Watch, find_weight_file
from engine_http import Engine, Events

LIMIT_SECONDS = 10  # a reaction that takes longer is a failure, not a number
PAUSE_SECONDS = 0.05
SETTLE_SECONDS = 2
WARM_UP = 2  # cycles that are not counted
WIDTH = 46
CONTROLLED = {"flowcon.enable": "true"}

AIM_MS = 20
AIM_RATIO = 100

START = "start event -> limit written"
START_HEARD = "  start event -> another client has it"
INSPECT = "  the engine's answer to inspect"
DIE = "die event -> limit written"
DIE_HEARD = "  die event -> another client has it"
COMMAND = "docker update --cpus, the command"
CALL = "the same by one API call"
WRITE = "write and read back of the cgroup file"


class Scene:
    """The containers and what is known of them."""

    def __init__(self, engine, image, beside):
        self.engine = engine
        command = ["/bin/sleep", "1000000"]
        self.steady = engine.create("steady", image, command, CONTROLLED)
        self.comer = engine.create("comer", image, command, {**CONTROLLED, "flowcon.weight": "2"})
        self.other = engine.create("other", image, command)
        for number in range(beside):
            engine.start(engine.create(f"beside{number}", image, command, CONTROLLED))
        engine.start(self.steady)
        engine.start(self.other)
        # flowcond has seen them all before the first measurement.
        time.sleep(SETTLE_SECONDS)
        self.path = self.weight_file(self.steady)
        self.other_path = self.weight_file(self.other)
        self.watch = Watch(self.path)
        self.alone = self.watch.value()
        self.shared = None
        self.beside = beside
        self.events = Events(engine, self.comer, ["start", "die"])

    def weight_file(self, container):
        return find_weight_file(self.engine.inspect(container)["State"]["Pid"])

    def react(self, request, action, is_wanted):
        """Milliseconds from the engine's event, which `request` brings about, to the new limit and
        to the event's arrival here, and the limit."""
        self.watch.clear()
        sent = self.engine.send("POST", f"/containers/{self.comer}/{request}")
        written, heard, value = self.watch.wait(is_wanted, self.events.fileno(), LIMIT_SECONDS)
        happened = self.events.next_time(action)
        self.engine.finish(sent)
        if min(written, heard) < happened:
            raise SystemExit("something came before its event: was the clock set?")
        return (written - happened) / 1e6, (heard - happened) / 1e6, value

    def arrival(self):
        taken, heard, self.shared = self.react("start", "start", lambda value: value != self.alone)
        return {START: taken, START_HEARD: heard}

    def departure(self):
        taken, heard, _ = self.react("kill", "die", lambda value: value == self.alone)
        return {DIE: taken, DIE_HEARD: heard}


def timed(action):
    begin = time.perf_counter_ns()
    action()
    return (time.perf_counter_ns() - begin) / 1e6


def write_and_read(path, value):
    file = os.open(path, os.O_RDWR)
    os.write(file, str(value).encode())
    found = int(os.pread(file, 64, 0))
    os.close(file)
    if found != value:
        raise SystemExit(f"{path} holds {found} after {value} was written")


def cycle(scene, docker, number):
    """All measurements of one round, in milliseconds."""
    cpus = 0.5 if number % 2 else 0.75
    times = scene.arrival()
    time.sleep(PAUSE_SECONDS)
    times[INSPECT] = timed(lambda: scene.engine.inspect(scene.comer))
    times[COMMAND] = timed(lambda: subprocess.run(
        [docker, "update", "--cpus", str(cpus), scene.other], check=True, stdout=subprocess.DEVNULL))
    time.sleep(PAUSE_SECONDS)
    times.update(scene.departure())
    time.sleep(PAUSE_SECONDS)
    body = {"NanoCpus": round((cpus + 0.1) * 1e9)}
    times[CALL] = timed(
        lambda: scene.engine.call("POST", f"/containers/{scene.other}/update", body))
    times[WRITE] = timed(lambda: write_and_read(scene.other_path, 500 + number % 2))
    time.sleep(PAUSE_SECONDS)
    return times


def be_first():
    """Woken at once when a limit is written, also where the machine is busy. Root may; where the
    kernel refuses (real-time groups), the times are a little too long."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return "no"
    return "yes"


def report(scene, taken, begin_load, is_first):
    version = scene.engine.call("GET", "/version")["Version"]
    print(f"engine {version}, {os.cpu_count()} cores; {1 + scene.beside} jobs that stay; "
          f"{os.path.basename(scene.path)} of one {scene.alone} <-> {scene.shared}; "
          f"watcher woken first: {is_first}")
    print(f"{begin_load} at the beginning, {load()} at the end\n")
    print(heading("milliseconds", WIDTH))
    for name in (START, START_HEARD, INSPECT, DIE, DIE_HEARD, COMMAND, CALL, WRITE):
        print(row(name, taken[name], WIDTH))
    print(f"\n{'times faster than':<{WIDTH}}{'docker update':>18}{'API call':>18}")
    print(f"{'':<{WIDTH}}{'median':>9}{'p99':>9}{'median':>9}{'p99':>9}")
    for name in (START, DIE, WRITE):
        ratios = [figure(taken[rival]) / figure(taken[name])
                  for rival in (COMMAND, CALL) for figure in (median, p99)]
        print(f"{name:<{WIDTH}}" + "".join(f"{ratio:>9.1f}" for ratio in ratios))
    print(f"\nbefore flowcond writes a limit for an arrival it waits for the engine's answer to inspect: "
          f"{median(taken[INSPECT]) / median(taken[START]):.0%} of the time (medians)")
    print(verdict(taken))


def p99(values):
    return percentile(values, 99)


def verdict(taken):
    """One line: for which of the numbers the aims hold."""
    words = {START: "start", DIE: "die", WRITE: "the write alone"}
    fast = [f"{words[name]} {p99(taken[name]):.1f} ms ({'yes' if p99(taken[name]) < AIM_MS else 'no'})"
            for name in (START, DIE)]
    ratios = {name: median(taken[COMMAND]) / median(taken[name]) for name in words}
    faster = [f"{words[name]} {ratios[name]:.0f} ({'yes' if ratios[name] >= AIM_RATIO else 'no'})"
              for name in words]
    is_met = (all(p99(taken[name]) < AIM_MS for name in (START, DIE)) and
              all(ratios[name] >= AIM_RATIO for name in (START, DIE)))
    return (f"aim {'met' if is_met else 'missed'}: p99 under {AIM_MS} ms: {', '.join(fast)}; at least "
            f"{AIM_RATIO} times faster than docker update: {', '.join(faster)}")


def main():
    signal.signal(signal.SIGTERM, lambda *_: exit(143))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True, help="the engine's socket")
    parser.add_argument("--image", required=True)
    parser.add_argument("--cycles", type=int, required=True)
    parser.add_argument("--beside", type=int, required=True, help="more jobs under control")
    options = parser.parse_args()
    docker = shutil.which("docker")
    begin_load = load()
    scene = Scene(Engine(options.engine), options.image, options.beside)
    is_first = be_first()
    taken = {}
    for number in range(WARM_UP + options.cycles):
        times = cycle(scene, docker, number)
        if number < WARM_UP:
            continue
        for name, value in times.items():
            taken.setdefault(name, []).append(value)
    scene.events.close()
    report(scene, taken, begin_load, is_first)


if __name__ == "__main__":
    main()
