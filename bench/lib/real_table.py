# SPDX-License-Identifier: Apache-2.0
"""The tables of bench/real and bench/real-cluster, in Markdown: every policy against free competition on the
same jobs, beside what was published and what the simulator says of these very jobs."""
import math
import statistics

from real_plan import policies_of, run_id

# What the publications have, against free competition or the static spread.
PUBLISHED = {
    ("fixed3", "flowcon"): "makespan −1…−5, third job −32",
    ("random5", "flowcon"): "best job −42, 4–5 of 5 improve",
    ("random10", "flowcon"): "best job −41, makespan −2.5, 9 of 10 improve",
    ("random15", "flowcon"): "makespan −1.5, 11 of 15 improve",
    ("specon-4x20-same", "specon"): "mean −14.7, best job −37.6, makespan −5.6",
    ("specon-4x20", "specon"): "mean −13.6, best job −31.6, makespan −24.7",
    ("specon-4x30", "specon"): "mean −5.9…−7.6, makespan −14.8…−16.4",
}
FIGURES = (("mean", "mean_completion_percent"), ("t90", "t90_percent"), ("makespan", "makespan_percent"),
           ("best", "best_job_percent"), ("worst", "worst_job_percent"), ("improved", "improved"))
UNEQUAL = 0.005  # a job has improved when it ends earlier than free by more than that


def percent(value, base):
    return 100 * (value / base - 1) if base else 0.0


def compared(free, other):
    """One run against the free one of the same jobs: percent, less is better."""
    by_name = {job["name"]: job for job in free["jobs"]}
    pairs = [(by_name[job["name"]], job) for job in other["jobs"]]
    changes = [percent(b["completion"], a["completion"]) for a, b in pairs]
    both_90 = [(a["t90"], b["t90"]) for a, b in pairs if a["t90"] is not None and b["t90"] is not None]
    return {"mean": percent(sum(b["completion"] for _, b in pairs), sum(a["completion"] for a, _ in pairs)),
            "t90": percent(sum(b for _, b in both_90), sum(a for a, _ in both_90)) if both_90 else 0.0,
            "makespan": percent(other["makespan"], free["makespan"]), "best": min(changes), "worst": max(changes),
            "improved": float(sum(change < -100 * UNEQUAL for change in changes)),
            "moves": sum(move["step"] == "done" for move in other.get("moves", [])) / len(pairs)}


def figure(values):
    """Mean and standard error; no error of one value."""
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return statistics.fmean(values), error


def shown(values, digits=1):
    if not values:
        return "–"
    mean, error = figure(values)
    text = f"{mean:.{digits}f}".replace("-", "−")
    text = text if float(f"{mean:.{digits}f}") else f"{0:.{digits}f}"
    return text if error is None else f"{text} ± {error:.{digits}f}"


def cpu_ratio(result, alone):
    """CPU time of the jobs, over what the same work takes a job that has the host for itself."""
    wanted = [(job, alone[job["model"]]) for job in result["jobs"] if job["model"] in alone]
    work = sum(one["cpu_startup"] + one["cpu_per_epoch"] * job["epochs"] for job, one in wanted)
    return sum(job["cpu"] for job, _ in wanted) / work if work else None


def alone_of(results):
    """By model, of the runs alone: seconds and CPU seconds to begin with and for each epoch, and cores used."""
    found = {}
    for result in results.values():
        if result["kind"] != "alone":
            continue
        job = result["jobs"][0]
        speed = job["speed"]
        cores = job["cpu"] / job["completion"]
        found[job["model"]] = {"startup": speed["startup"], "per_epoch": speed["per_epoch"], "cores": cores,
                               "cpu_startup": speed["startup"] * cores, "cpu_per_epoch": speed["per_epoch"] * cores,
                               "epochs": job["epochs"], "losses": job["losses"], "completion": job["completion"]}
    return found


def usable(results, schedule, repetition, policy):
    """The result, where there is one in which nothing else was in the way."""
    result = results.get(run_id(schedule, repetition, policy))
    return result if result and not result["disturbed"] else None


def pairs_of(plan, results, schedule, policy, any_will_do=False):
    """(repetition, free, other) of the repetitions that count."""
    free_policy = next(one for one in plan["policies"] if one["name"] == "free")
    for repetition in range(1, plan["repeat"] + 1):
        if any_will_do:
            free, other = (results.get(run_id(schedule, repetition, one)) for one in (free_policy, policy))
        else:
            free, other = (usable(results, schedule, repetition, one) for one in (free_policy, policy))
        if free and other:
            yield repetition, free, other


