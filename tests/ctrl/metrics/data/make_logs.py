#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small training logs in the formats of many frameworks, and what must be found in them.

NAME.log and NAME.expected.json: `accept` lists the series that a detector may choose (metric, goal,
values in order), `named` what it must return when asked for a name, `progress` the counter where the
log has one. Deterministic; the numbers are made up, the formats are those of the programs.
"""
import formats_1  # noqa: F401
import formats_2  # noqa: F401
import formats_3  # noqa: F401
import formats_4  # noqa: F401
from log_writer import ALL

if __name__ == "__main__":
    for make in ALL:
        make().write()
    print(len(ALL), "logs")
