# SPDX-License-Identifier: Apache-2.0
"""The writer behind make_logs.py: a log, the values printed in it, and the list of all formats."""
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))


class Log:
    def __init__(self, name, seed=None):
        self.name = name
        self.text = ""
        self.series = {}
        self.accept = []
        self.named = []
        self.progress = None
        self.random = random.Random(seed or name)

    def take(self, series, text):
        """Records a printed value of a series and returns its text."""
        value = text.strip().rstrip("%")
        number = float(value)
        self.series.setdefault(series, []).append(
            number if math.isfinite(number) else ("nan" if number != number else "inf" if number > 0 else "-inf"))
        return text

    def line(self, text="", end="\n"):
        self.text += text + end

    def noise(self, scale):
        return self.random.uniform(-scale, scale)

    def fall(self, i, n, start, end, noise=0.03):
        """A loss: exponential decay from start to end, with noise."""
        base = end + (start - end) * math.exp(-4.0 * i / max(1, n - 1))
        return base * (1 + self.noise(noise))

    def rise(self, i, n, start, end, noise=0.01):
        return end - (end - start) * math.exp(-4.0 * i / max(1, n - 1)) + self.noise(noise)

    def ok(self, series, goal="min", metric=None):
        self.accept.append({"metric": metric or series, "goal": goal, "values": self.series[series]})
        return self

    def ask(self, name, series, goal="min"):
        self.named.append({"metric": name, "goal": goal, "values": self.series[series]})
        return self

    def write(self):
        expected = {"accept": self.accept, "named": self.named, "progress": self.progress}
        with open(os.path.join(HERE, self.name + ".log"), "wb") as out:
            out.write(self.text.encode("utf-8", "surrogateescape"))
        with open(os.path.join(HERE, self.name + ".expected.json"), "w") as out:
            json.dump(expected, out, separators=(",", ":"))
            out.write("\n")


ALL = []


def log(function):
    ALL.append(function)
    return function
