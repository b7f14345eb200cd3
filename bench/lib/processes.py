# SPDX-License-Identifier: Apache-2.0
"""What processes use, from /proc: CPU time in seconds, memory in MiB, wake-ups."""
import os

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """utime + stime, to a clock tick. SystemExit when the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError as error:
        raise SystemExit(f"process {pid} has ended: {error}") from error
    return (int(fields[11]) + int(fields[12])) / TICKS


def fine_cpu_seconds(pid):
    """The same to a nanosecond, of the threads that live; cpu_seconds() where the kernel does not
    tell. For short intervals, in which a clock tick is much."""
    total = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="utf-8") as file:
                total += int(file.read().split()[0])
    except OSError:
        return cpu_seconds(pid)
    return total / 1e9


def memory_mib(pid, key):
    """VmRSS (resident now) or VmHWM (the most so far)."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) / 1024
    raise SystemExit(f"the kernel does not tell {key} of process {pid}")


def wake_ups(pid):
    """How often its threads have waited for something, since they began."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="utf-8") as file:
            total += sum(int(line.split()[1]) for line in file
                         if line.startswith("voluntary_ctxt_switches"))
    return total


def processes_with_argument(argument):
    """The processes one of whose arguments is exactly this text."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if os.fsencode(argument) in arguments:
            found.append(int(entry))
    return found
