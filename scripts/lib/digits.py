# SPDX-License-Identifier: Apache-2.0
"""Numbers as the programs print them (base/digits.h)."""
import math


def two_digits(number):
    """Two significant digits, all of those before the point, and no exponent."""
    if not math.isfinite(number):
        return "?"
    if number != 0 and abs(number) < 0.001:
        return "<0.001"
    rounded = float(f"{number:.1e}")
    return f"{rounded:.6f}".rstrip("0").rstrip(".") if abs(rounded) < 10 else f"{number:.0f}"


def share_text(share):
    """A share, 0.25, as "25 %"."""
    return two_digits(100 * share) + " %"
