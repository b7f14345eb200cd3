# SPDX-License-Identifier: Apache-2.0
"""watch_tasks.py GROUP LAB HOST...: says when two containers of one name run, or two attempts of one job.

GROUP is the lab's control group, LAB its folder. As with watch.py the kernel is asked which containers have a process;
names and environments are what the engines have written. Jobs are called WORD-NUMBER, their tasks WORD-NUMBER-TASK. It
goes on until it is ended.
"""
import json
import re
import signal
import sys
import time

from watch import folder_of, running

NAME = re.compile(r"/(\w+-\d+)(-\w+)?")


class Tasks:
    """What is known of containers: a container's name and environment stay the same."""

    def __init__(self, lab):
        self.lab = lab
        self.known = {}

    def of(self, host, container):
        """Job, task and attempt; None where it is nobody's task, or can't be read yet."""
        if (host, container) not in self.known:
            try:
                with open(f"{self.lab}/{host}/pid", encoding="utf-8") as file:
                    root = f"/proc/{file.read().strip()}/root"
                with open(f"{root}/var/lib/docker/containers/{container}/config.v2.json", encoding="utf-8") as file:
                    config = json.load(file)
            except (OSError, ValueError):
                return None
            name = NAME.fullmatch(config["Name"])
            attempts = [text for text in config["Config"]["Env"] or [] if text.startswith("FLOWCON_ATTEMPT=")]
            self.known[host, container] = name and (name[1], name[0], attempts[-1] if attempts else "")
        return self.known[host, container]


def clashes(found, tasks):
    """Pairs of containers that may not run at once, out of (host, container) that do."""
    by_job = {}
    for host, container in sorted(found):
        task = tasks.of(host, container)
        if task:
            by_job.setdefault(task[0], []).append((host, container, task[1], task[2]))
    for job in by_job.values():
        for i, first in enumerate(job):
            for second in job[:i]:
                if first[2] == second[2] or first[3] != second[3]:
                    yield second, first


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    hosts = sys.argv[3:]
    folders = {host: f"{folder_of(sys.argv[1])}/{host}" for host in hosts}
    tasks = Tasks(sys.argv[2])

    def look():
        return {(host, container) for host in hosts for container in running(folders[host])}

    said = set()
    while True:
        first = look()
        # Those that ran before and after the others were looked at ran beside them.
        still = first & look()
        for one, other in clashes(still, tasks):
            if (one, other) not in said:
                said.add((one, other))
                at = time.strftime("%H:%M:%S")
                print(f"{at} {one[2]} {one[3]} on {one[0]} beside {other[2]} {other[3]} on {other[0]}", flush=True)
        time.sleep(0.1)


main()
