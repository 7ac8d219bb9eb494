# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and texts as they are written in machine files: with the unit that makes them short."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal

Units = tuple[tuple[str, int], ...]
"""Names with powers of ten."""

TIMES: Units = (("ns", -9), ("us", -6), ("ms", -3), ("s", 0))
RATES: Units = (("B/s", 0), ("kB/s", 3), ("MB/s", 6), ("GB/s", 9), ("TB/s", 12))
BITS: Units = (("bit/s", 0), ("kbit/s", 3), ("Mbit/s", 6), ("Gbit/s", 9), ("Tbit/s", 12))


def size_text(value: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value and value % (1 << power) == 0:
            return f'"{value >> power}{unit}"'
    return repr(value)


def scaled_text(value: float, units: Units) -> str:
    """The same number in the largest unit for which it is at least 1; only the decimal point moves."""
    if value == 0:
        return "0"
    number = Decimal(repr(float(value)))
    unit, power = next((u for u in reversed(units) if number >= Decimal(1).scaleb(u[1])), units[0])
    moved = number.scaleb(-power)
    plain = f"{moved.normalize():f}"
    return f'"{plain if len(plain) < 25 else str(moved)}{unit}"'


def list_text(items: Sequence[str]) -> str:
    """A list on one line if it is short."""
    joined = f"[{', '.join(items)}]"
    return joined if len(joined) < 90 else "[\n  " + ",\n  ".join(items) + ",\n]"


def quoted_text(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
