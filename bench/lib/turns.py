#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The measurement of bench/turns: jobs of the queue one after the other, containers that a heartbeat starts, and jobs of
which the next one may begin beside the last steps of the one before."""
import argparse
import re
import time
from datetime import datetime

from bench_stats import heading, load, median, row
from engine_http import Engine

LOOK_SECONDS = 0.5
HEARTBEAT_SECONDS = 5
LONGEST_TURN = 60  # seconds; one that takes longer is a failure, not a number
WIDTH = 46
JOB = ["sleep", "2"]
QUEUED = {"flowcon.queue": "true", "flowcon.request": "cpu=1,mem=300M"}  # memory for one: none begins early

# It imports, by the CPU alone, and prints how far it is: steps that wait, as for data, or that compute.
IMPORT = "i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; "
STEPS = "n=0; while [ $n -lt 8 ]; do n=$((n + 1)); %s; echo step $n/8 loss: 1.$n; done"
WAITS = "sleep 1"
COMPUTES = "i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done"
MEMORY_FOR_ONE, MEMORY_FOR_BOTH = "300M", "100M"

AIM_SECONDS = 1
AIM_RATIO = 10


def seconds(text):
    """Of one of the engine's times, which have nanoseconds."""
    whole, rest = re.fullmatch(r"(.*?)(\.\d+)?Z", text).groups()
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float(rest or 0)


def gaps(engine, containers):
    lives = []
    for container in containers:
        state = engine.inspect(container)["State"]
        if state["ExitCode"] != 0:
            raise SystemExit(f"a job ended with status {state['ExitCode']}")
        lives.append((seconds(state["StartedAt"]), seconds(state["FinishedAt"])))
    lives.sort()
    return [after[0] - before[1] for before, after in zip(lives, lives[1:])]


def wait_for(engine, containers):
    for container in containers:
        until = time.monotonic() + LONGEST_TURN
        while engine.inspect(container)["State"]["Status"] != "exited":
            if time.monotonic() > until:
                raise SystemExit(f"container {container[:12]} has not ended")
            time.sleep(LOOK_SECONDS)


def by_the_queue(engine, image, jobs):
    containers = [engine.create(f"queued-{i}", image, JOB, QUEUED) for i in range(jobs)]
    wait_for(engine, containers)
    return gaps(engine, containers)


def by_a_heartbeat(engine, image, jobs):
    containers = [engine.create(f"beat-{i}", image, JOB) for i in range(jobs)]
    running = None
    for container in containers:
        while running and engine.inspect(running)["State"]["Running"]:
            time.sleep(HEARTBEAT_SECONDS)
        engine.start(container)
        running = container
    wait_for(engine, containers[-1:])
    return gaps(engine, containers)


def first_progress(engine, container):
    return seconds(re.search(r"(\d{4}-\d\d-\d\dT[0-9:.]+Z) step", engine.log(container)).group(1))


def to_first_progress(engine, image, jobs, step, memory):
    """From the end of each job to the first progress of the next."""
    labels = {"flowcon.queue": "true", "flowcon.request": f"cpu=1,mem={memory}"}
    command = ["sh", "-c", IMPORT + STEPS % step]
    name = f"{'waits' if step == WAITS else 'computes'}-{memory}"
    containers = [engine.create(f"{name}-{i}", image, command, labels) for i in range(jobs)]
    wait_for(engine, containers)
    lives = sorted((first_progress(engine, one), seconds(engine.inspect(one)["State"]["FinishedAt"])) for one in containers)
    return [after[0] - before[1] for before, after in zip(lives, lives[1:])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", required=True)
    parser.add_argument("--image", required=True)
    parser.add_argument("--jobs", type=int, required=True)
    said = parser.parse_args()
    engine = Engine(said.engine)
    print(load())
    queue = by_the_queue(engine, said.image, said.jobs)
    beat = by_a_heartbeat(engine, said.image, said.jobs)
    print(heading("seconds from an end to the next start", WIDTH))
    print(row("queue of flowcond", queue, WIDTH))
    print(row(f"a look each {HEARTBEAT_SECONDS} s", beat, WIDTH))
    share = sum(queue) / sum(beat)
    print(f"idle in all: {share:.2f} of what the heartbeat leaves (aim: at most {1 / AIM_RATIO:.2f}); "
          f"median {median(queue):.2f} s (aim: under {AIM_SECONDS} s): "
          f"{'met' if share <= 1 / AIM_RATIO and median(queue) < AIM_SECONDS else 'missed'}")
    print(heading("seconds from an end to the next one's progress", WIDTH))
    for step, how in ((WAITS, "wait"), (COMPUTES, "compute")):
        for memory, who in ((MEMORY_FOR_ONE, "one"), (MEMORY_FOR_BOTH, "both")):
            times = to_first_progress(engine, said.image, said.jobs // 2, step, memory)
            print(row(f"steps that {how}, memory for {who}", times, WIDTH))


main()
