# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Writing of machine files, which parse to an equal Platform.

Only values that differ from their defaults are written, with units if that makes a number shorter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from hockney.core.platform import RATED_KERNELS, Network, NodeGroup, Platform, Segment
from hockney.machines.descriptions.files import RATES, TIMES, list_text, quoted_text, scaled_text, size_text

_FLOPS = (("flop/s", 0), ("kflop/s", 3), ("Mflop/s", 6), ("Gflop/s", 9), ("Tflop/s", 12))
_OPERATIONS = (("op/s", 0), ("kop/s", 3), ("Mop/s", 6), ("Gop/s", 9), ("Top/s", 12))
_PLAIN = (
    "count", "cores", "seed", "relative", "per_launch", "barrier_cluster", "slowdown", "loss", "first_rank",
    "rank_step",
)  # fmt: skip
_TABLES = ("network", "rates", "collectives", "calls", "libraries", "noise")
_ARRAYS = ("segments", "on_node", "faults", "detours", "origins")


def write(platform: Platform) -> str:
    """Format the complete TOML: `read(write(platform)) == platform`."""
    lines = list(_keys(platform, leave=(*_TABLES, *_ARRAYS)))
    for name in _TABLES:
        value = getattr(platform, name)
        if isinstance(value, dict):
            pairs = [f"{key} = {value_text(key, item)}" for key, item in value.items()]
        else:
            pairs = list(_keys(value)) if value is not None else []
        if pairs or name == "network":
            lines += ["", f"[{name}]", *pairs]
    for name in _ARRAYS:
        for item in getattr(platform, name):
            lines += ["", f"[[{name}]]", *_keys(item)]
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
    """Format a value for a machine file according to its key: "10.5us" for latency_s."""
    if isinstance(value, str):
        return quoted_text(value)
    if name == "memory":
        return f"[{', '.join(f'[{busy}, {scaled_text(rate, RATES)}]' for busy, rate in value)}]"
    if isinstance(value, tuple):
        return _list(value)
    if name in _PLAIN:
        return repr(value)
    if name in ("nic", "link"):
        return scaled_text(value, RATES)
    if name == "flops":
        return scaled_text(value, _FLOPS)
    if name in RATED_KERNELS:
        return scaled_text(value, _OPERATIONS)
    if name in ("first", "eager"):
        return size_text(value)
    by_byte = name.endswith(("per_byte", "per_byte_s"))
    return scaled_text(value, tuple((f"{unit}/B" if by_byte else unit, power) for unit, power in TIMES))


def _list(values: tuple[Any, ...]) -> str:
    if values and isinstance(values[0], NodeGroup):
        return f"[{', '.join('{' + ', '.join(_keys(table)) + '}' for table in values)}]"
    if values and isinstance(values[0], tuple):  # bytes and seconds, of calls
        pairs = (f"[{size_text(min_size)}, {scaled_text(seconds, TIMES)}]" for min_size, seconds in values)
        return f"[{', '.join(pairs)}]"
    if values and isinstance(values[0], float):
        return list_text([scaled_text(item, TIMES) for item in values])
    items = [quoted_text(item) if isinstance(item, str) else repr(item) for item in values]
    return list_text(items)