def title_of(policy):
    if "alpha" not in policy:
        return policy["name"]
    return f"{policy['name']}, α {policy['alpha']:g}, {policy['interval']:g} s"


def row(plan, results, predicted, schedule, policy, alone, any_will_do):
    pairs = list(pairs_of(plan, results, schedule, policy, any_will_do))
    measured = [compared(free, other) for _, free, other in pairs]
    predictions = [predicted[key] for r, _, _ in pairs for key in [(schedule, r, policy["id"])] if key in predicted]
    cells = [title_of(policy), str(len(pairs)), *(shown([one[name] for one in measured]) for name, _ in FIGURES)]
    if plan["kind"] == "cluster":
        cells.append(shown([one["moves"] for one in measured], 2))
    else:
        ratios = [ratio for _, _, other in pairs for ratio in [cpu_ratio(other, alone)] if ratio]
        cells.append(shown(ratios, 2))
        little = [job["little"] for _, _, other in pairs for job in other["jobs"] if "little" in job]
        cells.append(f"{max(little):.0f} s" if little else "–")
    cells += [shown([one[name] for one in predictions]) for _, name in FIGURES[:3]]
    cells.append(PUBLISHED.get((schedule.split(" ")[0], policy["name"]), ""))
    return cells


def markdown(rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def absolute(plan, results, schedule, any_will_do):
    """Seconds of the free runs, that percents are of."""
    policy = next(one for one in plan["policies"] if one["name"] == "free")
    free = [run for _, run, _ in pairs_of(plan, results, schedule, policy, any_will_do)]
    means = [statistics.fmean(job["completion"] for job in run["jobs"]) for run in free]
    return (f"Free competition: mean {shown(means)} s, makespan {shown([run['makespan'] for run in free])} s, "
            f"{len(free[0]['jobs'])} jobs.") if free else "No free run yet."


def together(plan, results):
    """Every policy over all schedules and repetitions in which nothing was in the way: what a default is chosen
    by, and its price."""
    rows = [["", "n", "mean", "time to 90 %", "makespan", "worst job of all", "share of jobs improved"]]
    for policy in plan["policies"]:
        measured = [(compared(free, other), len(other["jobs"])) for schedule in plan["schedules"]
                    for _, free, other in pairs_of(plan, results, schedule, policy)]
        if not measured:
            continue
        worst, jobs = max(one["worst"] for one, _ in measured), sum(count for _, count in measured)
        rows.append([title_of(policy), str(len(measured)), *(shown([one[name] for one, _ in measured]) for name, _ in FIGURES[:3]),
                     shown([worst]), f"{sum(one['improved'] for one, _ in measured) / jobs:.0%}"])
    return rows


def contention_of(results, alone):
    """What one further sharer costs, as `flowcon-sim --contention` has it: from the free runs, by their CPU
    time over that alone, and how many jobs there were on average. None where nothing can be said."""
    found = []
    for result in results.values():
        if result["kind"] != "run" or result["policy"]["name"] != "free" or result["disturbed"]:
            continue
        ratio = cpu_ratio(result, alone)
        together = sum(job["completion"] for job in result["jobs"]) / result["makespan"]
        if ratio and together > 1.2:
            found.append((ratio - 1) / (together - 1))
    return statistics.fmean(found) if found else None


def left_out(plan, results, schedule):
    runs = [one for one in results.values() if one["kind"] == "run" and one.get("schedule") == schedule]
    spoilt = sum(bool(one["disturbed"]) for one in runs)
    wanted = plan["repeat"] * len(plan["policies"])
    words = [f"{len(runs)} of {wanted} runs done"] if len(runs) < wanted else []
    if spoilt:
        words.append(f"{spoilt} left out: other programs took more than {100 * plan['others']:.0f} % of the CPU "
                     f"(or it was stolen)")
    return "; ".join(words)


def table(plan, results, predicted, setup):
    """All of it. `predicted`: (schedule, repetition, policy's id) -> what flowcon-sim says."""
    alone = alone_of(results)
    last = ["migrations a job"] if plan["kind"] == "cluster" else ["CPU of alone", "longest below 1 %"]
    head = ["", "n", "mean", "time to 90 %", "makespan", "best job", "worst job", "improved", *last,
            "mean, simulated", "90 %, simulated", "makespan, simulated", "published"]
    parts = [f"{setup['machine']}; {setup['date']}; commit {setup['commit']}; {setup['version']}.",
             f"Percent against free competition on the same jobs, mean ± standard error over {plan['repeat']} "
             f"repetition{'s' if plan['repeat'] > 1 else ''}; less is better. All times of the schedules times {plan['scale']:g}."]
    for schedule in plan["schedules"]:
        # Where nothing was undisturbed a table of what there is, and it says so.
        is_clean = any(list(pairs_of(plan, results, schedule, policy)) for policy in plan["policies"])
        rows = [row(plan, results, predicted, schedule, policy, alone, not is_clean) for policy in plan["policies"]]
        parts += [f"### {schedule}", markdown([head, *rows]), absolute(plan, results, schedule, not is_clean)]
        if not is_clean and any(one.get("schedule") == schedule for one in results.values()):
            parts.append("**Other programs were in the way in every run: these numbers say nothing.**")
        elif left_out(plan, results, schedule):
            parts.append(left_out(plan, results, schedule).capitalize() + ".")
    summary = together(plan, results)
    if len(plan["schedules"]) > 1 and len(summary) > 1:
        parts += ["### All schedules together", markdown(summary)]
    contention = contention_of(results, alone)
    if contention is not None:
        parts.append(f"Contention in the free runs, as `--contention` of flowcon-sim: {contention:.3f} "
                     f"(simulated above with {plan.get('contention', 0):g}).")
    return "\n\n".join(parts) + "\n"


# --- what the simulator is given ------------------------------------------------------------------


def work_of(job, alone, host_cores):
    """Duration alone and cores of a job, for the simulator: measured alone where it was, else its CPU time
    in the run itself."""
    one = alone.get(job["model"])
    if one is None:
        return job["cpu"] / host_cores, host_cores, 0.0
    duration = one["startup"] + one["per_epoch"] * job["epochs"]
    return duration, one["cores"], min(0.9, one["startup"] / duration)


def simulator_input(jobs, alone, host_cores, remembers):
    """The table of jobs and that of their curves, for `flowcon-sim run`. `jobs` are those of a free run: a
    training prints the same losses whenever it runs."""
    rows, points = ["job_id,model,arrival_s,duration_s,cores,lines,noise,warmup,curve_id,host"], ["curve_id,step,metric,value"]

    def add(name, model, arrival, duration, cores, warmup, losses, host):
        rows.append(f"{name},{model},{arrival:g},{duration:.4f},{min(cores, host_cores):.4f},{len(losses)},0,{warmup:.4f},{name},{host}")
        # What a step prints is there when the step is done: the curve begins one step before its first line.
        # A curve has five values at least.
        points.extend(f"{name},0,loss,{losses[0][2]:g}" for _ in range(max(1, 5 - len(losses))))
        points.extend(f"{name},{step:g},loss,{loss:g}" for _, step, loss in losses)

    if remembers:
        for model, one in alone.items():
            duration = one["startup"] + one["per_epoch"] * one["epochs"]
            add(f"before-{model}", model, -1, duration, one["cores"], min(0.9, one["startup"] / duration), one["losses"], "")
    for job in jobs:
        duration, cores, warmup = work_of(job, alone, host_cores)
        add(job["name"], job["model"], job["arrival"], duration, cores, warmup, job["losses"], job.get("host", ""))
    return "\n".join(rows) + "\n", "\n".join(points) + "\n"


def simulator_words(plan, policy):
    """Options of `flowcon-sim run` for a policy; None where the simulator has none that is it."""
    known = policies_of(plan["kind"])[policy["name"]]
    if known.simulated is None:
        return None
    name = known.simulated
    scale = plan["scale"]
    words = ["--policy", name if name == "free" else f"free,{name}", "--format", "json",
             "--interval", f"{max(1.0, policy.get('interval', 20) * scale):g}", "--observe", f"{max(1.0, 5 * scale):g}",
             "--hosts", str(plan.get("hosts", 1)), "--cores", f"{plan['cores']:g}",
             "--contention", f"{plan.get('contention', 0):g}"]
    if plan["kind"] == "cluster":
        words += ["--categorise-interval", f"{max(1.0, 30 * scale):g}", "--rebalance-idle"]
    return words + (["--alpha", f"{policy['alpha']:g}"] if "alpha" in policy else [])
