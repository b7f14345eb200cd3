#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One step of bench/real-cluster: its trainings arrive on lab hosts, move, and end.

    real_cluster.py FOLDER ID FILE IMAGE LAB_CGROUP HOST=ENGINE_SOCKET...

The hosts have their daemons. Writes what was seen to FILE, for `real.py take`.
"""
import glob
import os
import signal
import sys
import threading
import time

import machine
import real_results
from cluster_watch import LOOK, Watch
from engine_http import Engine
from real import QUIET, step_of
from real_host import SPARE, SURE, TOLD, log_of
from real_logs import first_at_90, losses_of, speed_of
from real_plan import TRAININGS

TOLD_OF_MOVES = ("name", "step", "cause", "method", "seconds", "stopped_seconds", "steps", "bytes", "source_name",
                 "target_name")


def start(engine, job, image):
    """As `docker flowcon run` would, with what a move needs; half a core is no reason for two threads."""
    script, arguments, _ = TRAININGS[job["model"]]
    name = job["name"]
    body = {"Image": image,
            "Cmd": ["python3", f"/examples/{script}", *arguments, "--checkpoint", "/ckpt/state.pt"],
            "Env": [f"EPOCHS={job['epochs']}", "OMP_NUM_THREADS=1"],
            "Labels": {"flowcon.enable": "true", "flowcon.mounts": "shared", "flowcon.migrate": "app",
                       "flowcon.checkpoint.path": "/ckpt/state.pt", "flowcon.checkpoint.signal": "SIGUSR1",
                       "flowcon.checkpoint.timeout": "120"},
            "HostConfig": {"NetworkMode": "none", "Binds": [f"{name}:/ckpt", "/opt/source/examples:/examples:ro"]}}
    engine.start(engine.call("POST", f"/containers/create?name={name}", body)["Id"])


class MeteredWatch(Watch):
    """It also adds up the CPU time of each job, on whichever hosts it was."""

    def __init__(self, hosts, lab):
        super().__init__(hosts)
        self.lab, self.files, self.cpu = lab, {}, {}

    def file_of(self, container):
        """The counter of its control group, found once; None while there is none."""
        if container not in self.files:
            with open("/proc/self/mounts", encoding="utf-8") as mounts:
                points = [line.split()[1:3] for line in mounts]
            for point, kind in points:
                leaf = "cpuacct.usage" if kind == "cgroup" else "cpu.stat"
                found = glob.glob(f"{point}{self.lab}/**/{container}/{leaf}", recursive=True) if kind.startswith("cgroup") else []
                if found:
                    self.files[container] = (found[0], kind == "cgroup")
                    break
        return self.files.get(container)

    def meter(self):
        for name, job in self.jobs.items():
            for key in job["stays"]:
                host = job["stays"][key][0]
                container = key[len(host):]
                file = self.file_of(container) if self.states.get(container) == "running" else self.files.get(container)
                if file is None:
                    continue
                spent = machine.read_cpu(*file)
                if spent is not None:
                    by_container = self.cpu.setdefault(name, {})
                    by_container[container] = max(spent, by_container.get(container, 0.0))

    def look(self):
        super().look()
        self.meter()


class Arrivals:
    """Starts each job on its host when its time has come. An engine that is slow delays nobody else."""

    def __init__(self, step, image, hosts):
        self.step, self.image, self.hosts = step, image, hosts
        self.failed, self.left = [], sorted(step["jobs"], key=lambda job: job["arrival"])

    def look(self, elapsed):
        while self.left and self.left[0]["arrival"] <= elapsed:
            threading.Thread(target=self.start, args=(self.left.pop(0),), daemon=True).start()
        if self.failed:
            raise SystemExit(f"could not be started: {'; '.join(self.failed)}")

    def start(self, job):
        try:
            start(Engine(self.hosts[f"h{job['host']}"]), job, self.image)
        except (OSError, SystemExit) as error:
            self.failed.append(f"{job['name']}: {error}")


def follow(watch, arrivals, step):
    begin = told = time.time()
    limit = SURE * step["expected"] + SPARE
    while not watch.is_over(len(step["jobs"])):
        elapsed = time.time() - begin
        arrivals.look(elapsed)
        if elapsed > limit:
            raise SystemExit(f"{step['id']} did not end within {limit:.0f} s")
        watch.look()
        if time.time() - told >= TOLD:
            told = time.time()
            watch.line(begin)
        time.sleep(LOOK / 4)
    return begin


def describe(step, watch, seen, begin):
    """Times count from the job's arrival, but for started and finished, which count from the run's begin."""
    jobs = []
    for planned in step["jobs"]:
        job = next(one for one in seen["jobs"] if one["name"] == planned["name"])
        engine, container = watch.jobs[planned["name"]]["last"]
        losses = losses_of(log_of(Engine(engine), container), begin + planned["arrival"], planned["epochs"])
        if not losses:
            raise SystemExit(f"{planned['name']} printed no loss")
        at_90 = first_at_90(losses)
        finished = job["finished"] - begin
        jobs.append({**planned, "started": round(job["started"] - begin, 3), "finished": round(finished, 3),
                     "completion": round(finished - planned["arrival"], 3), "t90": at_90[0] if at_90 else None,
                     "cpu": round(sum(watch.cpu.get(planned["name"], {}).values()), 3), "losses": losses,
                     "stays": [[host, round(since - begin, 1), round(until - begin, 1)] for host, since, until in job["stays"]]})
        if step["kind"] != "run":
            jobs[-1]["speed"] = speed_of(losses, finished - planned["arrival"])
    return jobs


def main():
    folder, name, file, image, lab, *places = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    made, step = step_of(folder, name)
    hosts = dict(place.split("=", 1) for place in places)
    quiet = machine.wait_for_quiet(QUIET, made["patience"])
    group, before = machine.CgroupCpu(lab), machine.ticks()
    ours = group.seconds() or 0.0
    watch = MeteredWatch(hosts, lab)
    begin = follow(watch, Arrivals(step, image, hosts), step)
    spent = time.time() - begin
    busy, stolen = machine.ticks()
    times = os.times()
    bench = times.user + times.system
    seen = watch.result()
    jobs = describe(step, watch, seen, begin)
    others = max(0.0, busy - before[0] - ((group.seconds() or 0.0) - ours) - bench)
    moves = [{key: move[key] for key in TOLD_OF_MOVES} for move in seen["moves"]]
    real_results.write(file, {"quiet": quiet, "began": begin, "jobs": jobs, "moves": moves,
                              "makespan": max(job["finished"] for job in jobs),
                              "others": round(others / spent / os.cpu_count(), 4),
                              "steal": round((stolen - before[1]) / spent / os.cpu_count(), 4)})


if __name__ == "__main__":
    main()
