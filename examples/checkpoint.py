#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets a training be stopped and go on elsewhere, bit for bit: what the trainings beside it share.

    import checkpoint                       # first: from here on signals are heard
    state = checkpoint.Checkpoint(PATH, model=model, optimizer=optimizer)
    where = state.resume()                  # {} on a fresh start
    ... after each step: state.passed(epoch=epoch)

SIGTERM and SIGUSR1: after the step that is under way the state is saved and the training ends.
SIGUSR2: it is saved, and the training goes on. As a command, `checkpoint.py PATH` asks process 1 of
its container for that and ends when PATH is written. Without a path nothing is saved.
"""
import os
import signal
import sys
import time

ASK_SECONDS = 60
SAVED_AND_ENDED = 0
asked = None


def hear(number, _frame):
    global asked
    # To end outweighs to go on, whichever came first.
    if asked is None or asked == signal.SIGUSR2:
        asked = number


class Checkpoint:
    """The state of a training: anything that has state_dict(), and torch's random numbers."""

    def __init__(self, path, **parts):
        self.path, self.parts = path, parts

    def resume(self):
        """What passed() was told when the state was saved, with the state put back. Where a move
        promises a checkpoint (FLOWCON_RESUME=1) and there is none, to begin anew would lose it."""
        import torch
        if not self.path or not os.path.exists(self.path):
            if self.path and os.environ.get("FLOWCON_RESUME") == "1":
                raise SystemExit(f"FLOWCON_RESUME is 1 and there is no checkpoint {self.path}")
            return {}
        saved = torch.load(self.path)
        for name, part in self.parts.items():
            part.load_state_dict(saved["parts"][name])
        torch.set_rng_state(saved["random"])
        print(f"resumed from {self.path}", flush=True)
        return saved["where"]

    def passed(self, **where):
        """Call it after each step, with all that resume() is to return."""
        global asked
        if asked is None:
            return
        ends, asked = asked != signal.SIGUSR2, None
        if self.path:
            self.save(where)
        if ends:
            print("ended as asked", flush=True)
            sys.exit(SAVED_AND_ENDED)

    def save(self, where):
        """The old file or the new one, whatever happens in between."""
        import torch
        part = self.path + ".part"
        with open(part, "wb") as file:
            torch.save({"parts": {name: part.state_dict() for name, part in self.parts.items()},
                        "random": torch.get_rng_state(), "where": where}, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, self.path)
        print(f"saved to {self.path}", flush=True)


def written(path):
    try:
        return os.stat(path).st_mtime_ns
    except FileNotFoundError:
        return None


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    before = written(sys.argv[1])
    os.kill(1, signal.SIGUSR2)
    end = time.monotonic() + ASK_SECONDS
    while written(sys.argv[1]) == before:
        if time.monotonic() > end:
            raise SystemExit(f"{sys.argv[1]} was not written within {ASK_SECONDS} s")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
else:
    for each in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(each, hear)
