# SPDX-License-Identifier: Apache-2.0
"""Figures of bench/real as SVG files of their own, drawn like those of the quickstart's report."""
import re

from real_plan import run_id
from report_html import LEFT, RIGHT, WIDTH, Plot, esc, thinned

STYLE = """<style>svg{background:#fff;font-family:system-ui,"Liberation Sans",sans-serif}
text{fill:#5b6675;font-size:11px}.axis{stroke:#d9dee6}.line{fill:none;stroke-width:1.6;stroke-linejoin:round}</style>"""
COLOURS = ("#0a66c2", "#c2570a", "#13805c", "#8a3ab9", "#7a6a00", "#ab2d1c", "#2a8a9e", "#555555")
LANE = 14


def standalone(plot):
    """The plot as a file: its namespace and its colours with it."""
    svg = plot.svg().replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    svg = re.sub(r"var\(--card\)", "#fff", svg)
    return svg.replace("</title>", "</title>" + STYLE, 1) + "\n"


def legend(plot, names, y):
    """Below the drawing."""
    x = LEFT
    for i, name in enumerate(names):
        width = 24 + 6 * len(name)
        if x + width > WIDTH - RIGHT:
            x, y = LEFT, y + LANE
        plot.parts.append(f'<rect x="{x}" y="{y - 8}" width="10" height="8" fill="{COLOURS[i % len(COLOURS)]}"/>'
                          f'<text x="{x + 14}" y="{y}">{esc(name)}</text>')
        x += width
    return y + LANE


def grown(plot, names):
    """The drawing with a legend below it."""
    end = legend(plot, names, plot.height + 36)
    plot.head = re.sub(r'viewBox="0 0 (\S+) \S+"', rf'viewBox="0 0 \1 {end}"', plot.head, count=1)
    return plot


def completions(plan, results, schedule, repetition):
    """A band for each job, in it a bar for each policy as long as the job took. None where runs are missing."""
    runs = [(policy, results.get(run_id(schedule, repetition, policy))) for policy in plan["policies"]]
    runs = [(policy, run) for policy, run in runs if run]
    if not runs:
        return None
    jobs = runs[0][1]["jobs"]
    times = {policy["id"]: {job["name"]: job["completion"] for job in run["jobs"]} for policy, run in runs}
    span = max(max(by_name.values()) for by_name in times.values())
    rows = len(jobs) * (len(runs) + 1)
    plot = Plot(span, 6 * rows + 6, f"{schedule}, repetition {repetition}: seconds from arrival to end, by job and policy")
    plot.axes([])
    for n, job in enumerate(jobs):
        at = n * (len(runs) + 1)
        for i, (policy, _) in enumerate(runs):
            took = times[policy["id"]][job["name"]]
            plot.box(0, took, 1 - (at + i + 1) / rows, 1 - (at + i) / rows, COLOURS[i % len(COLOURS)],
                     f"{job['name']}, {policy['id']}: {took:.1f} s")
        middle = plot.y(1 - (at + len(runs) / 2) / rows) + 4
        plot.parts.append(f'<text x="{LEFT - 4}" y="{middle:.1f}" text-anchor="end" style="font-size:8px">{esc(short(job["name"]))}</text>')
    return standalone(grown(plot, [policy["id"] for policy, _ in runs]))


def short(name):
    """What fits left of the axis."""
    kind, _, number = name.rpartition("-")
    words = kind.split("-")
    return f"{words[0][:5]} {number}"


def losses(run):
    """What each job of a run still had to learn, over time."""
    span = run["makespan"]
    plot = Plot(span, 220, f"{run['id']}: what each job still has to learn, over time")
    plot.axes([(0, "0 %"), (0.1, "10 %"), (0.5, "50 %"), (1, "100 %")])
    for i, job in enumerate(run["jobs"]):
        first, least = job["losses"][0][2], min(loss for _, _, loss in job["losses"])
        width = (first - least) or 1.0
        points = [(job["arrival"] + t, (loss - least) / width) for t, _, loss in job["losses"]]
        plot.line(thinned(points), COLOURS[i % len(COLOURS)], f"{job['name']}: from {first:.4g} to {least:.4g}")
        if job["t90"] is not None:
            plot.mark(job["arrival"] + job["t90"], 0.1, COLOURS[i % len(COLOURS)], f"{job['name']}: 90 % after {job['t90']:.1f} s")
    return standalone(grown(plot, [job["name"] for job in run["jobs"]]))
