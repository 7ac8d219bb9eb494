# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The switches between hosts, in the format of Slurm's topology.conf, which `scontrol show topology` prints
too: a line for each switch with the nodes or switches below it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from hockney.core.errors import UsageError, printable
from hockney.core.machine import Switch
from hockney.launch.allocation import host_list
from hockney.process import CannotStart, ProgramTimeout, capture

SCONTROL_TIMEOUT_S = 10.0
NAME_KEYS = ("switchname", "blockname")
EXAMPLE = "'SwitchName=leaf1 Nodes=n[1-8]' and 'SwitchName=top Switches=leaf[1-4]'"


def job_topology(environ: Mapping[str, str]) -> list[Switch]:
    """The switches of the cluster of this Slurm job; empty outside of a job, and on a cluster without a
    described topology."""
    if "SLURM_JOB_ID" not in environ or shutil.which("scontrol", path=environ.get("PATH")) is None:
        return []
    try:
        printed = capture(["scontrol", "show", "topology"], timeout=SCONTROL_TIMEOUT_S)
        return parse_topology(printed.out) if printed.ok else []
    except (CannotStart, ProgramTimeout, UsageError):
        return []


def read_topology(path: Path, hosts: Sequence[str] = ()) -> list[Switch]:
    """Read a topology file. Raises UsageError if it cannot be read, if a line is malformed, and if it has
    none of the `hosts`."""
    name = printable(str(path))
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"the topology {name} cannot be read",
            str(error.strerror),
            "name a file in the format of Slurm's topology.conf",
            code="topology-unreadable",
            path=str(path),
        ) from error
    try:
        switches = parse_topology(text)
    except UsageError as error:
        raise error.with_context(name) from error
    nodes = {node for switch in switches for node in switch.nodes}
    if not nodes or (hosts and not nodes & set(hosts)):
        raise UsageError(
            f"the topology {name} has none of the nodes",
            f"it has {', '.join(sorted(nodes)[:3]) or 'no nodes'}; the nodes are {', '.join(hosts[:3])}",
            "use the names that 'hockney doctor' prints",
            code="topology-of-other-nodes",
            path=str(path),
        )
    return switches


def parse_topology(text: str) -> list[Switch]:
    """Raises UsageError with the number of the first malformed line."""
    switches: list[Switch] = []
    pending = ""
    for number, line in enumerate(text.splitlines(), 1):
        pending += line.partition("#")[0]
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        values = dict(_pairs(pending))
        pending = ""
        name = next((values[key] for key in NAME_KEYS if values.get(key)), "")
        if not values:
            continue
        below = {key: values.get(key, "") for key in ("nodes", "switches")}
        try:
            nodes, children = (list(host_list(below[key])) for key in ("nodes", "switches"))
        except ValueError:
            nodes, children = [], []
        if not name or not (nodes or children) or any(switch.name == name for switch in switches):
            raise UsageError(
                f"line {number} does not describe a switch",
                f"'{printable(line.strip())}' lacks a new name, or valid Nodes or Switches",
                f"write lines such as {EXAMPLE}",
                code="topology-malformed",
                line=number,
            )
        switches.append(Switch(name=name, nodes=nodes, switches=children))
    return switches


def _pairs(line: str) -> list[tuple[str, str]]:
    words = line.split()
    return [(key.lower(), value) for key, _, value in (word.partition("=") for word in words)]
