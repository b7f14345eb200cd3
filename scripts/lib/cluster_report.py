#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the report of scripts/cluster-demo from the records of cluster_watch.py.

    cluster_report.py DATA REPORT      DATA/setup.json, DATA/off.json, DATA/on.json -> the table on
                                       stdout, REPORT/summary.json and REPORT/index.html
"""
import json
import os
import sys

from report import change, mean, percent, seconds, wrapped
from report_html import COLOURS, LEFT, STYLE, Plot, change_cell, definitions, esc, legend, seconds_cell

TITLES = {"off": "Where they arrived", "on": "With SpeCon"}
FOOTNOTE = ("Completion: from a job's arrival to its end, migrations included. Makespan: first arrival to "
            "last end. Best: the job that gained most. Migrated: converged containers that SpeCon migrated; "
            "rebalanced: containers that it migrated to even out the load. Change: on against off, less is "
            "better. SpeCon counts each container as progressing (PC), watched (WC: its growth fell) or converged "
            "(CC), and a host's score is 2, 1.5 or 1 for each: a converged container goes to the host of the lowest.")
NOTHING_MOVED = ("SpeCon migrated nothing in this run, so both runs did the same and the change is chance: no container had "
                 "converged while another host had less to do. More work helps: scripts/cluster-demo --work 2.")
LANE = 16  # of the drawing, in its own units


def completion(job):
    return job["finished"] - job["started"]


def makespan(run):
    return max(job["finished"] for job in run["jobs"]) - min(job["started"] for job in run["jobs"])


def count_moves(run, cause):
    return sum(move["step"] == "done" and move["cause"] == cause for move in run["moves"])


def summarise(setup, runs):
    off, on = runs.get("off"), runs.get("on")
    by_name = {mode: {job["name"]: completion(job) for job in run["jobs"]} for mode, run in runs.items()}
    names = [job["name"] for job in next(iter(runs.values()))["jobs"]]
    jobs = []
    for name in names:
        a, b = (by_name.get(mode, {}).get(name) for mode in ("off", "on"))
        jobs.append({"name": name, "off": a, "on": b, "change": change(a, b)})
    known = [job for job in jobs if job["change"] is not None]
    averages = {mode: mean([job[mode] for job in jobs]) for mode in ("off", "on")}
    spans = {"off": makespan(off) if off else None, "on": makespan(on) if on else None}
    return {"setup": setup, "jobs": jobs,
            "mean": {**averages, "change": change(averages["off"], averages["on"])},
            "makespan": {**spans, "change": change(spans["off"], spans["on"])},
            "best": min(known, key=lambda job: job["change"]) if known else None,
            "moved": {mode: count_moves(run, "speculate") for mode, run in runs.items()},
            "rebalanced": {mode: count_moves(run, "rebalance") for mode, run in runs.items()},
            "undone": {mode: sum(move["step"] == "undone" for move in run["moves"]) for mode, run in runs.items()},
            "note": NOTHING_MOVED if on and not any(move["step"] == "done" for move in on["moves"]) else "",
            "definitions": FOOTNOTE, "runs": list(runs.values())}


def rows_of(summary):
    rows = [(job["name"], job) for job in summary["jobs"]] + [("mean", summary["mean"]), ("makespan", summary["makespan"])]
    if summary["best"]:
        rows.append((f"best ({summary['best']['name']})", summary["best"]))
    return rows


def text_table(summary):
    rows = [["JOB", "SPECON OFF", "ON", "CHANGE"]]
    rows += [[name, seconds(one["off"]), seconds(one["on"]), percent(one["change"])] for name, one in rows_of(summary)]
    for words in ("moved", "rebalanced", "undone"):
        rows.append([{"moved": "migrated", "rebalanced": "rebalanced", "undone": "undone migrations"}[words]] +
                    [str(summary[words].get(mode, "-")) for mode in ("off", "on")] + [""])
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    return "\n".join("".join(cell.ljust(widths[i]) if i == 0 else "   " + cell.rjust(widths[i])
                             for i, cell in enumerate(row)).rstrip() for row in rows)


def colour_of(name, kinds):
    return COLOURS[kinds.index(name.split("-")[0]) % len(COLOURS)]


def lanes_of(stays):
    """Each stay gets the first lane of its host that is free."""
    free, placed = [], []
    for stay in sorted(stays, key=lambda one: one[1]):
        lane = next((i for i, until in enumerate(free) if until <= stay[1]), len(free))
        free[lane:lane + 1] = [stay[2]]
        placed.append((lane, *stay))
    return placed, max(len(free), 1)


def gantt(run, span, kinds):
    """A band for each host, in it a bar for each job as long as it was there."""
    zero = min(job["started"] for job in run["jobs"])
    bands = []
    for host in run["hosts"]:
        stays = [(job["name"], start - zero, end - zero) for job in run["jobs"]
                 for where, start, end in job["stays"] if where == host]
        bands.append((host, *lanes_of(stays)))
    total = sum(lanes for _, _, lanes in bands) + len(bands)
    plot = Plot(span, LANE * total + 6, f"{TITLES[run['mode']]}: which job ran on which host, over time")
    plot.axes([])
    row = 0
    for host, placed, lanes in bands:
        top, bottom = 1 - row / total, 1 - (row + lanes) / total
        plot.parts.append(f'<text x="{LEFT - 6}" y="{plot.y((top + bottom) / 2) + 4:.1f}" text-anchor="end">{esc(host)}</text>')
        plot.line([(0, bottom - 0.5 / total), (span, bottom - 0.5 / total)], "var(--rule)", host)
        for lane, name, start, end in placed:
            high = 1 - (row + lane + 0.08) / total
            low = 1 - (row + lane + 0.92) / total
            plot.box(start, end, low, high, colour_of(name, kinds), f"{name} on {host}, {start:.0f} to {end:.0f} s")
            if plot.x(end) - plot.x(start) > 7 * len(name):
                plot.parts.append(f'<text x="{plot.x(start) + 3:.1f}" y="{plot.y((low + high) / 2) + 4:.1f}" '
                                  f'style="fill:var(--card)">{esc(name)}</text>')
        row += lanes + 1
    return plot.svg()


def table(summary):
    rows = "".join(f'<tr><th scope="row">{esc(name)}</th>{seconds_cell(one["off"])}{seconds_cell(one["on"])}'
                   f'{change_cell(one["change"])}</tr>' for name, one in rows_of(summary))
    for key, words in (("moved", "Migrated"), ("rebalanced", "Rebalanced"), ("undone", "Undone migrations")):
        cells = "".join(f"<td>{summary[key].get(mode, '–')}</td>" for mode in ("off", "on"))
        rows += f'<tr><th scope="row">{words}</th>{cells}<td></td></tr>'
    head = "".join(f'<th scope="col">{words}</th>' for words in ("Job", "SpeCon off", "on", "change"))
    return f'<div class="scroll"><table><caption>Completion, seconds</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def page(summary):
    runs, setup = summary["runs"], summary["setup"]
    kinds = list(dict.fromkeys(job["name"].split("-")[0] for job in summary["jobs"]))
    span = max(makespan(run) for run in runs)
    boxes = "".join(f'<div class="card"><h3>{TITLES[run["mode"]]}</h3>{gantt(run, span, kinds)}</div>' for run in runs)
    note = f'<p><strong>{esc(summary["note"])}</strong></p>' if summary["note"] else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>docker flowcon: cluster report</title><style>{STYLE}</style></head><body><main>
<h1>{len(summary["jobs"])} trainings on {len(runs[0]["hosts"])} hosts, with SpeCon and without it</h1>
<p class="quiet">{esc(setup.get("date", ""))} · {esc(setup.get("machine", ""))}</p>
<div class="card" style="margin-top:16px">{table(summary)}{note}<p class="quiet">{esc(summary["definitions"])}</p></div>
<h2>Which job ran where</h2><p class="quiet">A band for each host, a bar for each job as long as it was there. A job that
moved has a bar on each of its hosts.</p><div class="pair">{boxes}</div>
{legend([(COLOURS[i % len(COLOURS)], kind) for i, kind in enumerate(kinds)])}
<h2>How it was made</h2><div class="card">{definitions(setup.get("facts", []))}</div>
<p class="quiet">The same jobs, data and seeds arrive at the same moments in both runs. The numbers are in
summary.json beside this file.</p>
</main></body></html>
"""


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    data, report = sys.argv[1:]
    with open(os.path.join(data, "setup.json"), encoding="utf-8") as file:
        setup = json.load(file)
    runs = {}
    for mode in ("off", "on"):
        if os.path.exists(os.path.join(data, mode + ".json")):
            with open(os.path.join(data, mode + ".json"), encoding="utf-8") as file:
                runs[mode] = json.load(file)
    if not runs:
        raise SystemExit("cluster_report: no run in the data")
    summary = summarise(setup, runs)
    os.makedirs(report, exist_ok=True)
    with open(os.path.join(report, "summary.json"), "w", encoding="utf-8") as file:
        json.dump(summary, file, indent=1)
        file.write("\n")
    with open(os.path.join(report, "index.html"), "w", encoding="utf-8") as file:
        file.write(page(summary))
    print(text_table(summary))
    for text in (summary["note"], summary["definitions"]):
        if text:
            print("\n" + wrapped(text, 96))


if __name__ == "__main__":
    main()
