# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""Caveats about ranks and threads that share processors, from the affinity masks of ranks."""

from __future__ import annotations

from collections.abc import Mapping

from hockney.core.machine import Machine
from hockney.core.record import Launch
from hockney.core.wording import plural
from hockney.draw.page import Caveat
from hockney.mpi import families
from hockney.pages.caveats.run_caveat import RunCaveat, run_caveat
from hockney.pages.evidence import Evidence


def processors(mask: str) -> set[int]:
    """ "0-2,8" as numbers; empty if it is not such a list."""
    cpus: set[int] = set()
    for part in mask.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            cpus.update(range(int(first), min(int(last or first), int(first) + 65536) + 1))
    return cpus


def crowded(launch: Launch, machine: Machine) -> bool:
    """Whether more ranks run on a host than it has processors for them."""
    hosts: dict[str, list[str]] = {}
    for rank in launch.ranks:
        hosts.setdefault(rank.host, []).append(rank.cpus)
    for host, masks in hosts.items():
        cpus = {cpu for mask in masks for cpu in processors(mask)}
        if cpus and len(masks) > len(cpus):
            return True
        if not cpus and host == machine.host and len(masks) > machine.threads:
            return True
    return False


def bound(mask: str, machine: Machine) -> bool:
    """Whether a rank with this mask is bound to a core, of which it may use all hardware threads."""
    threads = -(-machine.threads // max(1, machine.cores))
    return 0 < len(processors(mask)) <= threads


THREADS = "threads"
"""The role of workloads with several threads in each rank."""
OFF = ("", "0", "no", "off", "false", "disable")
"""Values of a variable that switch MPI's progress thread off."""


def threads_share_cores(evidence: Evidence) -> RunCaveat | None:
    """Threads of a rank with fewer processors than threads: they take turns instead of running at the same
    time."""
    launches = {launch.launch: launch for launch in evidence.run.launches}
    few: dict[str, tuple[int, int]] = {}
    for m in evidence.of_role(THREADS):
        threads = int(m.case.number("threads"))
        for record in evidence.run.by_case().get(m.case.line, []):
            masks = [len(processors(rank.cpus)) for rank in launches[record.launch].ranks]
            if masks and 0 < min(masks) < threads:
                few[m.case.line] = (threads, min(masks))
    if not few:
        return None
    threads, cpus = max(few.values(), key=lambda each: each[0] / each[1])
    return run_caveat(
        Caveat(
            "threads-share-cores",
            f"the {threads} threads of a rank share {plural(cpus, 'processor')}: they communicate in turn, "
            "not at the same time",
            "",
            "leave ranks unbound (--no-bind), or bind each to several cores (--mpiexec-args)",
        ),
        few,
    )


def progress_thread_shares_core(evidence: Evidence) -> RunCaveat | None:
    """Launches with a progress thread whose ranks have a single processor each, or fewer than threads on a
    host together."""
    machine = evidence.machine.settings or {}
    sharing = set()
    for launch in evidence.run.launches:
        masks = [processors(rank.cpus) for rank in launch.ranks]
        few = len(set().union(*masks)) < 2 * len(masks) / max(1, len(launch.hosts))
        if switched_on(machine | launch.variables) and all(masks) and (min(map(len, masks)) == 1 or few):
            sharing.add(launch.launch)
    if not sharing:
        return None
    return run_caveat(
        Caveat(
            "progress-thread-shares-core",
            "MPI's progress thread shares a processor with its rank: each waits while the other runs",
            "",
            "use fewer ranks and leave them unbound (--no-bind), or bind each to several cores "
            "(--mpiexec-args)",
        ),
        {r.case for r in evidence.run.records if r.launch in sharing},
    )


def switched_on(variables: Mapping[str, str]) -> bool:
    """Whether these variables of a launch switch a progress thread on."""
    names = (name for family in families() for name in family.progress_variables)
    return any(variables.get(name, "").lower() not in OFF for name in names)
