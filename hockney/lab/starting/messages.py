# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about hosts, and about starting ranks on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.core.errors import UsageError, printable
from hockney.core.layout import WITHIN, Layout, Level
from hockney.core.units import format_seconds
from hockney.core.wording import listing, together
from hockney.lab.finding import Finding

MOST_NAMED = 8


def no_hosts_on_machine(machine: str) -> UsageError:
    return UsageError(
        f"--hosts, --launcher and --agent do not apply to {printable(machine)}",
        "its hosts are described, not started",
        "leave them out",
        code="no-hosts-on-machine",
        machine=machine,
    )


def layout_chosen(layout: Layout, hosts: Sequence[str], scheduler: str) -> Finding:
    """`hosts` are those that are used, in order; () if only the launcher has their names."""
    where = f" on {listing(hosts, MOST_NAMED)}" if hosts else ""
    job = f" ({scheduler})" if scheduler else ""
    return Finding(
        "good",
        "hosts",
        f"{layout.text}: {layout.nodes} {'host' if layout.nodes == 1 else 'hosts'} with "
        f"{layout.ranks_per_node} {'rank' if layout.ranks_per_node == 1 else 'ranks'} each{where}{job}",
        "layout",
        {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node, "hosts": list(hosts)},
    )


def started_by(program: str, interface: str, agent: str) -> Finding:
    """`interface` is srun's, "" with mpiexec; `agent` is the remote shell, "" for the launcher's own."""
    how = f" --mpi={interface}" if interface else f", remote shell {printable(agent)}" if agent else ""
    numbers = {"program": program, "interface": interface, "agent": agent}
    return Finding("good", "launcher", f"{program}{how}", "launcher", numbers)


def levels_found(levels: Sequence[Level]) -> Finding:
    text = f"pairs of ranks meet {together(WITHIN[level] for level in levels)}"
    return Finding("good", "levels", text, "levels", {"levels": list(levels)})


def single_level() -> Finding:
    text = "only one rank: nothing can be measured between two"
    return Finding("note", "levels", text, "levels", {"levels": []})


def cost_of_starting(ranks: int, start_s: float, init_s: float) -> Finding:
    """`start_s` is the time from starting the launcher to the engine's first line, `init_s` that of
    MPI_Init."""
    return Finding(
        "good",
        "starting",
        f"{ranks} ranks take {format_seconds(start_s)}, of which MPI_Init {format_seconds(init_s)}",
        "cost-of-starting",
        {"ranks": ranks, "start_s": start_s, "init_s": init_s},
    )


def cost_of_fabric(variables: Mapping[str, str], init_s: float, with_fabric_s: float) -> Finding:
    """`variables` leave the fabric out."""
    setting = " ".join(f"{name}={value}" for name, value in variables.items())
    numbers = {"variables": dict(variables), "init_s": init_s, "with_fabric_s": with_fabric_s}
    text = (
        f"MPI_Init takes {format_seconds(with_fabric_s)} with the network fabric, which ranks on one host do "
        f"not use, and {format_seconds(init_s)} without it: launches leave it out ({setting})"
    )
    return Finding("note", "fabric", text, "cost-of-fabric", numbers)


def emulated_hosts_start(machine: str, hosts: Sequence[str], seconds: float) -> Finding:
    return Finding(
        "good",
        machine,
        f"ranks start on the emulated hosts {', '.join(hosts)}, in {format_seconds(seconds)}",
        "emulated-hosts-start",
    )


def oversubscribed_ranks_start(ranks: int) -> Finding:
    return Finding("good", f"{ranks} ranks", "start, though they share cores", "oversubscribed-ranks-start")
