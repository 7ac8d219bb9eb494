# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From a Platform to the text of a machine file, which parses to an equal Platform.

Only values that differ from their defaults are written, with units if these make a number shorter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec

from hockney.core.platform import RATED, Network, NodeGroup, Platform, Segment

_TIMES = (("ns", -9), ("us", -6), ("ms", -3), ("s", 0))
_RATES = (("B/s", 0), ("kB/s", 3), ("MB/s", 6), ("GB/s", 9), ("TB/s", 12))
_FLOPS = (("flop/s", 0), ("kflop/s", 3), ("Mflop/s", 6), ("Gflop/s", 9), ("Tflop/s", 12))
_OPERATIONS = (("op/s", 0), ("kop/s", 3), ("Mop/s", 6), ("Gop/s", 9), ("Top/s", 12))
_PLAIN = ("count", "cores", "seed", "relative")
_TABLES = ("network", "rates", "collectives", "calls", "noise")
_ARRAYS = ("segments", "on_node", "origins")


def write(platform: Platform) -> str:
    """The complete TOML: `read(write(platform)) == platform`."""
    lines = list(_keys(platform, leave=(*_TABLES, *_ARRAYS)))
    for name in _TABLES:
        value = getattr(platform, name)
        if isinstance(value, dict):
            pairs = [f"{key} = {value_text(key, each)}" for key, each in value.items()]
        else:
            pairs = list(_keys(value)) if value is not None else []
        if pairs or name == "network":
            lines += ["", f"[{name}]", *pairs]
    for name in _ARRAYS:
        for each in getattr(platform, name):
            lines += ["", f"[[{name}]]", *_keys(each)]
    return "\n".join(lines) + "\n"


def _keys(table: msgspec.Struct, leave: tuple[str, ...] = ()) -> Iterator[str]:
    for field in msgspec.structs.fields(type(table)):
        value = getattr(table, field.name)
        needed = field.required or value != field.default
        if isinstance(table, Segment):
            needed = needed or field.name == "first"
        if isinstance(table, Network):
            needed = needed or field.name == "shape"
        if needed and field.name not in leave:
            yield f"{field.name} = {value_text(field.name, value)}"


def value_text(name: str, value: Any) -> str:
    """A value in the format of a machine file, by its key's name: "10.5us" for latency_s."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return _list(value)
    if name in _PLAIN:
        return repr(value)
    if name in ("nic", "link"):
        return _scaled(value, _RATES)
    if name == "flops":
        return _scaled(value, _FLOPS)
    if name in RATED:
        return _scaled(value, _OPERATIONS)
    if name in ("first", "eager"):
        return _bytes(value)
    by_byte = name.endswith(("per_byte", "per_byte_s"))
    return _scaled(value, tuple((f"{unit}/B" if by_byte else unit, power) for unit, power in _TIMES))


def _bytes(value: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value and value % (1 << power) == 0:
            return f'"{value >> power}{unit}"'
    return repr(value)


def _scaled(value: float, units: tuple[tuple[str, int], ...]) -> str:
    """The same number in the largest unit for which it is at least 1; only the decimal point moves."""
    if value == 0:
        return "0"
    number = Decimal(repr(float(value)))
    unit, power = next((u for u in reversed(units) if number >= Decimal(1).scaleb(u[1])), units[0])
    moved = number.scaleb(-power)
    plain = f"{moved.normalize():f}"
    return f'"{plain if len(plain) < 25 else str(moved)}{unit}"'


def _list(values: tuple) -> str:
    if values and isinstance(values[0], NodeGroup):
        return f"[{', '.join('{' + ', '.join(_keys(each)) + '}' for each in values)}]"
    if values and isinstance(values[0], tuple):  # bytes and seconds, of calls
        return f"[{', '.join(f'[{_bytes(size)}, {_scaled(seconds, _TIMES)}]' for size, seconds in values)}]"
    items = [_text(v) if isinstance(v, str) else repr(v) for v in values]
    joined = f"[{', '.join(items)}]"
    return joined if len(joined) < 90 else "[\n  " + ",\n  ".join(items) + ",\n]"


def _text(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, except for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
