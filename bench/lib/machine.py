# SPDX-License-Identifier: Apache-2.0
"""How busy this machine is, and what it is."""
import os
import platform
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")


def ticks():
    """(busy, stolen) CPU seconds of the whole machine since it began; busy is all but idle, waiting for a
    disk and stolen."""
    with open("/proc/stat", encoding="utf-8") as file:
        fields = [int(word) / TICKS for word in file.readline().split()[1:9]]
    return sum(fields[:3]) + fields[5] + fields[6], fields[7]


def busy_share(seconds):
    """Of all cores, over the next seconds."""
    before, start = ticks(), time.monotonic()
    time.sleep(seconds)
    return (ticks()[0] - before[0]) / (time.monotonic() - start) / os.cpu_count()


def wait_for_quiet(share, patience):
    """Waits until less than this share of the CPU is in use, so many seconds at most; what was last seen."""
    end = time.monotonic() + patience
    told = False
    while True:
        seen = busy_share(3)
        if seen < share or time.monotonic() > end:
            return {"busy_before": round(seen, 4), "load": list(os.getloadavg())}
        if not told:
            print(f"  the machine is busy ({seen:.0%}); waiting until it is quiet, {patience:.0f} s at most", flush=True)
            told = True
        time.sleep(5)


def describe():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "")
    return f"{os.cpu_count()} cores, {model}, Linux {platform.release()}"


def commit(folder):
    """Of the tree in `folder`, with a + where files are changed; "" where git knows none."""
    def git(*words):
        return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, check=False).stdout.strip()
    return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")


def read_cpu(path, is_v1):
    """CPU seconds by a control group's cpuacct.usage or cpu.stat; None where it does not tell, or is gone."""
    try:
        with open(path, encoding="utf-8") as file:
            if is_v1:
                return int(file.read()) / 1e9
            return next((int(line.split()[1]) / 1e6 for line in file if line.startswith("usage_usec ")), None)
    except OSError:
        return None


class CgroupCpu:
    """CPU time of a control group, also of those below it that are gone."""

    def __init__(self, name):
        self.file = None
        with open("/proc/self/mounts", encoding="utf-8") as mounts:
            points = [line.split()[1:3] for line in mounts]
        for point, kind in points:
            leaf = {"cgroup": "cpuacct.usage", "cgroup2": "cpu.stat"}.get(kind)
            if leaf and read_cpu(f"{point}{name}/{leaf}", kind == "cgroup") is not None:
                self.file = (f"{point}{name}/{leaf}", kind == "cgroup")
                return

    def seconds(self):
        """None where there is none, or once it is gone."""
        return read_cpu(*self.file) if self.file else None
