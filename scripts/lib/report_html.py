# SPDX-License-Identifier: Apache-2.0
"""The page of scripts/quickstart: one HTML file with drawings inside, nothing loaded from anywhere.

page(summary, runs) is all that report.py calls; both are described there.
"""
import html
import math

from digits import share_text

COLOURS = ("var(--job-1)", "var(--job-2)", "var(--job-3)", "var(--job-4)", "var(--job-5)")
LISTS = {"NL": "new or still learning", "WL": "watched, slower", "CL": "converged"}
TITLES = {"free": "Free competition", "flowcon": "Under FlowCon"}
WIDTH, LEFT, RIGHT = 560, 44, 20
MOST_POINTS = 500

STYLE = """
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2430; --quiet: #5b6675; --rule: #d9dee6;
  --job-1: #0a66c2; --job-2: #c2570a; --job-3: #13805c; --job-4: #8a3ab9; --job-5: #7a6a00;
  --nl: #dcefe4; --wl: #fbeecb; --cl: #e4e4ee; --good: #13703f; --bad: #ab2d1c; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161c; --card: #1a2029; --ink: #e6eaf0; --quiet: #9aa6b5; --rule: #313a47;
  --job-1: #6cb2ff; --job-2: #ff9f5a; --job-3: #4fd1a1; --job-4: #cf96f5; --job-5: #d6c34c;
  --nl: #1e3a2c; --wl: #463a16; --cl: #2c2e42; --good: #63d695; --bad: #ff8f7d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 26px; line-height: 1.2; margin: 0 0 6px; }
h2 { font-size: 18px; margin: 34px 0 10px; }
h3 { font-size: 14px; margin: 0 0 6px; }
p { margin: 6px 0; max-width: 80ch; }
.quiet { color: var(--quiet); font-size: 13px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin-top: 14px; }
@media (max-width: 900px) { .pair { grid-template-columns: 1fr; } }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); font-size: 13px; padding-bottom: 6px; }
th, td { text-align: right; padding: 6px 10px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { font-weight: 600; } thead th { color: var(--quiet); font-size: 13px; }
tr > :first-child { text-align: left; } .group { text-align: center; }
tbody tr:last-child > * { border-bottom: 0; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 10px 0 0; padding: 0; list-style: none; font-size: 13px; }
.legend i { display: inline-block; width: 14px; height: 10px; border-radius: 2px; margin-right: 6px; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--quiet); font-size: 11px; font-family: inherit; }
svg .axis { stroke: var(--rule); stroke-width: 1; } svg .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; margin: 0; font-size: 13px; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
details > summary { cursor: pointer; }
@media (max-width: 560px) { main { padding: 16px 8px 40px; } .card { padding: 8px; } table { font-size: 11px; }
  th, td { padding: 4px 2px; } thead th { font-size: 11px; } tr > :first-child { white-space: normal; }
  svg text { font-size: 15px; } }
@media print { :root { color-scheme: light; --page: #ffffff; --card: #ffffff; --ink: #000000; --quiet: #404040; --rule: #b0b0b0; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 11px; } main { max-width: none; padding: 0; } .pair { grid-template-columns: 1fr; }
  .card, tr { break-inside: avoid-page; } .scroll { overflow: visible; } h2, h3 { break-after: avoid-page; } }
"""


def esc(value):
    return html.escape(str(value), quote=True)


def thinned(points):
    """At most MOST_POINTS of them, the first and the last always."""
    step = max(1, math.ceil(len(points) / MOST_POINTS))
    return points[::step] + ([points[-1]] if points and (len(points) - 1) % step else [])


