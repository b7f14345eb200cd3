# SPDX-License-Identifier: Apache-2.0
"""One step of bench/real: its trainings arrive at their times on one engine, and what became of them.

The bench itself must cost next to nothing: it looks at the control groups ten times a second, and at the
engine once.
"""
import bisect
import json
import os
import struct
import time
import urllib.parse

import machine
import processes
from real_logs import first_at_90, losses_of, seconds, speed_of
from real_plan import command_of

LABEL = "docker-flowcon.bench"
LOOK = 0.1
TOLD = 15
LITTLE = 0.01  # share of the host
SURE = 5  # times as long as expected, and a run is given up
SPARE = 120


def create(engine, step, job, image, examples):
    body = {"Image": image, "Cmd": command_of(job["model"], step["policy"]),
            "Env": [f"EPOCHS={job['epochs']}"],
            "Labels": {LABEL: step["id"], "flowcon.enable": "true"},
            "HostConfig": {"NetworkMode": "none", "Binds": [f"{examples}:/examples:ro"]}}
    return engine.call("POST", f"/containers/create?name={job['name']}", body)["Id"]


def log_of(engine, container):
    """Its lines, each with the engine's time."""
    connection = engine.send("GET", f"/containers/{container}/logs?stdout=1&stderr=1&timestamps=1")
    data = connection.getresponse().read()
    connection.close()
    parts, at = [], 0
    while at + 8 <= len(data):
        size = struct.unpack(">I", data[at + 4:at + 8])[0]
        parts.append(data[at + 8:at + 8 + size])
        at += 8 + size
    return b"".join(parts).decode(errors="replace")


def remove_all(engine):
    """What this or an interrupted bench left on the engine."""
    filters = urllib.parse.quote(json.dumps({"label": [LABEL]}))
    for one in engine.call("GET", f"/containers/json?all=1&filters={filters}"):
        engine.finish(engine.send("DELETE", f"/containers/{one['Id']}?force=1&v=1"))


def longest_little(samples, cores):
    """The longest time, in seconds, over which something got less than LITTLE of the host on average. `samples`:
    (moment, CPU seconds that it has had so far), in order."""
    longest, highest, moments = 0.0, [], []
    for moment, cpu in samples:
        # Over a time in which it got less this falls.
        ahead = cpu - LITTLE * cores * moment
        first = bisect.bisect_right(highest, ahead)
        if first < len(highest):
            longest = max(longest, moment - moments[first])
        elif not highest or ahead > highest[-1]:
            highest.append(ahead)
            moments.append(moment)
    return longest


class Running:
    """One training of the step, from its arrival on."""

    def __init__(self, job, container):
        self.job, self.container = job, container
        self.group, self.cpu, self.is_started, self.is_over = None, 0.0, False, False
        self.samples = []

    def look(self, parent):
        if self.group is None:
            self.group = machine.CgroupCpu(f"{parent}/{self.container}")
            if self.group.file is None:
                self.group = None
                return
        self.cpu = max(self.cpu, self.group.seconds() or 0.0)
        self.samples.append((time.monotonic(), self.cpu))


class Step:
    def __init__(self, engine, step, options):
        self.engine, self.step, self.options = engine, step, options
        self.jobs = []

    def run(self):
        """The result, without what is not of the run itself."""
        for job in self.step["jobs"]:
            self.jobs.append(Running(job, create(self.engine, self.step, job, self.options.image, self.options.examples)))
        before = self.taken()
        begin, wall = time.monotonic(), time.time()
        self.follow(begin)
        spent = time.monotonic() - begin
        after = self.taken()
        self.check()
        jobs = [self.describe(running, wall) for running in self.jobs]
        others = max(0.0, after["busy"] - before["busy"] - sum(after[k] - before[k] for k in ("jobs", "flowcond", "bench")))
        return {"began": wall, "jobs": jobs, "makespan": round(max(job["finished"] for job in jobs), 3),
                "others": round(others / spent / os.cpu_count(), 4),
                "steal": round((after["stolen"] - before["stolen"]) / spent / os.cpu_count(), 4),
                "flowcond_cpu": round(after["flowcond"] - before["flowcond"], 3)}

    def taken(self):
        """CPU seconds so far, of the machine and of what is ours."""
        busy, stolen = machine.ticks()
        jobs = machine.CgroupCpu(self.options.cgroup).seconds() or 0.0
        times = os.times()
        return {"busy": busy, "stolen": stolen, "jobs": jobs, "bench": times.user + times.system,
                "flowcond": processes.fine_cpu_seconds(self.options.flowcond)}

    def follow(self, begin):
        told = looked = begin
        limit = SURE * self.step["expected"] + SPARE
        while not all(running.is_over for running in self.jobs):
            now = time.monotonic()
            for running in self.jobs:
                if not running.is_started and now - begin >= running.job["arrival"]:
                    self.engine.start(running.container)
                    running.is_started = True
                if running.is_started and not running.is_over:
                    running.look(self.options.cgroup)
            if now - looked >= 10 * LOOK:
                looked = now
                self.look_for_ends()
            if now - told >= TOLD:
                told = now
                self.tell(now - begin)
            if now - begin > limit:
                raise SystemExit(f"{self.step['id']} did not end within {limit:.0f} s")
            time.sleep(max(0.0, LOOK - (time.monotonic() - now)))

    def look_for_ends(self):
        filters = urllib.parse.quote(json.dumps({"label": [f"{LABEL}={self.step['id']}"], "status": ["exited", "dead"]}))
        ended = {one["Id"] for one in self.engine.call("GET", f"/containers/json?all=1&filters={filters}")}
        for running in self.jobs:
            running.is_over = running.container in ended

    def tell(self, elapsed):
        on = [running.job["name"] for running in self.jobs if running.is_started and not running.is_over]
        ended = sum(running.is_over for running in self.jobs)
        print(f"  {elapsed:>4.0f} s  {ended} of {len(self.jobs)} ended; running: {' '.join(on) or '-'}", flush=True)

    def check(self):
        for running in self.jobs:
            status = self.engine.inspect(running.container)["State"]["ExitCode"]
            if status != 0:
                tail = "\n".join(log_of(self.engine, running.container).splitlines()[-15:])
                raise SystemExit(f"{running.job['name']} failed with exit code {status}; its last lines:\n{tail}")

    def describe(self, running, wall):
        """Times count from the job's arrival, but for started and finished, which count from the run's begin."""
        job = running.job
        state = self.engine.inspect(running.container)["State"]
        started, finished = (seconds(state[key]) - wall for key in ("StartedAt", "FinishedAt"))
        losses = losses_of(log_of(self.engine, running.container), wall + job["arrival"], job["epochs"])
        if not losses:
            raise SystemExit(f"{job['name']} printed no loss")
        at_90 = first_at_90(losses)
        result = {**job, "started": round(started, 3), "finished": round(finished, 3),
                  "completion": round(finished - job["arrival"], 3), "t90": at_90[0] if at_90 else None,
                  "cpu": round(running.cpu, 3), "little": round(longest_little(running.samples, os.cpu_count()), 1), "losses": losses}
        if self.step["kind"] != "run":
            result["speed"] = speed_of(losses, finished - job["arrival"])
        return result
