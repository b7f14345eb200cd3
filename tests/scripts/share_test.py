#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboard, the alert rules and docs/metrics.md speak of metrics that flowcond has, and docs/metrics.md of
all of them.

usage: share_test.py [METRICS]

METRICS is a file with what /metrics answered; without it the table in ctrl/exposition.cpp is taken.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ANSWERED = sys.argv.pop(1) if len(sys.argv) > 1 else None
NAME = re.compile(r"\b((?:flowcon|process)_[a-z_]+)\b")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as stream:
        return stream.read()


def families():
    """name -> (type, help)"""
    if ANSWERED:
        with open(ANSWERED, encoding="utf-8") as stream:
            text = stream.read()
        types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        return {name: (types[name], words) for name, words in re.findall(r"^# HELP (\w+) (.*)$", text, re.M)}
    table = re.findall(r'\{"(\w+)", "(gauge|counter)",\s*"([^"]*)"\}', read("ctrl/exposition.cpp"))
    return {name: (kind, words) for name, kind, words in table}


def expressions(node):
    """Each "expr" of a dashboard, and what its variables ask."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("expr", "definition") and isinstance(value, str):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(node, list):
        for element in node:
            yield from expressions(element)


def rules():
    """Each alert's expression, whether on its own line or folded below it."""
    for path in glob.glob(os.path.join(TOP, "share/prometheus/*.rules.yml")):
        text = read(path)
        for indent, first, rest in re.findall(r"^( +)expr: (.*)\n((?:\1 +.*\n)*)", text, re.M):
            yield (first if first != ">-" else "") + " " + rest


def used(expression):
    return set(NAME.findall(expression))


class Share(unittest.TestCase):
    def setUp(self):
        self.there = families()
        self.assertGreater(len(self.there), 15)

    def test_the_dashboard(self):
        boards = glob.glob(os.path.join(TOP, "share/grafana/*.json"))
        self.assertEqual(len(boards), 1)
        board = json.loads(read(boards[0]))
        found = [used(text) for text in expressions(board)]
        self.assertGreater(len(found), 15)
        for names in found:
            self.assertTrue(names)
            self.assertLessEqual(names, self.all_names())
        ids = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(ids), len(set(ids)))

    def all_names(self):
        # Of what a daemon answered, metrics without a value are missing: no peers, no values yet.
        table = re.findall(r'\{"(\w+)", "(?:gauge|counter)"', read("ctrl/exposition.cpp"))
        self.assertLessEqual(set(self.there), set(table))
        return set(table)

    def test_the_alert_rules(self):
        found = list(rules())
        self.assertEqual(len(found), read("share/prometheus/flowcon.rules.yml").count("- alert:"))
        for expression in found:
            with self.subTest(expression=expression):
                self.assertLessEqual(used(expression), self.all_names())
                # `up` is what Prometheus itself says of a scrape.
                self.assertTrue(used(expression) or expression.strip().startswith("up{"))

    def test_promtool_has_nothing_against_the_expressions(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed (scripts/setup test)")
        for path in glob.glob(os.path.join(TOP, "share/prometheus/*.rules.yml")):
            self.check(path)
        # Those of the dashboard, as rules of their own.
        board = json.loads(read("share/grafana/flowcon.json"))
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write("groups:\n  - name: board\n    rules:\n")
            for number, text in enumerate(expressions(board["panels"])):
                file.write(f"      - record: board:panel{number}\n        expr: {json.dumps(text)}\n")
            file.flush()
            self.check(file.name)

    def check(self, path):
        done = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_documentation_lists_each_metric_with_its_kind_and_no_other(self):
        rows = dict(re.findall(r"^\| `((?:flowcon|process)_\w+)` \| (\w+) \|", read("docs/metrics.md"), re.M))
        table = {name: kind for name, kind in re.findall(r'\{"(\w+)", "(gauge|counter)"',
                                                         read("ctrl/exposition.cpp"))}
        self.assertEqual(rows, table)

    def test_the_documentation_lists_each_event(self):
        names = re.search(r"kEventNames\{(.*?)\};", read("ctrl/events.h"), re.S).group(1)
        told = re.search(r"## Hooks(.*)", read("docs/metrics.md"), re.S).group(1)
        rows = [re.findall("`([^`]+)`", row) for row in re.findall(r"^\|([^|]+)\|", told, re.M)]
        self.assertEqual([name for row in rows for name in row], re.findall(r'"([\w-]+)"', names))

    def test_a_name_that_does_not_exist_would_be_found(self):
        self.assertEqual(used("rate(flowcon_nothing_total[5m]) > flowcon_alpha"),
                         {"flowcon_nothing_total", "flowcon_alpha"})
        self.assertNotIn("flowcon_nothing_total", self.all_names())


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len({test.id() for test, _ in result.failures + result.errors})
    left_out = len(result.skipped)
    print(f"{result.testsRun - bad - left_out} passed, {bad} failed, {left_out} skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
