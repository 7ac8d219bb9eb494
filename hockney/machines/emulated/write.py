# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Writes an Ethernet as a machine file, which parses to an equal Ethernet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from hockney.core.ethernet import Ethernet
from hockney.machines.descriptions.numbers import BITS, TIMES, list_text, quoted, scaled, size


def write(ethernet: Ethernet) -> str:
    """The complete TOML, without values that equal their defaults."""
    lines = list(_keys(ethernet))
    for origin in ethernet.origins:
        lines += ["", "[[origins]]", *_keys(origin)]
    return "\n".join(lines) + "\n"


def _keys(table: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(type(table)):
        value = getattr(table, field.name)
        if field.name != "origins" and (field.required or value != field.default):
            yield f"{field.name} = {value_text(field.name, value)}"


def value_text(name: str, value: Any) -> str:
    """A value in the format of a machine file, by its key's name: "10Mbit/s" for rate."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple):
        return list_text([quoted(each) for each in value])
    if name == "rate":
        return scaled(value * 8, BITS)
    if name == "send_buffer":
        return size(value)
    return scaled(value, TIMES) if name.endswith("_s") else repr(value)
