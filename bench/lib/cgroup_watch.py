# SPDX-License-Identifier: Apache-2.0
"""The file of a container's CPU weight, and the moment at which another process writes to it."""
import ctypes
import os
import select
import time

IN_MODIFY = 2


def find_weight_file(pid):
    """The weight file of the cgroup that the process is in: cpu.shares on v1, cpu.weight on v2."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        groups = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, path in groups:
        if "cpu" in controllers.split(","):
            for mount in mounts:
                if mount[2] == "cgroup" and "cpu" in mount[3].split(","):
                    return mount[1] + path + "/cpu.shares"
    for number, _, path in groups:
        for mount in mounts:
            file = mount[1] + path + "/cpu.weight"
            if number == "0" and mount[2] == "cgroup2" and os.path.exists(file):
                return file
    raise SystemExit("the container's CPU weight is in no mounted cgroup hierarchy")


class Watch:
    """Told by inotify, which the kernel raises for every write to the file: nothing is polled, so
    the measurement takes no core away from what it measures. Its own waking counts as reaction."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        libc = ctypes.CDLL(None, use_errno=True)
        self.notifier = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.notifier < 0 or libc.inotify_add_watch(self.notifier, path.encode(), IN_MODIFY) < 0:
            raise SystemExit(f"inotify on {path}: {os.strerror(ctypes.get_errno())}")

    def value(self):
        return int(os.pread(self.file, 64, 0))

    def clear(self):
        try:
            while os.read(self.notifier, 4096):
                pass
        except BlockingIOError:
            pass

    def wait(self, is_wanted, other, seconds):
        """Waits for a write after which is_wanted(value), and until the descriptor `other` has
        something to read: the times of both in nanoseconds since the epoch, and the value.
        SystemExit when they do not come in time."""
        end = time.monotonic() + seconds
        written = arrived = value = None
        poll = select.poll()
        poll.register(self.notifier, select.POLLIN)
        poll.register(other, select.POLLIN)
        while written is None or arrived is None:
            left = end - time.monotonic()
            ready = poll.poll(left * 1000) if left > 0 else []
            now = time.clock_gettime_ns(time.CLOCK_REALTIME)
            if not ready:
                raise SystemExit(f"no event and new limit within {seconds} s; it is {self.value()}")
            for descriptor, _ in ready:
                if descriptor == other:
                    arrived = now
                    poll.unregister(other)
                    continue
                self.clear()
                value = self.value()
                if written is None and is_wanted(value):
                    written = now
        return written, arrived, value
