#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the report of scripts/quickstart from what it recorded.

    report.py DATA REPORT      DATA/setup.json and DATA/run-*.json -> the table on stdout,
                               REPORT/summary.json and REPORT/index.html

A run is {"round", "mode": "free"|"flowcon", "policy", "busy", "jobs": [{"name", "title", "started",
"finished", "exit_code", "history"}]}; policy is flowcond's, history what its API gives (docs/api.md),
busy the share of the machine's CPU time that was not idle.
"""
import glob
import json
import math
import os
import sys

import report_html

FOOTNOTE = ("90 % learnt: seconds from a job's start until the least loss it has printed (for a "
            "score: the largest) has made 90 % of its total improvement, first value to best value "
            "in the free run of the same job and round. Completion: seconds from a job's start to "
            "its end. Makespan: first start to last end. Change: FlowCon against free, less is "
            "better.")


# Above this share the machine was not the jobs' own, and the report says so.
MOST_OTHERS = 0.1


def finite(samples):
    """Time and value of the samples that are numbers; JSON has words for the others."""
    return [(t, v) for t, v in samples if isinstance(v, (int, float)) and math.isfinite(v)]


def running_best(samples, goal):
    """The best value so far at each sample."""
    best, curve = None, []
    for t, v in finite(samples):
        if best is None or (v < best if goal != "max" else v > best):
            best = v
        curve.append((t, best))
    return curve


def target_of(history):
    """The value at 90 % of the total improvement, or None where nothing improved."""
    curve = running_best(history["samples"], history["goal"])
    if not curve or curve[0][1] == curve[-1][1]:
        return None
    first, best = curve[0][1], curve[-1][1]
    return first + 0.9 * (best - first)


def time_to(history, target, started):
    """Seconds from `started` until the running best reaches `target`, or None."""
    if target is None:
        return None
    for t, best in running_best(history["samples"], history["goal"]):
        if (best >= target) if history["goal"] == "max" else (best <= target):
            return t - started
    return None


def change(free, flowcon):
    """Relative change, -0.25 for a quarter less; None where either is missing."""
    return None if not free or flowcon is None else flowcon / free - 1


def mean(values):
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def compared(free, flowcon):
    return {"free": free, "flowcon": flowcon, "change": change(free, flowcon)}


def measure_round(free, flowcon):
    """Both runs of one round, side by side."""
    jobs = []
    for a, b in zip(free["jobs"], flowcon["jobs"]):
        target = target_of(a["history"])
        jobs.append({
            "name": a["name"], "title": a["title"],
            "completion": compared(a["finished"] - a["started"], b["finished"] - b["started"]),
            "learnt_90": compared(time_to(a["history"], target, a["started"]),
                                  time_to(b["history"], target, b["started"])),
            "target_value": target,
            "metric": a["history"]["metric"],
        })
    makespan = compared(*(max(j["finished"] for j in run["jobs"]) -
                          min(j["started"] for j in run["jobs"]) for run in (free, flowcon)))
    return {"round": free["round"], "jobs": jobs, "makespan": makespan}


def others_share(run):
    """Share of the machine's CPU time that went to other programs than the jobs during the run."""
    start, end = (f(j[key] for j in run["jobs"]) for f, key in ((min, "started"), (max, "finished")))
    used = 0.0
    for job in run["jobs"]:
        before = job["started"]
        for t, cpu, *_ in job["history"]["usage"]:
            used += (cpu or 0.0) * max(t - before, 0.0)
            before = t
    return max(0.0, run["busy"] - used / (end - start))


def over_rounds(rounds, pick):
    return compared(mean([pick(r)["free"] for r in rounds]), mean([pick(r)["flowcon"] for r in rounds]))


