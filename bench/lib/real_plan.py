# SPDX-License-Identifier: Apache-2.0
"""What bench/real and bench/real-cluster do, in which order: trainings, policies, steps. Pure: a plan and
the results that there are say what comes next.

A plan (plan.json) is {"kind": "host"|"cluster", "scale", "seed", "repeat", "again", "others", "policies",
"schedules": {name: {repetition: [job]}}, "hosts"}; a job {"name", "model", "arrival", "seconds"}, and in a
cluster "host", where it begins. Seconds are those of the bench, scaled. A step is {"id", "kind":
"probe"|"alone"|"run", "policy", "jobs": [{"name", "model", "arrival", "epochs", ...}]} and what else
says where it belongs.
"""
import csv
import math
import random
import typing

EPOCHS_LEAST = 2
START_SECONDS = 12  # around each run: engine, daemon, waiting for quiet

# A training behind it prints "epoch 3" where it printed "epoch 3/20".
UNCOUNTED = """import re, runpy, sys
write = sys.stdout.write
sys.stdout.write = lambda text: write(re.sub(r"(\\d+)/\\d+", r"\\1", text))
del sys.argv[0]
sys.path.insert(0, "/examples")
runpy.run_path(sys.argv[0], run_name="__main__")
"""

# What stands for each model of the schedules: script, arguments, and epochs that tell its speed. TensorFlow is
# not among Debian's packages; where it was published, the same training in another size stands for it.
TRAININGS = {
    "vae-pytorch": ("vae_digits.py", [], 16),
    "vae-tensorflow": ("vae_digits.py", ["--hidden", "512"], 32),
    "mnist-pytorch": ("cnn_digits.py", [], 6),
    "mnist-tensorflow": ("cnn_digits.py", ["--width", "32"], 12),
    "lstm-cfc": ("lstm_licences.py", [], 3),
    "lstm-crf": ("lstm_licences.py", ["--hidden", "48", "--batch", "32"], 4),
    "bi-rnn": ("birnn_words.py", [], 4),
    "gru": ("char_gru.py", [], 1),
}

WATCHES = ["dry-run=true"]
FLOWCON = ["policy=flowcon"]
MILESTONE = ["policy=milestone"]
PUBLISHED = FLOWCON + ["limit-mode=quota", "growth.estimator=paper", "growth.directed=false", "floor-all=false"]
STAYS = ["speculate=off", "rebalance=off", "rebalance-idle=off"]
MOVES = ["speculate=on", "rebalance=on", "rebalance-idle=on"]
# Between hosts alone: no limit on CPU, so that every job of a host is alike, as SpeCon has it.
NO_CPU = ["resources=memory"]


class Policy(typing.NamedTuple):
    """`options` of flowcond, `simulated`: its name in the simulator, `has_grid`: alpha and interval, `remembers`
    that each training has run alone, `counts`: the trainings print how far they go; else only their environment says so."""
    options: list
    simulated: str | None
    has_grid: bool = False
    remembers: bool = False
    counts: bool = True


HOST_POLICIES = {
    "free": Policy(WATCHES, "free"),
    "flowcon": Policy(PUBLISHED, "flowcon", has_grid=True),
    "flowcon-weight": Policy(FLOWCON, "flowcon-weight", has_grid=True),
    "milestone": Policy(MILESTONE, "milestone"),
    "milestone-remembers": Policy(MILESTONE, "milestone", remembers=True),
    "milestone-uncounted": Policy(MILESTONE, "milestone", counts=False),
}
CLUSTER_POLICIES = {
    "free": Policy(NO_CPU + STAYS, "free"),
    "specon": Policy(NO_CPU + MOVES, "specon"),
    "milestone": Policy(MILESTONE + STAYS, "milestone"),
    "specon-milestone": Policy(MILESTONE + MOVES, None),
    "balance": Policy(MILESTONE + MOVES + ["cluster-policy=balance"], "balance"),
}


def policies_of(kind):
    return CLUSTER_POLICIES if kind == "cluster" else HOST_POLICIES


def grid(kind, names, alphas, intervals):
    """Each policy, those that have them with every pair of alpha and interval: [{"id", "name", ...}]."""
    made = []
    for name in names:
        known = policies_of(kind)
        if name not in known:
            raise ValueError(f"there is no policy {name}; known: {', '.join(known)}")
        if not known[name].has_grid:
            made.append({"id": name, "name": name})
            continue
        made += [{"id": f"{name}-a{alpha:g}-i{interval:g}", "name": name, "alpha": alpha, "interval": interval}
                 for alpha in alphas for interval in intervals]
    return made


def command_of(model, policy):
    """What a training's container runs."""
    script, arguments, _ = TRAININGS[model]
    before = [] if HOST_POLICIES[policy["name"]].counts else ["-c", UNCOUNTED]
    return ["python3", *before, f"/examples/{script}", *arguments]


def scaled(seconds, scale):
    """An interval of flowcond's options; a second is the least that they take."""
    return round(max(1.0, seconds * scale), 3)


def daemon_options(plan, policy):
    """flowcond's options, "name=value", for a policy of grid()."""
    made = [*policies_of(plan["kind"])[policy["name"]].options, f"observe={scaled(5, plan['scale']):g}"]
    made.append(f"interval={scaled(policy.get('interval', 20), plan['scale']):g}")
    if "alpha" in policy:
        made.append(f"alpha={policy['alpha']:g}")
    if plan["kind"] == "cluster":
        made.append(f"categorise-interval={scaled(30, plan['scale']):g}")
    return made


