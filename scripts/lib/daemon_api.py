#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/quickstart asks flowcond (docs/api.md).

    daemon_api.py SOCKET ready                     exit 0 once the daemon and its engine answer
    daemon_api.py SOCKET line SECONDS PREFIX [NAME...]
                                                   one line on how the jobs do; containers are
                                                   called PREFIX and the name
    daemon_api.py SOCKET collect FILE              a run, on stdin as JSON with the container ids,
                                                   completed with the histories, to FILE
"""
import http.client
import json
import socket
import sys

from digits import share_text


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, patience=10):
        super().__init__("flowcon", timeout=patience)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get(path, resource):
    connection = UnixConnection(path)
    try:
        connection.request("GET", resource)
        answer = connection.getresponse()
        body = json.loads(answer.read())
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise SystemExit(f"flowcond at {path}: {resource}: {error}") from error
    finally:
        connection.close()
    if answer.status != 200:
        raise SystemExit(f"flowcond at {path}: {resource}: {body.get('error', answer.status)}")
    return body


def number(value, form, unknown="-"):
    return format(value, form) if isinstance(value, (int, float)) else str(value or unknown)


def share(value):
    return share_text(value) if isinstance(value, (int, float)) else "-"


def one_job(name, job, has_lists):
    if job is None:
        return f"{name} -"
    progress = job.get("progress") or {}
    done = f" {share(progress['done'] / progress['total'])}" if progress.get("total") else ""
    place = f" {job['list']}" if has_lists else ""
    return (f"{name}{place} limit {share(job['limit'])} cpu {share(job['cpu'])} "
            f"{job['metric'] or 'no metric yet'} {number(job['value'], '.4g')}{done}")


def line(path, seconds, prefix, names):
    status = get(path, "/v1/status")
    jobs = {job["name"]: job for job in status["containers"]}
    has_lists = status["policy"] == "flowcon"
    parts = [one_job(name, jobs.get(prefix + name), has_lists) for name in names]
    print(f"  {seconds:>4} s  " + " | ".join(parts), flush=True)


def collect(path, file):
    run = json.load(sys.stdin)
    for job in run["jobs"]:
        job["history"] = get(path, f"/v1/containers/{job['container']}/history")
        if not job["history"]["samples"]:
            raise SystemExit(f"flowcond recorded no value of {job['name']}")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(run, out)


def main():
    match sys.argv[1:]:
        case [path, "ready"]:
            if not get(path, "/v1/status")["engine"]["reachable"]:
                raise SystemExit("flowcond does not reach the engine")
        case [path, "line", seconds, prefix, *names]:
            line(path, seconds, prefix, names)
        case [path, "collect", file]:
            collect(path, file)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
