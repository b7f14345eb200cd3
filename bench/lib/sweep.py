#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What estimates of a sweep were worth, for bench/sweep.

    sweep.py held-out SIM PROFILES COUNT SEED   estimates COUNT of the profiles from the others
    sweep.py next JOBS PROFILES                 what jobs asked for, beside what they needed
"""
import json
import random
import re
import subprocess
import sys

OPTIONS = ("batch", "width", "workers")


def options_of(features):
    return tuple(int(features.get(f"arg.{name}", -1)) for name in OPTIONS)


def r_squared(pairs):
    mean = sum(real for _, real in pairs) / len(pairs)
    spread = sum((real - mean) ** 2 for _, real in pairs)
    return 1 - sum((real - expected) ** 2 for expected, real in pairs) / spread if spread > 0 else float("nan")


def held_out(sim, path, count, seed):
    with open(path, encoding="utf-8") as file:
        profiles = json.load(file)
    random.Random(seed).shuffle(profiles)
    asked, history = profiles[:count], profiles[count:]
    state = {"quantile": 0.9, "seed": 1, "history": history,
             "jobs": [{"id": str(i), "family": one["family"], "key": one["key"], "features": one["features"]}
                      for i, one in enumerate(asked)]}
    done = subprocess.run([sim, "decide", "estimate"], input=json.dumps(state), capture_output=True, text=True, check=True)
    answers = {one["id"]: one["labels"] for one in json.loads(done.stdout)["jobs"]}
    print(f"{len(asked)} runs estimated from {len(history)}")
    for label in ("cpu_seconds", "mem"):
        pairs, above = [], 0
        for i, one in enumerate(asked):
            said = answers[str(i)].get(label)
            if said is None or said["expected"] is None or label not in one["labels"]:
                continue
            pairs.append((said["expected"], one["labels"][label]))
            above += one["labels"][label] > said["upper"]
        reals = sorted(real for _, real in pairs)
        print(f"{label}: {reals[0]:.3g} to {reals[-1]:.3g}, R² {r_squared(pairs):.3f}, "
              f"{100 * above / len(pairs):.0f} % above the upper value ({above} of {len(pairs)})")


def following(jobs_path, path):
    with open(path, encoding="utf-8") as file:
        needed = {options_of(one["features"]): one["labels"].get("mem", 0) for one in json.load(file)}
    with open(jobs_path, encoding="utf-8") as file:
        jobs = json.load(file)
    killed = [job["name"] for job in jobs if any("killed for memory" in step["note"] for step in job["steps"])]
    failed = [job["name"] for job in jobs if job["state"] != "done"]
    sources, above = {}, 0
    for job in jobs:
        key = tuple(int(re.search(rf"--{name} (\d+)", job["command"]).group(1)) for name in OPTIONS)
        sources[job["request"]["mem_from"]] = sources.get(job["request"]["mem_from"], 0) + 1
        above += needed.get(key, 0) > job["request"]["mem"]
    print(f"{len(jobs)} more, memory asked for by {sources}: {above} used more, killed for memory: "
          f"{', '.join(killed) or 'none'}, failed: {', '.join(failed) or 'none'}")


if __name__ == "__main__":
    if sys.argv[1] == "held-out":
        held_out(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        following(sys.argv[2], sys.argv[3])
