#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training that waits for the network: that of ps_digits.py with a layer so wide that to send it
takes longer than to learn with it, as with VGG on a slow link. Where its tasks are decides how fast
it is; bench/plans measures that.

    docker flowcon submit --name wide --workers 2 --ps 1 IMAGE python3 wide_mlp.py
"""
import ps_digits

if __name__ == "__main__":
    ps_digits.main(hidden=1024, batch=16, steps=2000)
