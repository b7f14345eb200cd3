#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of bench/real and bench/real-cluster that are not the shell's.

    real.py plan FOLDER --sim PROGRAM [--kind host|cluster] [...]   make or widen FOLDER/plan.json, say how long
                                                                    it takes
    real.py next FOLDER              the next step: its id, what the daemon remembers (fresh, kept, copy), its
                                     options; nothing when all is done
    real.py run FOLDER ID [...]      do that step on one engine, write FOLDER/runs/ID.json
    real.py take FOLDER ID FILE      the same of what cluster_watch.py saw
    real.py table FOLDER --sim PROGRAM     FOLDER/table.md and the figures from what there is
"""
import argparse
import contextlib
import datetime
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

import machine
import real_plan
import real_plot
import real_results
import real_table

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What cannot change once there are results.
FIXED = ("kind", "scale", "seed", "cores", "hosts", "machine", "image")
QUIET = 0.1  # share of the CPU that may be in use before a run begins


def listed(text):
    return [word for word in text.split(",") if word]


def numbers(text):
    return [float(word) for word in listed(text)]


def schedule_jobs(options, name, repetition):
    """The jobs of "random10" or, in a cluster, "specon-4x20 random", from the simulator."""
    words = name.split(" ")
    done = subprocess.run([options.sim, "jobs", words[0], "--seed", str(options.seed + repetition - 1)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    jobs = real_plan.read_schedule(done.stdout, options.scale)[:options.jobs or None]
    if options.kind == "cluster":
        jobs = real_plan.place(jobs, options.hosts, words[1] if len(words) > 1 else "balanced", options.seed + repetition - 1)
    return jobs


def make_plan(options):
    try:
        policies = real_plan.grid(options.kind, listed(options.policies), numbers(options.alpha), numbers(options.interval))
    except ValueError as error:
        raise SystemExit(str(error)) from error
    if "free" not in [policy["name"] for policy in policies]:
        raise SystemExit("without the policy free there is nothing to compare with")
    schedules = {name: {str(r): schedule_jobs(options, name, r) for r in range(1, options.repeat + 1)}
                 for name in listed(options.schedules)}
    return {"kind": options.kind, "scale": options.scale, "seed": options.seed, "repeat": options.repeat,
            "again": options.again, "others": options.others, "patience": options.patience, "cores": options.cores,
            "hosts": options.hosts, "contention": options.contention, "policies": policies, "schedules": schedules,
            "machine": machine.describe(), "image": options.image}


def plan(options):
    made = make_plan(options)
    path = real_results.plan_file(options.folder)
    done = real_results.results(options.folder)
    if done:
        if not os.path.exists(path):
            raise SystemExit(f"{options.folder} has results, and no plan.json that says of what; take another folder")
        before = real_results.read(path)
        for key in FIXED:
            if before[key] != made[key]:
                raise SystemExit(f"{options.folder} has results with {key} {before[key]}, not {made[key]}; take another folder")
    real_results.write(path, made)
    steps = real_plan.remaining(made, done)
    for schedule in made["schedules"]:
        runs = [step for step in steps if step.get("schedule") == schedule]
        print(f"{schedule}: {len(runs)} runs to do, about {real_plan.duration(real_plan.seconds_left(runs))}")
    total = real_plan.duration(real_plan.seconds_left(steps, real_plan.pace_of(done)))
    print(f"{len(done)} steps are done, {len(steps)} to do: about {total} in all", flush=True)


def begun(folder):
    return real_results.read(real_results.plan_file(folder)), real_results.results(folder)


def next_step(options):
    made, done = begun(options.folder)
    steps = real_plan.remaining(made, done)
    if not steps:
        return
    step = steps[0]
    total = len(real_plan.steps_of(made, done))
    left = real_plan.duration(real_plan.seconds_left(steps, real_plan.pace_of(done)))
    print(f"\n== {total - len(steps) + 1} of {total}: {step['id']}; about {left} left", file=sys.stderr, flush=True)
    remembers = real_plan.policies_of(made["kind"])[step["policy"]["name"]].remembers
    memory = "kept" if step["kind"] == "alone" else "copy" if remembers else "fresh"
    print("\t".join([step["id"], memory, *real_plan.daemon_options(made, step["policy"])]))


def step_of(folder, name):
    made, done = begun(folder)
    return made, next(step for step in real_plan.steps_of(made, done) if step["id"] == name)


def reasons(made, result):
    """Why a run does not count; empty where it does."""
    found = []
    if result["others"] > made["others"]:
        found.append(f"other programs took {result['others']:.1%} of the CPU")
    if result["steal"] > made["others"]:
        found.append(f"{result['steal']:.1%} of the CPU was stolen")
    return found


def keep(folder, made, step, result, about):
    result = {"id": step["id"], "kind": step["kind"], "policy": step["policy"], "schedule": step.get("schedule"),
              "repetition": step.get("repetition"), "expected": step["expected"], "scale": made["scale"],
              "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), **about, **result}
    result["disturbed"] = reasons(made, result)
    real_results.save(folder, result)
    mean = sum(job["completion"] for job in result["jobs"]) / len(result["jobs"])
    print(f"  mean {mean:.1f} s, makespan {result['makespan']:.1f} s; others {result['others']:.1%} of the CPU"
          + "".join(f"; DOES NOT COUNT: {reason}" for reason in result["disturbed"]), flush=True)


def run(options):
    from engine_http import Engine  # noqa: E402
    from real_host import Step, remove_all
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    made, step = step_of(options.folder, options.id)
    engine = Engine(options.engine)
    remove_all(engine)
    about = {"quiet": machine.wait_for_quiet(QUIET, made["patience"]), "machine": made["machine"],
             "commit": machine.commit(TOP), "version": options.version}
    try:
        keep(options.folder, made, step, Step(engine, step, options).run(), about)
    finally:
        remove_all(engine)


def take(options):
    made, step = step_of(options.folder, options.id)
    seen = real_results.read(options.file)
    about = {"quiet": seen.pop("quiet"), "machine": made["machine"], "commit": machine.commit(TOP), "version": options.version}
    keep(options.folder, made, step, seen, about)


def predict(made, done, sim):
    """What flowcon-sim says of each policy on the jobs of each free run, as they were measured."""
    alone = real_table.alone_of(done)
    predicted = {}
    for result in done.values():
        if result["kind"] != "run" or result["policy"]["name"] != "free":
            continue
        for policy in made["policies"]:
            words = real_table.simulator_words(made, policy)
            if words is None:
                continue
            run = done.get(real_plan.run_id(result["schedule"], result["repetition"], policy), {})
            stops = [move["stopped_seconds"] for move in run.get("moves", []) if move.get("stopped_seconds")]
            if stops:
                words += ["--move-seconds", f"{statistics.median(stops):g}"]
            remembers = real_plan.policies_of(made["kind"])[policy["name"]].remembers
            jobs, curves = real_table.simulator_input(result["jobs"], alone, made["cores"], remembers)
            predicted[result["schedule"], result["repetition"], policy["id"]] = ask(sim, jobs, curves, words)
    return predicted


def ask(sim, jobs, curves, words):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("jobs.csv", jobs), ("curves.csv", curves)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sim, "run", os.path.join(folder, "jobs.csv"), "--curves", os.path.join(folder, "curves.csv"),
                               *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.strip())
    return json.loads(done.stdout)[-1]


def table(options):
    made, done = begun(options.folder)
    if not any(result["kind"] == "run" for result in done.values()):
        raise SystemExit("there is no run yet")
    last = max(done.values(), key=lambda result: result["date"])
    text = real_table.table(made, done, predict(made, done, options.sim), last)
    with open(os.path.join(options.folder, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    figures = {}
    for schedule in made["schedules"]:
        name = schedule.replace(" ", "-")
        figures[f"{name}-completion.svg"] = real_plot.completions(made, done, schedule, 1)
        for policy in made["policies"]:
            first = done.get(real_plan.run_id(schedule, 1, policy))
            if first:
                figures[f"{name}-loss-{policy['id']}.svg"] = real_plot.losses(first)
    for name, svg in figures.items():
        if svg:
            with open(os.path.join(options.folder, name), "w", encoding="utf-8") as file:
                file.write(svg)
    print(text)
    print(f"table: {options.folder}/table.md; {sum(map(bool, figures.values()))} figures beside it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name, act, *words):
        sub = commands.add_parser(name)
        sub.set_defaults(act=act)
        sub.add_argument("folder")
        for word in words:
            sub.add_argument(word)
        return sub

    sub = command("plan", plan)
    sub.add_argument("--kind", choices=("host", "cluster"), default="host")
    for name in ("sim", "schedules", "policies", "alpha", "interval", "image"):
        sub.add_argument("--" + name, required=True)
    for name, kind in (("scale", float), ("cores", float), ("others", float), ("patience", float), ("contention", float),
                       ("seed", int), ("repeat", int), ("again", int), ("hosts", int), ("jobs", int)):
        sub.add_argument("--" + name, type=kind, required=True)
    command("next", next_step)
    sub = command("run", run, "id")
    for name in ("engine", "cgroup", "image", "examples", "version"):
        sub.add_argument("--" + name, required=True)
    sub.add_argument("--flowcond", type=int, required=True)
    command("take", take, "id", "file").add_argument("--version", required=True)
    command("table", table).add_argument("--sim", required=True)
    options = parser.parse_args()
    with contextlib.suppress(KeyboardInterrupt):
        options.act(options)
        return
    sys.exit(130)


if __name__ == "__main__":
    main()
