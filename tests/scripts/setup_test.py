#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A scripts/setup waits for another one. Nothing is installed: a dpkg-query of the test's own has all packages."""

import fcntl
import os
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LOCK = "/run/docker-flowcon-setup.lock"
DPKG_QUERY = '#!/bin/sh\nshift 3\nfor name in "$@"; do echo "installed $name"; done\n'


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "dpkg-query")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(DPKG_QUERY)
        os.chmod(path, 0o755)
        self.environment = {**os.environ, "PATH": folder.name + ":" + os.environ["PATH"]}

    def start(self, *words):
        script = subprocess.Popen([os.path.join(TOP, "scripts", "setup"), *words, "build"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Not before the lock is let go of, or one that waits for it would never end.
        self.addCleanup(script.wait)
        self.addCleanup(script.stdout.close)
        return script

    @unittest.skipIf(os.getuid() != 0, "needs root")
    def test_the_second_waits_for_the_first(self):
        with open(LOCK, "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            second = self.start()
            self.assertIn("another scripts/setup is installing", second.stdout.readline())
            self.assertIn("nothing to do", self.start("--check").communicate()[0])
            self.assertIsNone(second.poll())
            fcntl.flock(lock, fcntl.LOCK_UN)
            self.assertIn("nothing to do", second.communicate()[0])
        self.assertEqual(second.returncode, 0)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    bad = len({test.id() for test, _ in result.failures + result.errors})
    left_out = len(result.skipped)
    print(f"{result.testsRun - bad - left_out} passed, {bad} failed, {left_out} skipped")
    sys.exit(0 if result.wasSuccessful() else 1)
