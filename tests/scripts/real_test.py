#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parts of bench/real and of the demos' reports that only compute: plan, resume, what logs say, tables, figures. No engine,
no daemon.

usage: real_test.py
"""

import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.dom.minidom

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "bench/lib"), os.path.join(TOP, "scripts/lib")]
sys.dont_write_bytecode = True
import cluster_report  # noqa: E402
import cluster_watch  # noqa: E402
import daemon_api  # noqa: E402
import digits  # noqa: E402
import real_host  # noqa: E402
import real_logs as logs  # noqa: E402
import real_plan as plan  # noqa: E402
import real_plot as plot  # noqa: E402
import real_results as results  # noqa: E402
import real_table as table  # noqa: E402
import report  # noqa: E402
import report_html  # noqa: E402

SCHEDULE = """job_id,model,arrival_s,duration_s,cores,lines,noise,warmup
vae-pytorch-1,vae-pytorch,0,300,8,100,0.01,0.03
gru-2,gru,40,200,6,90,0.02,0.03
"""
FREE, OURS = {"id": "free", "name": "free"}, {"id": "milestone", "name": "milestone"}


def a_plan(**changes):
    jobs = plan.read_schedule(SCHEDULE, 0.1)
    return {"kind": "host", "scale": 0.1, "seed": 1, "repeat": 2, "again": 1, "others": 0.05, "cores": 2, "hosts": 1,
            "contention": 0, "policies": [FREE, OURS], "schedules": {"fixed3": {"1": jobs, "2": jobs}}, **changes}


def a_result(step, ends, disturbed=(), **changes):
    """As of a run whose jobs end then, counted from its begin; each learns 90 % in half of its time."""
    jobs = []
    for job, end in zip(step["jobs"], ends):
        took = end - job["arrival"]
        jobs.append({**job, "epochs": job["epochs"] or 4, "started": job["arrival"], "finished": end, "completion": took,
                     "t90": took / 2, "cpu": took, "losses": [[1.0, 1.0, 2.0], [took / 2, 2.0, 0.1], [took, 4.0, 0.0]],
                     "speed": {"startup": 1.0, "per_epoch": 0.5}})
    return {"id": step["id"], "kind": step["kind"], "policy": step["policy"], "schedule": step.get("schedule"),
            "repetition": step.get("repetition"), "expected": step["expected"], "jobs": jobs, "makespan": max(ends),
            "disturbed": list(disturbed), "others": 0, "steal": 0, "attempt": 1, **changes}


def calibrated(made):
    """Results of all steps before the runs."""
    done = {}
    for _ in range(2):
        for step in plan.calibration(made, done):
            done[step["id"]] = a_result(step, [10.0])
    return done


class Plan(unittest.TestCase):
    def test_times_are_scaled(self):
        jobs = plan.read_schedule(SCHEDULE, 0.1)
        self.assertEqual([(job["arrival"], job["seconds"]) for job in jobs], [(0, 30), (4, 20)])
        self.assertEqual(plan.daemon_options(a_plan(scale=0.5), {"name": "flowcon-weight", "alpha": 0.01, "interval": 30}),
                         ["policy=flowcon", "observe=2.5", "interval=15", "alpha=0.01"])
        # No option takes less than a second.
        self.assertIn("observe=1", plan.daemon_options(a_plan(scale=0.01), OURS))

    def test_a_grid_has_every_pair_and_only_where_there_is_one(self):
        made = plan.grid("host", ["free", "flowcon"], [0.01, 0.03], [20, 40])
        self.assertEqual([one["id"] for one in made],
                         ["free", "flowcon-a0.01-i20", "flowcon-a0.01-i40", "flowcon-a0.03-i20", "flowcon-a0.03-i40"])
        self.assertRaises(ValueError, plan.grid, "host", ["specon"], [1], [1])
        self.assertRaises(ValueError, plan.grid, "cluster", ["flowcon"], [1], [1])

    def test_a_training_behind_the_filter_prints_no_total(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "training.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write("import sys\nif __name__ == '__main__':\n    print(f'epoch 3/20 step 4/5 loss={sys.argv[1]}', flush=True)\n")
            command = plan.command_of("gru", {"name": "milestone-uncounted"})
            self.assertEqual(command[-1], "/examples/char_gru.py")
            done = subprocess.run([sys.executable, *command[1:-1], script, "0.5"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "epoch 3 step 4 loss=0.5\n")
        self.assertEqual(plan.command_of("vae-tensorflow", OURS), ["python3", "/examples/vae_digits.py", "--hidden", "512"])

    def test_policies_of_a_repetition_have_the_same_jobs_and_their_order_alternates(self):
        made = a_plan()
        steps = plan.runs(made, calibrated(made))
        self.assertEqual([step["policy"]["id"] for step in steps], ["free", "milestone", "milestone", "free"])
        self.assertEqual(steps[0]["jobs"], steps[1]["jobs"])

    def test_epochs_fill_the_seconds(self):
        self.assertEqual(plan.epochs_for(31, {"startup": 1, "per_epoch": 0.5}), 60)
        self.assertEqual(plan.epochs_for(0.1, {"startup": 1, "per_epoch": 0.5}), 2)

    def test_the_expected_time_is_that_of_the_work_behind_the_arrivals(self):
        self.assertEqual(plan.longest([{"arrival": 0, "seconds": 10}, {"arrival": 4, "seconds": 5}]), 15)
        self.assertEqual(plan.longest([{"arrival": 0, "seconds": 1}, {"arrival": 4, "seconds": 5}]), 9)
        jobs = [{"arrival": 0, "seconds": 10, "host": 1}, {"arrival": 0, "seconds": 7, "host": 2}]
        self.assertEqual(plan.longest(jobs, 2), 10)

    def test_jobs_begin_one_host_after_the_other_or_anywhere_by_the_seed(self):
        jobs = [{"name": str(i)} for i in range(8)]
        self.assertEqual([job["host"] for job in plan.place(jobs, 4, "balanced", 1)], [1, 2, 3, 4, 1, 2, 3, 4])
        drawn = [[job["host"] for job in plan.place(jobs, 4, "random", seed)] for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.assertLessEqual(set(drawn[0]), {1, 2, 3, 4})


class Resume(unittest.TestCase):
    def test_calibration_comes_first_then_all_runs(self):
        made = a_plan()
        kinds = [step["kind"] for step in plan.remaining(made, {})]
        self.assertEqual(kinds, ["probe"] * 2 + ["alone"] * 2 + ["run"] * 4)

    def test_it_goes_on_where_it_stopped(self):
        made, done = a_plan(), calibrated(a_plan())
        order = []
        while plan.remaining(made, done):
            step = plan.remaining(made, done)[0]
            order.append(step["id"])
            done[step["id"]] = a_result(step, [30, 40])
        self.assertEqual(order, ["fixed3-r1-free", "fixed3-r1-milestone", "fixed3-r2-milestone", "fixed3-r2-free"])

    def test_a_disturbed_run_is_done_again_after_all_others_and_not_for_ever(self):
        made, done = a_plan(), calibrated(a_plan())
        first = plan.remaining(made, done)[0]
        done[first["id"]] = a_result(first, [30, 40], ["others"])
        self.assertEqual(plan.remaining(made, done)[-1]["id"], first["id"])
        self.assertEqual(len(plan.remaining(made, done)), 4)
        done[first["id"]]["attempt"] = 2
        self.assertEqual(len(plan.remaining(made, done)), 3)

    def test_what_is_added_is_done_and_the_rest_is_not_done_again(self):
        done = calibrated(a_plan())
        for step in plan.runs(a_plan(), done):
            done[step["id"]] = a_result(step, [30, 40])
        self.assertEqual(plan.remaining(a_plan(), done), [])
        jobs = plan.read_schedule(SCHEDULE, 0.1)
        more = a_plan(repeat=3, schedules={"fixed3": {"1": jobs, "2": jobs, "3": jobs}})
        self.assertEqual([step["id"] for step in plan.remaining(more, done)], ["fixed3-r3-free", "fixed3-r3-milestone"])

    def test_a_result_is_whole_or_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            step = plan.runs(a_plan(), {})[0]
            results.save(folder, a_result(step, [1, 2]))
            with open(results.result_file(folder, "cut") + ".part", "w", encoding="utf-8") as file:
                file.write('{"id": "cut"')
            self.assertEqual(set(results.results(folder)), {step["id"]})
            results.save(folder, a_result(step, [1, 3]))
            self.assertEqual(results.results(folder)[step["id"]]["attempt"], 2)

    def test_the_program_plans_and_refuses_other_jobs_in_the_same_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            sim = os.path.join(folder, "sim")
            with open(sim, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\ncat <<'END'\n{SCHEDULE}END\n")
            os.chmod(sim, 0o755)
            out = os.path.join(folder, "out")

            def ask(*words):
                return subprocess.run([sys.executable, os.path.join(TOP, "bench/lib/real.py"), *words], capture_output=True,
                                      text=True, check=False, env={**os.environ, "PYTHONPATH": os.path.join(TOP, "scripts/lib")})

            def make(scale):
                return ask("plan", out, "--sim", sim, "--schedules", "fixed3", "--policies", "free,milestone", "--alpha", "1",
                           "--interval", "20", "--image", "i", "--scale", scale, "--cores", "2", "--others", "0.05",
                           "--patience", "0", "--contention", "0", "--seed", "1", "--repeat", "1", "--again", "0",
                           "--hosts", "1", "--jobs", "0")
            done = make("0.1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("6 to do", done.stdout)
            self.assertEqual(ask("next", out).stdout.split("\t")[:2], ["probe-vae-pytorch", "fresh"])
            results.save(out, a_result(plan.calibration(results.read(results.plan_file(out)), {})[0], [3]))
            self.assertEqual(ask("next", out).stdout.split("\t")[0], "probe-gru")
            self.assertIn("5 to do", make("0.1").stdout)
            other = make("0.2")
            self.assertEqual(other.returncode, 1)
            self.assertIn("scale 0.1, not 0.2", other.stderr)


class Logs(unittest.TestCase):
    def test_losses_and_progress_of_each_training(self):
        log = ("2026-01-01T00:00:01.5Z 1797 digits, 2281568 parameters\n"
               "2026-01-01T00:00:02.000000001Z Epoch 1/550 loss: 42.1875\n"
               "2026-01-01T00:00:03Z Epoch 2/160 - loss: 2.2801 - val_accuracy: 0.2228\n"
               "2026-01-01T00:00:04Z epoch 3/15 step 5/20 loss=4.0600\n"
               "2026-01-01T00:00:05Z epoch 4/60 train_loss: 2.2236 accuracy: 0.2152\n"
               "2026-01-01T00:00:06Z [5/60] loss=0.3844\n"
               "2026-01-01T00:00:07Z sample: loss of 3/4\n")
        begin = logs.seconds("2026-01-01T00:00:00Z")
        self.assertEqual(logs.losses_of(log, begin, 60), [[2.0, 1.0, 42.1875], [3.0, 2.0, 2.2801], [4.0, 2.25, 4.06],
                                                          [5.0, 4.0, 2.2236], [6.0, 5.0, 0.3844]])

    def test_lines_without_a_count_share_the_epochs(self):
        log = "2026-01-01T00:00:02Z Epoch 1 loss: 4\n2026-01-01T00:00:03Z Epoch 2 loss: 2\n"
        begin = logs.seconds("2026-01-01T00:00:00Z")
        self.assertEqual(logs.losses_of(log, begin, 8), [[2.0, 4.0, 4.0], [3.0, 8.0, 2.0]])

    def test_90_percent_of_the_way_from_the_first_to_the_least(self):
        self.assertEqual(logs.first_at_90([[1, 1, 10.0], [2, 2, 1.1], [3, 3, 0.9], [4, 4, 0.0], [5, 5, 3.0]])[0], 3)
        self.assertIsNone(logs.first_at_90([[1, 1, 1.0], [2, 2, 2.0]]))
        self.assertIsNone(logs.first_at_90([]))

    def test_the_speed_leaves_out_the_beginning(self):
        speed = logs.speed_of([[5.0, 1.0, 3], [6.0, 2.0, 2], [7.0, 3.0, 1]], 7.2)
        self.assertEqual(speed["per_epoch"], 1)
        self.assertAlmostEqual(speed["startup"], 4.2)
        # One epoch of several lines; one line alone.
        self.assertEqual(logs.speed_of([[5.0, 0.25, 3], [6.0, 0.5, 2], [8.0, 1.0, 1]], 8)["per_epoch"], 4)
        self.assertEqual(logs.speed_of([[5.0, 2.0, 3]], 6), {"startup": 0, "per_epoch": 3})


class Watch(unittest.TestCase):
    """A job moves from h1 to h2. Both engines and both daemons are what answers() says at this moment."""

    PHASES = ({"h1": ("A", "running")}, {"h1": ("A", "exited"), "h2": ("B", "created")}, {"h2": ("B", "running")},
              {"h2": ("B", "exited")})

    def answers(self, path, resource):
        host = path.split("/")[1]
        container, state = self.PHASES[self.phase].get(host, ("", ""))
        if resource == "/v1/cluster":
            moves = [("old", "done")] + [("new", "done" if self.phase >= 2 else "save")] * (self.phase >= 1)
            return {"moves": [{"id": name, "side": "source", "name": "gru-1", "step": step, "ended": step == "done",
                               "cause": "speculate"} for name, step in moves] if host == "h1" else []}
        if resource.startswith("/containers/json"):
            return [{"Id": container, "Names": ["/gru-1"], "State": state}] if container else []
        times = {"A": (1, 8), "B": (10, 20)}[container]
        started, finished = (f"2026-01-01T00:00:{second:02d}Z" for second in times)
        return {"State": {"StartedAt": "0001-01-01T00:00:00Z" if state == "created" else started, "FinishedAt": finished,
                          "Running": state == "running", "Status": state, "ExitCode": 0}}

    def test_a_job_that_moves_is_one_job_with_two_stays_and_one_move(self):
        with unittest.mock.patch.object(cluster_watch, "get", self.answers):
            self.phase = 0
            watch = cluster_watch.Watch({host: f"/{host}/run/docker.sock" for host in ("h1", "h2")})
            for self.phase in (0, 0, 1, 2, 2, 3, 3, 3):
                self.assertFalse(watch.is_over(1))
                watch.look()
        self.assertTrue(watch.is_over(1))
        seen = watch.result()
        zero = logs.seconds("2026-01-01T00:00:00Z")
        self.assertEqual([(host, begin - zero, end - zero) for host, begin, end in seen["jobs"][0]["stays"]],
                         [("h1", 1, 8), ("h2", 10, 20)])
        self.assertEqual(seen["jobs"][0]["finished"] - zero, 20)
        # That of an earlier run is not this one's.
        self.assertEqual([move["id"] for move in seen["moves"]], ["new"])


class Table(unittest.TestCase):
    def setUp(self):
        self.plan = a_plan()
        self.done = calibrated(self.plan)
        for step in plan.runs(self.plan, self.done):
            ends = [40, 24] if step["policy"]["name"] == "free" else [40, 14 if step["repetition"] == 1 else 18]
            self.done[step["id"]] = a_result(step, ends)
        self.setup_words = {"machine": "a machine", "date": "today", "commit": "abc", "version": "flowcond 1"}

    def test_a_run_against_the_free_one(self):
        free, ours = (self.done[f"fixed3-r1-{name}"] for name in ("free", "milestone"))
        seen = table.compared(free, ours)
        # 40 and 20 s became 40 and 10 s.
        self.assertAlmostEqual(seen["mean"], 100 * (50 / 60 - 1))
        self.assertAlmostEqual(seen["t90"], 100 * (25 / 30 - 1))
        self.assertEqual((seen["makespan"], seen["best"], seen["worst"], seen["improved"]), (0, -50, 0, 1))

    def test_mean_and_standard_error_over_the_repetitions(self):
        self.assertEqual(table.shown([-10.0, -20.0]), "−15.0 ± 5.0")
        self.assertEqual(table.shown([-0.01]), "0.0")
        self.assertEqual(table.shown([]), "–")
        text = table.table(self.plan, self.done, {}, self.setup_words)
        self.assertIn("| milestone | 2 | −13.3 ± 3.3 |", text)
        self.assertIn("a machine; today; commit abc", text)

    def test_a_disturbed_run_does_not_count_and_the_table_says_so(self):
        self.done["fixed3-r2-free"]["disturbed"] = ["others"]
        text = table.table(self.plan, self.done, {}, self.setup_words)
        self.assertIn("| milestone | 1 | −16.7 |", text)
        self.assertIn("1 left out", text)
        for result in self.done.values():
            result["disturbed"] = ["others"]
        self.assertIn("these numbers say nothing", table.table(self.plan, self.done, {}, self.setup_words))

    def test_all_schedules_together_say_what_a_default_costs(self):
        self.assertNotIn("together", table.table(self.plan, self.done, {}, self.setup_words))
        self.done["fixed3-r2-milestone"]["jobs"][0]["completion"] = 50
        self.assertEqual(table.together(self.plan, self.done)[2],
                         ["milestone", "2", "−5.0 ± 11.7", "−13.3 ± 3.3", "0.0 ± 0.0", "25.0", "50%"])

    def test_predictions_stand_beside_what_was_measured(self):
        said = {"mean_completion_percent": -30.0, "t90_percent": -20.0, "makespan_percent": 1.0}
        predicted = {("fixed3", r, "milestone"): said for r in (1, 2)}
        self.assertIn("| −30.0 ± 0.0 | −20.0 ± 0.0 | 1.0 ± 0.0 |", table.table(self.plan, self.done, predicted, self.setup_words))

    def test_the_simulator_is_given_work_alone_and_the_real_curves(self):
        alone = table.alone_of(self.done)
        jobs = self.done["fixed3-r1-free"]["jobs"]
        rows, points = table.simulator_input(jobs, alone, 2, True)
        lines = rows.splitlines()
        self.assertEqual(len(lines), 1 + 2 + 2)
        self.assertTrue(lines[1].startswith("before-vae-pytorch,vae-pytorch,-1,"))
        fields = lines[3].split(",")
        epochs = jobs[0]["epochs"]
        self.assertEqual((fields[0], float(fields[3]), float(fields[4])), ("vae-pytorch-1", 1 + 0.5 * epochs, 1.0))
        # A curve needs five values, and begins one step before the first line.
        self.assertGreaterEqual(points.count("gru-2,"), 5)
        self.assertIn("gru-2,0,loss,2", points)
        words = table.simulator_words(self.plan, {"name": "flowcon", "alpha": 0.03, "interval": 40})
        self.assertEqual(words[words.index("--interval") + 1], "4")
        self.assertEqual(words[words.index("--policy") + 1], "free,flowcon")
        words = table.simulator_words(self.plan, {"name": "milestone-uncounted"})
        self.assertEqual(words[words.index("--policy") + 1], "free,milestone")
        words = table.simulator_words({**self.plan, "kind": "cluster"}, {"name": "specon"})
        self.assertEqual(words[words.index("--categorise-interval") + 1], "3")
        self.assertIn("--rebalance-idle", words)
        self.assertIsNone(table.simulator_words({**self.plan, "kind": "cluster"}, {"name": "specon-milestone"}))

    def test_the_longest_time_with_little_of_the_host(self):
        samples, had = [], 0.0
        for second in range(200):
            had += 0.5 if second < 20 or second >= 90 else 0.5 if second == 30 else 0
            samples.append((second, had))
        self.assertAlmostEqual(real_host.longest_little(samples, 4), 74, delta=1)
        self.assertEqual(real_host.longest_little(samples[:20], 4), 0)

    def test_contention_is_cpu_time_over_that_alone(self):
        alone = table.alone_of(self.done)
        result = self.done["fixed3-r1-free"]
        work = sum(1 + 0.5 * job["epochs"] for job in result["jobs"])
        self.assertAlmostEqual(table.cpu_ratio(result, alone), sum(job["cpu"] for job in result["jobs"]) / work)

    def test_figures_are_whole_files(self):
        for svg in (plot.completions(self.plan, self.done, "fixed3", 1), plot.losses(self.done["fixed3-r1-free"])):
            drawn = xml.dom.minidom.parseString(svg)
            self.assertEqual(drawn.documentElement.tagName, "svg")
            self.assertNotIn("var(", svg)
        self.assertIsNone(plot.completions(self.plan, {}, "fixed3", 1))


class ClusterReport(unittest.TestCase):
    @staticmethod
    def run_of(mode, moves=()):
        job = {"name": "vae-1", "started": 0, "finished": 60, "exit_code": 0, "stays": [["h1", 0, 60]]}
        return {"mode": mode, "hosts": ["h1", "h2"], "jobs": [job], "moves": list(moves)}

    def summary(self, *moves):
        return cluster_report.summarise({}, {"off": self.run_of("off"), "on": self.run_of("on", moves)})

    def test_it_says_so_where_nothing_was_migrated(self):
        undone = {"step": "undone", "cause": "speculate"}
        for moves in ((), (undone,)):
            self.assertIn("migrated nothing", self.summary(*moves)["note"])
            self.assertIn("migrated nothing", cluster_report.page(self.summary(*moves)))

    def test_it_does_not_where_something_was(self):
        summary = self.summary({"step": "done", "cause": "rebalance"})
        self.assertEqual(summary["note"], "")
        self.assertNotIn("migrated nothing", cluster_report.page(summary))


class Quickstart(unittest.TestCase):
    """The report of scripts/quickstart, and its line while the jobs run."""

    @staticmethod
    def page(policy):
        history = {"metric": "loss", "goal": "min", "samples": [[1, 0.9], [50, 0.1]], "usage": [[50, 0.5, None, None, None]],
                   "decisions": [[5, "NL", 1, None], [20, "CL", 0.002, 0.0005]]}
        job = {"name": "vae", "title": "VAE", "started": 0, "finished": 60, "exit_code": 0, "history": history}
        runs = [{"round": 1, "mode": mode, "policy": policy, "busy": 0.5, "jobs": [job]} for mode in ("free", "flowcon")]
        return report_html.page(report.summarise({}, runs), runs)

    def test_lists_stand_where_they_decide(self):
        for words in ("<h2>Limits and lists</h2>", "0 to 100 %; the band is its list. In", "CL, converged", "fill=\"var(--cl)\"",
                      "vae, 20-60 s: CL, limit 0.2 %, growth 0.05 %/s", ": limits and lists, over time"):
            self.assertIn(words, self.page("flowcon"))

    def test_and_nowhere_else(self):
        page = self.page("milestone")
        for words in ("<h2>Limits</h2>", "0 to 100 %. In", "vae, 20-60 s: limit 0.2 %<", ": limits, over time"):
            self.assertIn(words, page)
        for words in ("lists", "converged", "fill=\"var(--", "growth"):
            self.assertNotIn(words, page.split("Limits</h2>")[1])

    def test_limits_have_two_digits(self):
        self.assertEqual([digits.share_text(v) for v in (0, 0.000001, 0.0004, 0.0012, 0.05, 0.0996, 0.333, 1)],
                         ["0 %", "<0.001 %", "0.04 %", "0.12 %", "5 %", "10 %", "33 %", "100 %"])
        page = self.page("flowcon")
        self.assertIn(">100 %</text>", page.split("Limits and lists</h2>")[1])
        self.assertNotIn(">1</text>", page)

    def test_the_line_while_they_run(self):
        job = {"list": "NL", "limit": 0.0012, "cpu": None, "metric": "loss", "value": 0.25, "progress": {"done": 1, "total": 4}}
        self.assertEqual(daemon_api.one_job("vae", job, False), "vae limit 0.12 % cpu - loss 0.25 25 %")
        self.assertEqual(daemon_api.one_job("vae", job, True), "vae NL limit 0.12 % cpu - loss 0.25 25 %")


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len({test.id() for test, _ in result.failures + result.errors})
    left_out = len(result.skipped)
    print(f"{result.testsRun - bad - left_out} passed, {bad} failed, {left_out} skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
