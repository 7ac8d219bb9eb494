# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of emulated machines: search by name, reading and writing of machine files.

Every error names the file and the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from hockney.core.errors import UsageError
from hockney.core.ethernet import Ethernet, EthernetFault, EthernetOrigin, Medium, Status
from hockney.core.units import parse_bytes, parse_rate, parse_seconds
from hockney.machines.descriptions import files, values
from hockney.machines.descriptions.files import (
    BITS,
    TIMES,
    Readers,
    bundled_names,
    list_text,
    machine_text,
    quoted_text,
    scaled_text,
    size_text,
)
from hockney.machines.descriptions.values import Place, Quantity, origin_of_nothing

GUIDE = "docs/emulated.md"
MOST_HOSTS = 250
"""They share a network of class C with the launcher's host (engine/emulated/links.hpp)."""
LEAST_MTU, MOST_MTU = 576, 9000
"""What every host on the Internet must accept (RFC 791), and jumbo frames."""
LEAST_RATE, MOST_RATE = 125.0, 125e9
"""Bytes a second: 1 kbit/s and 1 Tbit/s (engine/emulated/ethernet.cpp)."""


def read(text: str, where: str = "machine file") -> Ethernet:
    """Parse the description in `text`. `where` names the file in errors. Raises UsageError for an invalid
    description."""
    root = Place(where, "")
    ethernet = files.read_structure(
        Ethernet, files.parse_toml(text, where, GUIDE), root, READERS, example=_example
    )
    for k, origin in enumerate(ethernet.origins):
        if origin.key not in NUMBERS:
            place = root.at("origins").item(k).at("key").label
            raise origin_of_nothing(place, origin.key, "rate or hosts")
    if ethernet.trunk and (ethernet.medium == "bus" or ethernet.hosts < 2):
        raise UsageError(
            f"{root.at('trunk').label}: there are no two switches",
            "the trunk connects two switches, each with half of at least two hosts",
            'use medium = "switch", or leave trunk out',
            code="trunk-without-switches",
        )
    for k, fault in enumerate(ethernet.faults):
        _check_fault(fault, ethernet.hosts, root.at("faults").item(k).at("hosts").label)
    return ethernet


def _check_fault(fault: EthernetFault, hosts: int, label: str) -> None:
    if len(fault.hosts) not in (1, 2) or len(set(fault.hosts)) < len(fault.hosts):
        raise UsageError(
            f"{label} is neither a host nor two hosts",
            "a fault concerns one host, or the path between two hosts",
            "use for example hosts = [3] or hosts = [2, 5]",
            code="fault-not-one-or-two-hosts",
            place=label,
        )
    if max(fault.hosts) > hosts:
        raise UsageError(
            f"{label}: host h{max(fault.hosts)} does not exist",
            f"hosts are numbered from 1 to {hosts}",
            "use a number in this range",
            code="fault-beyond-hosts",
            place=label,
        )


def _example(name: str) -> str:
    return {"hosts": "hosts = 4", "rate": 'rate = "10Mbit/s"', "medium": 'medium = "bus"'}.get(
        name, f"{name} = ..."
    )


HOSTS = Quantity("number of hosts", values.no_text, "8", MOST_HOSTS, positive=True, whole=True)
RATE = Quantity("rate", parse_rate, '"10Mbit/s"', MOST_RATE, low=LEAST_RATE)
MTU = Quantity("packet size", parse_bytes, "1500", MOST_MTU, low=LEAST_MTU, whole=True)
BUFFER = Quantity("buffer size", parse_bytes, '"64KiB"', 1 << 30, whole=True)
SHORT = Quantity("time", parse_seconds, '"10us"', 1.0)

HOST = Quantity("host number", values.no_text, "3", MOST_HOSTS, positive=True, whole=True)
SLOWDOWN = Quantity("slowdown", values.no_text, "1.1", 1e6, low=1.0)
LOSS = Quantity("share of lost frames", values.no_text, "0.001", 0.99)

READERS: Readers = {
    EthernetFault: {
        "hosts": values.list_of(HOST.read),
        "slowdown": SLOWDOWN.read,
        "loss": LOSS.read,
    },
    EthernetOrigin: {
        "key": values.nonempty_text,
        "status": values.choice_of(get_args(Status)),
        "source": values.nonempty_text,
    },
    Ethernet: {
        "name": values.machine_name,
        "title": values.nonempty_text,
        "source": values.text_value,
        "hosts": HOSTS.read,
        "rate": RATE.read,
        "medium": values.choice_of(get_args(Medium)),
        "mtu": MTU.read,
        "delay_s": SHORT.read,
        "send_buffer": BUFFER.read,
        "wait_s": SHORT.read,
        "wait_shared_s": SHORT.read,
        "trunk": RATE.read,
        "faults": values.list_of(lambda raw, place: files.read_structure(EthernetFault, raw, place, READERS)),
        "origins": values.list_of(
            lambda raw, place: files.read_structure(EthernetOrigin, raw, place, READERS)
        ),
        "notes": values.list_of(values.text_value),
    },
}
"""The meaning of each key's value; a test compares it with the fields of core/ethernet.py."""

NUMBERS = ("hosts", "rate", "medium", "mtu", "delay_s", "send_buffer", "wait_s", "wait_shared_s", "trunk")
"""Keys that have an origin."""


TABLES = ("faults", "origins")


def write(ethernet: Ethernet) -> str:
    """Format the complete TOML, without values that equal their defaults."""
    lines = list(_keys(ethernet))
    for name in TABLES:
        for table in getattr(ethernet, name):
            lines += ["", f"[[{name}]]", *_keys(table)]
    return "\n".join(lines) + "\n"


def _keys(table: msgspec.Struct) -> Iterator[str]:
    for field in msgspec.structs.fields(type(table)):
        value = getattr(table, field.name)
        if field.name not in TABLES and (field.required or value != field.default):
            yield f"{field.name} = {value_text(field.name, value)}"


def value_text(name: str, value: Any) -> str:
    """Format a value for a machine file according to its key: "10Mbit/s" for rate."""
    if isinstance(value, str):
        return quoted_text(value)
    if isinstance(value, tuple):
        return list_text([quoted_text(item) if isinstance(item, str) else repr(item) for item in value])
    if name in ("rate", "trunk"):
        return scaled_text(value * 8, BITS)
    if name == "send_buffer":
        return size_text(value)
    return scaled_text(value, TIMES) if name.endswith("_s") else repr(value)


PACKAGE = "hockney.machines.emulated"


def names() -> tuple[str, ...]:
    """Names of the bundled machines."""
    return bundled_names(PACKAGE)


def ethernet(name: str) -> Ethernet:
    """Description of a machine by name. Raises UsageError for an unknown name, EnvironmentProblem for an
    unreadable file."""
    if not name.strip():
        raise UsageError(
            "the name of the emulated machine is empty",
            "",
            f"available: {', '.join(names())}",
            code="no-emulated-machine-name",
        )
    return read(*machine_text(name, PACKAGE, "emulated"))