def read_schedule(text, scale):
    """Jobs of a table of `flowcon-sim jobs`, with all times scaled."""
    return [{"name": row["job_id"], "model": row["model"], "arrival": round(float(row["arrival_s"]) * scale, 3),
             "seconds": round(float(row["duration_s"]) * scale, 3)} for row in csv.DictReader(text.splitlines())]


def place(jobs, hosts, start, seed):
    """On which host each begins, from 1: one after the other, or anywhere."""
    draw = random.Random(f"hosts {seed}")
    return [{**job, "host": (draw.randrange(hosts) if start == "random" else i % hosts) + 1}
            for i, job in enumerate(jobs)]


def models_of(plan):
    """Those that the schedules have, in the order of TRAININGS."""
    found = {job["model"] for repetitions in plan["schedules"].values() for jobs in repetitions.values() for job in jobs}
    return [model for model in TRAININGS if model in found]


def epochs_for(seconds, speed):
    """Epochs that take so many seconds alone. `speed` is {"startup", "per_epoch"} in seconds."""
    return max(EPOCHS_LEAST, round((seconds - speed["startup"]) / speed["per_epoch"]))


def longest(jobs, hosts=1):
    """About when the last of these jobs ends: each host works its jobs off, one by one."""
    ends = {}
    for i, job in enumerate(jobs):
        host = job.get("host", i % hosts)
        ends[host] = max(ends.get(host, 0.0), job["arrival"]) + job["seconds"]
    return max(ends.values())


def usual_seconds(plan, model):
    """What a job of that model takes on average in this plan."""
    found = [job["seconds"] for repetitions in plan["schedules"].values() for jobs in repetitions.values()
             for job in jobs if job["model"] == model]
    return sum(found) / len(found)


def run_id(schedule, repetition, policy):
    return f"{schedule}-r{repetition}-{policy['id']}".replace(" ", "-")


def calibration(plan, results):
    """The steps before all runs: how fast each training is, and, on a single host, each alone."""
    steps = []
    for number, model in enumerate(models_of(plan)):
        steps.append({"id": f"probe-{model}", "kind": "probe", "policy": {"id": "free", "name": "free"}, "expected": 10,
                      "jobs": [{"name": model, "model": model, "arrival": 0.0, "epochs": TRAININGS[model][2],
                                "host": number % plan.get("hosts", 1) + 1}]})
    if plan["kind"] == "cluster":
        return steps
    for model in models_of(plan):
        seconds = usual_seconds(plan, model)
        probe = results.get(f"probe-{model}")
        epochs = epochs_for(seconds, probe["jobs"][0]["speed"]) if probe else None
        steps.append({"id": f"alone-{model}", "kind": "alone", "policy": {"id": "free", "name": "free"},
                      "expected": seconds,
                      "jobs": [{"name": model, "model": model, "arrival": 0.0, "epochs": epochs}]})
    return steps


def speed_of(results, model):
    """The better of what is known: a whole run alone, else the probe. None before both."""
    for kind in ("alone", "probe"):
        result = results.get(f"{kind}-{model}")
        if result:
            return result["jobs"][0]["speed"]
    return None


def runs(plan, results):
    """All runs in order: in every other repetition the policies the other way round."""
    steps = []
    for repetition in range(1, plan["repeat"] + 1):
        order = plan["policies"] if repetition % 2 else plan["policies"][::-1]
        for schedule, repetitions in plan["schedules"].items():
            jobs = repetitions[str(repetition)]
            for policy in order:
                timed = [{**job, "epochs": epochs_for(job["seconds"], speed) if speed else None}
                         for job in jobs for speed in [speed_of(results, job["model"])]]
                steps.append({"id": run_id(schedule, repetition, policy), "kind": "run", "schedule": schedule,
                              "repetition": repetition, "policy": policy, "jobs": timed,
                              "expected": longest(jobs, plan.get("hosts", 1))})
    return steps


def steps_of(plan, results):
    return calibration(plan, results) + runs(plan, results)


def remaining(plan, results):
    """The steps that are left, in order: those never done, then those in which others were in the way."""
    steps = steps_of(plan, results)
    fresh = [step for step in steps if step["id"] not in results]
    spoilt = [step for step in steps if step["id"] in results and results[step["id"]]["disturbed"]
              and results[step["id"]].get("attempt", 1) <= plan["again"]]
    # Nothing can be sized before the trainings are timed.
    calibrates = [step for step in spoilt if step["kind"] != "run"]
    return [s for s in fresh if s["kind"] != "run"] + calibrates + [s for s in fresh if s["kind"] == "run"] \
        + [s for s in spoilt if s["kind"] == "run"]


def seconds_left(steps, pace=1.0):
    """About how long these steps take. `pace`: how much longer those before took than expected."""
    return sum(step["expected"] * pace + START_SECONDS for step in steps)


def pace_of(results):
    """Seconds that the runs so far took, over those that were expected of them."""
    done = [result for result in results.values() if result.get("expected") and result["kind"] == "run"]
    expected = math.fsum(result["expected"] for result in done)
    return math.fsum(result["makespan"] for result in done) / expected if expected else 1.0


def duration(seconds):
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min" if minutes else "1 min"