class Plot:
    """A drawing with time to the right; y is 0..1 from the bottom to the top of `height`."""

    def __init__(self, span, height, label):
        self.span, self.height, self.parts = max(span, 1.0), height, []
        self.head = (f'<svg viewBox="0 0 {WIDTH} {height + 30}" role="img" '
                     f'aria-label="{esc(label)}"><title>{esc(label)}</title>')

    def x(self, t):
        return LEFT + (WIDTH - LEFT - RIGHT) * min(max(t / self.span, 0), 1)

    def y(self, share):
        return 6 + (self.height - 6) * (1 - min(max(share, 0), 1))

    def axes(self, ticks):
        for share, label in ticks:
            y = self.y(share)
            self.parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
                              f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{esc(label)}</text>')
        step = next((s for s in (5, 10, 20, 30, 60, 120, 300, 600) if self.span / s <= 8), 1200)
        for i in range(int(self.span // step) + 1):
            x = self.x(i * step)
            self.parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{self.height}" y2="{self.height + 4}"/>'
                              f'<text x="{x:.1f}" y="{self.height + 18}" text-anchor="middle">{i * step} s</text>')

    def line(self, points, colour, title, extra=""):
        if points:
            path = " ".join(f"{self.x(t):.1f},{self.y(v):.1f}" for t, v in points)
            self.parts.append(f'<polyline class="line" points="{path}" stroke="{colour}" {extra}>'
                              f'<title>{esc(title)}</title></polyline>')

    def area(self, points, colour, title):
        """Points are (time, low, high)."""
        if points:
            up = [f"{self.x(t):.1f},{self.y(high):.1f}" for t, _, high in points]
            down = [f"{self.x(t):.1f},{self.y(low):.1f}" for t, low, _ in reversed(points)]
            self.parts.append(f'<polygon points="{" ".join(up + down)}" fill="{colour}" '
                              f'fill-opacity="0.75"><title>{esc(title)}</title></polygon>')

    def box(self, start, end, low, high, colour, title):
        self.parts.append(f'<rect shape-rendering="crispEdges" x="{self.x(start):.1f}" y="{self.y(high):.1f}" '
                          f'width="{max(self.x(end) - self.x(start), 0):.1f}" '
                          f'height="{self.y(low) - self.y(high):.1f}" fill="{colour}"><title>{esc(title)}</title></rect>')

    def text(self, t, share, words, anchor="start"):
        self.parts.append(f'<text x="{self.x(t) + (4 if anchor == "start" else -4):.1f}" '
                          f'y="{self.y(share):.1f}" text-anchor="{anchor}">{esc(words)}</text>')

    def mark(self, t, share, colour, title):
        self.parts.append(f'<circle cx="{self.x(t):.1f}" cy="{self.y(share):.1f}" r="4" fill="{colour}" '
                          f'stroke="var(--card)" stroke-width="1.5"><title>{esc(title)}</title></circle>')

    def svg(self):
        return self.head + "".join(self.parts) + "</svg>"


def start_of(run):
    return min(job["started"] for job in run["jobs"])


def values_of(history):
    return [(t, v) for t, v in history["samples"] if isinstance(v, (int, float)) and math.isfinite(v)]


def ranges(free):
    """First and best value of each job in the free run: the scale of both drawings."""
    found = []
    for job in free["jobs"]:
        values = [v for _, v in values_of(job["history"])] or [0.0]
        best = max(values) if job["history"]["goal"] == "max" else min(values)
        found.append((values[0], best))
    return found


def loss_plot(run, scales, measured, span):
    plot = Plot(span, 220, f"{TITLES[run['mode']]}: remaining improvement of each job, over time")
    plot.axes([(0, "0 %"), (0.1, "10 %"), (0.5, "50 %"), (1, "100 %")])
    zero = start_of(run)
    for i, job in enumerate(run["jobs"]):
        first, best = scales[i]
        width = (first - best) or 1.0
        points = [(t - zero, (v - best) / width) for t, v in values_of(job["history"])]
        plot.line(thinned(points), COLOURS[i % len(COLOURS)], f"{job['title']}: {job['history']['metric']} from {first:.4g} to {best:.4g}")
        reached = measured["jobs"][i]["learnt_90"][run["mode"]]
        if reached is not None:
            plot.mark(job["started"] - zero + reached, 0.1, COLOURS[i % len(COLOURS)],
                      f"{job['name']}: 90 % learnt {reached:.1f} s after its start")
    return plot.svg()


def use_at(job, t):
    """CPU share in the sample that covers `t`: the first one at or after it, while the job ran."""
    if t < job["started"] or t > job["finished"]:
        return 0.0
    for when, cpu, *_ in job["history"]["usage"]:
        if when >= t:
            return cpu or 0.0
    return 0.0


def cpu_plot(run, span):
    plot = Plot(span, 150, f"{TITLES[run['mode']]}: share of the host's CPU that each job used, over time")
    plot.axes([(0, "0 %"), (0.5, "50 %"), (1, "100 %")])
    zero = start_of(run)
    step = max(span / MOST_POINTS, 0.25)
    below = [(i * step, 0.0) for i in range(int(span / step) + 1)]
    for i, job in enumerate(run["jobs"]):
        stacked = [(t, low, low + use_at(job, zero + t)) for t, low in below]
        plot.area(stacked, COLOURS[i % len(COLOURS)], f"{job['title']}: share of the host's CPU")
        below = [(t, high) for t, _, high in stacked]
    return plot.svg()


def has_lists(run):
    """Whether lists decided its limits; under the other policies they only say what has converged."""
    return run["policy"] == "flowcon"


def limit_plot(run, span):
    """A row for each job: its limit as a step line, a band for each decision, in the colour of its list if
    lists decide."""
    jobs = run["jobs"]
    row = 64
    what = ("limits that FlowCon would have set" if run["mode"] == "free" else
            "limits and lists" if has_lists(run) else "limits")
    plot = Plot(span, row * len(jobs) + 6, f"{TITLES[run['mode']]}: {what}, over time")
    plot.axes([])
    zero = start_of(run)
    for i, job in enumerate(jobs):
        base, top = 1 - (i + 0.9) / len(jobs), 1 - (i + 0.1) / len(jobs)
        shares = lambda limit: base + (top - base) * limit  # noqa: E731
        colour, end = COLOURS[i % len(COLOURS)], job["finished"] - zero
        decisions = [(max(d[0], job["started"]) - zero, d[1], d[2], d[3]) for d in job["history"]["decisions"]
                     if d[0] <= job["finished"]]
        line = []
        for n, (t, name, limit, growth) in enumerate(decisions):
            until = decisions[n + 1][0] if n + 1 < len(decisions) else end
            band, said = "transparent", f"limit {share_text(limit)}"
            if has_lists(run):
                known = "not measured" if not isinstance(growth, (int, float)) else f"{100 * growth:.4g} %/s"
                band, said = f"var(--{name.lower()})", f"{name}, {said}, growth {known}"
            plot.box(t, until, base, top, band, f"{job['name']}, {t:.0f}-{until:.0f} s: {said}")
            line += [(t, shares(limit)), (until, shares(limit))]
        plot.line(line, colour, f"limit of {job['title']}", 'pointer-events="none"')
        plot.parts.append(f'<text x="{LEFT - 6}" y="{plot.y((base + top) / 2) + 4:.1f}" text-anchor="end">{esc(job["name"])}</text>')
        for share, label in ((top, "100 %"), (base, "0")):
            plot.text(min(end, span), share - (0.02 if share == top else 0), label)
    return plot.svg()


def change_cell(value):
    if value is None:
        return "<td>–</td>"
    kind = "good" if value < -0.005 else "bad" if value > 0.005 else ""
    return f'<td class="{kind}">{100 * value:+.1f} %</td>'


def seconds_cell(value):
    return "<td>–</td>" if value is None else f"<td>{value:.1f}</td>"


def cells(pair):
    return seconds_cell(pair["free"]) + seconds_cell(pair["flowcon"]) + change_cell(pair["change"])


def table(measured, caption, averages=None):
    rows = [f'<tr><th scope="row">{esc(j["title"])}</th>{cells(j["completion"])}{cells(j["learnt_90"])}</tr>'
            for j in measured["jobs"]]
    if averages:
        rows.append(f'<tr><th scope="row">Mean</th>{cells(averages["completion"])}{cells(averages["learnt_90"])}</tr>')
    rows.append(f'<tr><th scope="row">Makespan</th>{cells(measured["makespan"])}<td></td><td></td><td></td></tr>')
    half = '<th scope="col">free</th><th scope="col">FlowCon</th><th scope="col">change</th>'
    return (f'<div class="scroll"><table><caption>{esc(caption)}</caption><thead>'
            '<tr><td></td><th class="group" scope="colgroup" colspan="3">Completion</th>'
            '<th class="group" scope="colgroup" colspan="3">90 % learnt</th></tr>'
            f'<tr><th scope="col">Job</th>{half}{half}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>')


def legend(entries):
    return '<ul class="legend">' + "".join(
        f'<li><i style="background:{colour}"></i>{esc(words)}</li>' for colour, words in entries) + "</ul>"


def round_section(measured, free, flowcon):
    runs = (free, flowcon)
    span = max(max(j["finished"] for j in run["jobs"]) - start_of(run) for run in runs)
    scales = ranges(free)
    lists = has_lists(flowcon)
    limits = "Limits and lists" if lists else "Limits"
    parts = []
    for heading, note, draw in (
            ("Loss", "What is left to learn: 100 % at a job's first value, 0 % at the best one of the "
             "free run. The dot is where 90 % is learnt.", lambda run: loss_plot(run, scales, measured, span)),
            ("CPU share", "Of the whole host, stacked.", lambda run: cpu_plot(run, span)),
            (limits, "The line is a job's limit, 0 to 100 %" + ("; the band is its list" if lists else "") +
             ". In the free run the limits were computed and not set.", lambda run: limit_plot(run, span))):
        boxes = "".join(f'<div class="card"><h3>{TITLES[run["mode"]]}</h3>{draw(run)}</div>' for run in runs)
        parts.append(f'<h2>{heading}</h2><p class="quiet">{esc(note)}</p><div class="pair">{boxes}</div>')
        if lists and heading == limits:
            parts.append(legend([(f"var(--{k.lower()})", f"{k}, {v}") for k, v in LISTS.items()]))
        else:
            parts.append(legend([(COLOURS[i % len(COLOURS)], j["title"]) for i, j in enumerate(free["jobs"])]))
    return "".join(parts)


def definitions(pairs):
    return "<dl>" + "".join(f"<dt>{esc(k)}</dt><dd>{esc(v)}</dd>" for k, v in pairs) + "</dl>"


def page(summary, runs):
    setup = summary["setup"]
    by_key = {(run["round"], run["mode"]): run for run in runs}
    sections = []
    for n, measured in enumerate(summary["rounds"]):
        body = round_section(measured, by_key[measured["round"], "free"], by_key[measured["round"], "flowcon"])
        if len(summary["rounds"]) == 1:
            sections.append(body)
        else:
            own = table(measured, f"Round {measured['round']}")
            sections.append(f'<details{" open" if n == 0 else ""}><summary><h2 style="display:inline-block">'
                            f'Round {measured["round"]}</h2></summary><div class="card">{own}</div>{body}</details>')
    rounds = len(summary["rounds"])
    caption = "Seconds" if rounds == 1 else f"Seconds, means of {rounds} rounds"
    count = len(summary["jobs"])
    warning = f'<p class="bad" role="note">{esc(summary["warning"])}</p>' if summary["warning"] else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>docker flowcon: quickstart report</title><style>{STYLE}</style></head><body><main>
<h1>{count} trainings share a host, freely and under FlowCon</h1>
<p class="quiet">{esc(setup.get("date", ""))} · {esc(setup.get("machine", ""))}</p>
<div class="card" style="margin-top:16px">{table(summary, caption, summary["mean"])}
<p class="quiet">{esc(summary["definitions"])}</p>{warning}</div>
{"".join(sections)}
<h2>How it was made</h2><div class="card">{definitions(setup.get("facts", []))}</div>
<p class="quiet">The same containers, data and seeds in both runs, so a job's loss by step is the same;
only the CPU time it gets differs. The numbers are in summary.json beside this file.</p>
</main></body></html>
"""
