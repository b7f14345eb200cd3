# SPDX-License-Identifier: Apache-2.0
"""Numbers as the benches print them: n, minimum, mean, median, 99th percentile, maximum."""
import math
import os
import statistics


def percentile(values, percent):
    """Nearest rank: the least value that at least `percent` % of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def median(values):
    return statistics.median(values)


def load():
    return "load average " + " ".join(f"{value:.1f}" for value in os.getloadavg())


def heading(unit, width):
    names = "".join(f"{name:>9}" for name in ("min", "mean", "median", "p99", "max"))
    return f"{unit:<{width}}{'n':>5}{names}"


def row(title, values, width):
    numbers = (min(values), statistics.fmean(values), median(values), percentile(values, 99),
               max(values))
    return f"{title:<{width}}{len(values):>5}" + "".join(f"{value:>9.3f}" for value in numbers)
