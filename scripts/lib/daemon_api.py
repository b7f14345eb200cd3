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


def one_job(name, job):
    if job is None:
        return f"{name} -"
    progress = job.get("progress") or {}
    done = f" {100 * progress['done'] / progress['total']:.0f}%" if progress.get("total") else ""
    return (f"{name} {job['list']} limit {number(job['limit'], '.2f')} cpu {number(job['cpu'], '.0%')} "
            f"{job['metric'] or 'no metric yet'} {number(job['value'], '.4g')}{done}")


def line(path, seconds, prefix, names):
    status = get(path, "/v1/status")
    jobs = {job["name"]: job for job in status["containers"]}
    parts = [one_job(name, jobs.get(prefix + name)) for name in names]
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
