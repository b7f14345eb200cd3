#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a training no faster than a test can follow: half a second a printed line, until FILE is there.

usage: paced.py FILE SCRIPT [ARGUMENT...]
"""
import os
import runpy
import sys
import time


class Paced:
    """Standard output that rests after each line."""

    def __init__(self, out, finish):
        self._out = out
        self._finish = finish

    def write(self, text):
        count = self._out.write(text)
        if "\n" in text and not os.path.exists(self._finish):
            self._out.flush()
            time.sleep(0.5)
        return count

    def __getattr__(self, name):
        return getattr(self._out, name)


def main():
    finish, script = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(script))
    sys.stdout = Paced(sys.stdout, finish)
    runpy.run_path(script, run_name="__main__")


main()
