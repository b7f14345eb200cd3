#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the hosts of scripts/cluster-demo while jobs arrive, run, move and end.

    cluster_watch.py MODE JOBS SECONDS FILE HOST=ENGINE_SOCKET...

Ends when JOBS jobs have ended, after SECONDS at the latest, and writes to FILE: {"mode", "hosts",
"jobs": [{"name", "started", "finished", "exit_code", "stays": [[host, from, until], ...]}], "moves":
[...]}. Times are seconds since the epoch. A job that has ended is one whose only copy has ended, with
no move of it under way.
"""
import datetime
import http.client
import json
import sys
import time
import urllib.parse

from daemon_api import UnixConnection

LOOK = 1.0  # seconds
SURE = 3  # looks in a row that see it ended
NO_TIME = "0001"  # how the engine writes a time that there is not


def get(path, resource):
    connection = UnixConnection(path)
    try:
        connection.request("GET", resource)
        answer = connection.getresponse()
        return json.loads(answer.read()) if answer.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def seconds(text):
    """An engine's time, "2026-01-02T03:04:05.123456789Z"."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.datetime.fromisoformat(whole + "+00:00").timestamp() + float("0." + (fraction or "0"))


def flowcon_socket(engine):
    return engine.replace("/run/docker.sock", "/run/flowcon/flowcon.sock")


class Watch:
    def __init__(self, hosts):
        self.hosts, self.jobs, self.moves, self.ended, self.states = hosts, {}, {}, {}, {}
        self.earlier = {move["id"] for engine in hosts.values() for move in self.moves_of(engine)}

    @staticmethod
    def moves_of(engine):
        return (get(flowcon_socket(engine), "/v1/cluster") or {}).get("moves", [])

    def look(self):
        seen = {}
        for host, engine in self.hosts.items():
            for one in get(engine, "/containers/json?all=1") or []:
                name = one["Names"][0].lstrip("/")
                seen.setdefault(name, []).append(one["State"])
                self.look_at(host, engine, one["Id"], name, one["State"])
            for move in self.moves_of(engine):
                if move["side"] == "source" and move["id"] not in self.earlier:
                    self.moves[move["id"]] = move
        on_the_move = {move["name"] for move in self.moves.values() if not move["ended"]}
        for name, states in seen.items():
            is_over = len(states) == 1 and states[0] == "exited" and name not in on_the_move
            self.ended[name] = self.ended.get(name, 0) + 1 if is_over else 0

    def look_at(self, host, engine, container, name, state):
        # An engine of half a core is asked for details only when something has changed.
        if self.states.get(container) == state:
            if state == "running":
                self.jobs[name]["stays"][host + container][2] = time.time()
            return
        details = (get(engine, f"/containers/{urllib.parse.quote(container)}/json") or {}).get("State")
        if details is None or details["StartedAt"].startswith(NO_TIME):
            return
        self.states[container] = details["Status"]
        job = self.jobs.setdefault(name, {"name": name, "started": seconds(details["StartedAt"]), "stays": {}})
        until = time.time() if details["Running"] else seconds(details["FinishedAt"])
        job["stays"][host + container] = [host, seconds(details["StartedAt"]), until]
        job["last"] = (engine, container)
        if not details["Running"]:
            job["finished"], job["exit_code"] = until, details["ExitCode"]

    def is_over(self, count):
        return sum(n >= SURE for n in self.ended.values()) >= count

    def result(self):
        """What was seen. SystemExit where a job did not end well."""
        jobs = [{**{key: value for key, value in job.items() if key != "last"},
                 "stays": sorted(job["stays"].values(), key=lambda stay: stay[1])} for job in self.jobs.values()]
        failed = [job["name"] for job in jobs if job["exit_code"] != 0]
        if failed:
            raise SystemExit(f"failed: {', '.join(failed)}")
        return {"hosts": list(self.hosts), "jobs": sorted(jobs, key=lambda job: job["started"]),
                "moves": list(self.moves.values())}

    def line(self, begin):
        places = {host: [] for host in self.hosts}
        for name, job in sorted(self.jobs.items()):
            host, _, until = max(job["stays"].values(), key=lambda stay: stay[1])
            if time.time() - until < 2 * LOOK and self.ended.get(name, 0) == 0:
                places[host].append(name)
        print(f"  {time.time() - begin:>4.0f} s  " + " | ".join(f"{host}: {' '.join(names) or '-'}" for host, names in places.items())
              + f" | {sum(move['step'] == 'done' for move in self.moves.values())} migrated", flush=True)


def main():
    mode, count, longest, file, *places = sys.argv[1:]
    watch = Watch(dict(place.split("=", 1) for place in places))
    begin = told = time.time()
    while not watch.is_over(int(count)):
        if time.time() - begin > float(longest):
            raise SystemExit(f"not all jobs have ended after {longest} s")
        time.sleep(LOOK)
        watch.look()
        if time.time() - told >= 15:
            told = time.time()
            watch.line(begin)
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"mode": mode, **watch.result()}, out)


if __name__ == "__main__":
    main()