def summarise(setup, runs):
    """Means over the rounds, and each round as it was."""
    numbers = sorted({run["round"] for run in runs})
    by_key = {(run["round"], run["mode"]): run for run in runs}
    rounds = [measure_round(by_key[n, "free"], by_key[n, "flowcon"]) for n in numbers
              if (n, "free") in by_key and (n, "flowcon") in by_key]
    if not rounds:
        raise SystemExit("report: no complete round in the data")
    jobs = []
    for i, job in enumerate(rounds[0]["jobs"]):
        jobs.append({"name": job["name"], "title": job["title"],
                     "completion": over_rounds(rounds, lambda r, i=i: r["jobs"][i]["completion"]),
                     "learnt_90": over_rounds(rounds, lambda r, i=i: r["jobs"][i]["learnt_90"])})
    averages = {key: compared(mean([j[key]["free"] for j in jobs]),
                              mean([j[key]["flowcon"] for j in jobs]))
                for key in ("completion", "learnt_90")}
    others = {mode: mean([others_share(run) for run in runs if run["mode"] == mode])
              for mode in ("free", "flowcon")}
    return {"setup": setup, "jobs": jobs, "mean": averages, "others_cpu": others,
            "warning": busy_warning(others),
            "makespan": over_rounds(rounds, lambda r: r["makespan"]),
            "definitions": FOOTNOTE, "rounds": rounds}


def busy_warning(others):
    """A sentence where other programs were in the way, else an empty one."""
    if max(others.values()) <= MOST_OTHERS:
        return ""
    return (f"Other programs took {100 * others['free']:.0f} % of this machine's CPU time in the free "
            f"run and {100 * others['flowcon']:.0f} % under FlowCon, so the changes say little. "
            "Repeat it on a quiet machine.")


def seconds(value):
    return "-" if value is None else f"{value:.1f} s"


def percent(value):
    return "-" if value is None else f"{100 * value:+.1f} %"


def text_table(summary):
    """The table that quickstart ends with."""
    head = ["", "completion", "", "", "90 % learnt", "", ""]
    rows = [["JOB", "FREE", "FLOWCON", "CHANGE", "FREE", "FLOWCON", "CHANGE"]]
    for job in summary["jobs"] + [{"name": "mean", **summary["mean"]}]:
        rows.append([job["name"]] + [cell for key in ("completion", "learnt_90") for cell in (
            seconds(job[key]["free"]), seconds(job[key]["flowcon"]), percent(job[key]["change"]))])
    span = summary["makespan"]
    rows.append(["makespan", seconds(span["free"]), seconds(span["flowcon"]),
                 percent(span["change"]), "", "", ""])
    widths = [max(len(row[i]) for row in rows) for i in range(7)]
    lines = ["".join(cell.ljust(widths[i]) if i == 0 else "   " + cell.rjust(widths[i])
                     for i, cell in enumerate(row)).rstrip() for row in rows]
    left = widths[0] + 3
    middle = left + sum(widths[1:4]) + 9
    lines.insert(0, (" " * left + head[1]).ljust(middle) + head[4])
    return "\n".join(lines)


def wrapped(text, width):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join(lines + [line])


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    data, report = sys.argv[1:]
    with open(os.path.join(data, "setup.json"), encoding="utf-8") as file:
        setup = json.load(file)
    runs = []
    for path in sorted(glob.glob(os.path.join(data, "run-*.json"))):
        with open(path, encoding="utf-8") as file:
            runs.append(json.load(file))
    summary = summarise(setup, runs)
    os.makedirs(report, exist_ok=True)
    with open(os.path.join(report, "summary.json"), "w", encoding="utf-8") as file:
        json.dump(summary, file, indent=1)
        file.write("\n")
    with open(os.path.join(report, "index.html"), "w", encoding="utf-8") as file:
        file.write(report_html.page(summary, runs))
    print(text_table(summary))
    print()
    print(wrapped(summary["definitions"], 96))
    if summary["warning"]:
        print()
        print(wrapped("WARNING: " + summary["warning"], 96))


if __name__ == "__main__":
    main()
