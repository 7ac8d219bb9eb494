# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of engine/emulated/, which emulate an Ethernet of hosts on this host: compiled on first
use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hockney.build.identity import EMULATED, source_folder
from hockney.build.once import Products, compiled_once

ETHERNET, WAITING = "hockney-ethernet", "libhockney-waiting.so"
PROGRAMS = {
    ETHERNET: ("ethernet", "agent", "room", "relay", "medium", "links"),
    WAITING: ("waiting",),
}
"""Source files of each program."""
AGENT = "hockney-ethernet-agent"
"""Additional name of ETHERNET."""
FLAGS = {ETHERNET: ("-O2",), WAITING: ("-O2", "-shared", "-fPIC")}


@dataclass(frozen=True)
class EthernetPrograms:
    """`ethernet` runs a command among emulated hosts, `agent` is a remote shell to them, and `waiting` a
    library that makes a polling MPI wait."""

    ethernet: Path
    agent: Path
    waiting: Path


def ethernet_programs(
    notify: Callable[[str], None] = lambda _: None, environ: Mapping[str, str] | None = None
) -> EthernetPrograms:
    """Return the programs of emulated machines, from the cache or compiled into it. Raises
    EnvironmentProblem."""
    place = compiled_once(
        EMULATED,
        "the programs of emulated machines (once; a few seconds)",
        "ethernet-does-not-compile",
        [word for flags in FLAGS.values() for word in flags],
        _products,
        needs=" and finds the kernel's headers",
        environ=environ,
        notify=notify,
    )
    return EthernetPrograms(place / ETHERNET, place / AGENT, place / WAITING)


def _products(folder: Path) -> Products:
    for name, parts in PROGRAMS.items():
        files = (str(source_folder() / EMULATED / f"{part}.cpp") for part in parts)
        yield name, (*FLAGS[name], *files, "-ldl")
    (folder / AGENT).symlink_to(ETHERNET)
