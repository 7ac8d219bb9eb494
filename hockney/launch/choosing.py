# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which hosts a run uses, how ranks are spread over them, and what may start the ranks there."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Mpi
from hockney.launch.allocation import Allocation, allocation
from hockney.launch.cluster import NO_CLUSTER, Cluster, Srun
from hockney.launch.messages import hosts as messages
from hockney.launch.slurm import find_srun, interfaces, suitable

HOST = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.\-]{0,252})(?::(?P<slots>[1-9]\d{0,5}))?")


@dataclass(frozen=True)
class Hosts:
    """`layout` is None if the launcher places the ranks. `cluster` has no `srun` yet; `starters` are those
    to be tried."""

    cluster: Cluster = NO_CLUSTER
    layout: Layout | None = None
    starters: tuple[str, ...] = ("mpiexec",)

    @property
    def several(self) -> bool:
        return self.layout is not None and self.layout.nodes > 1

    def ways(self, mpi: Mpi, environ: Mapping[str, str]) -> Iterator[Cluster]:
        """The cluster with each way of starting ranks on it, the best first. srun's interfaces are asked for
        only when the ways before them did not work. Raises EnvironmentProblem at the end if there is no
        other way than srun."""
        if "mpiexec" in self.starters:
            yield self.cluster
        if "srun" in self.starters:
            srun = find_srun(environ)
            offered = interfaces(srun)
            tried = suitable(offered, mpi, environ)
            for pmi in tried:
                yield replace(self.cluster, srun=Srun(srun.program, srun.version, pmi))
            if "mpiexec" not in self.starters:
                raise messages.srun_connects_no_ranks(mpi.title, offered, tried)


def choose(given: HostOptions, mpi: Mpi, environ: Mapping[str, str]) -> Hosts:
    """From the user's options and the batch job, all of whose hosts are used by default. Raises UsageError,
    and EnvironmentProblem for a program that is missing."""
    job = allocation(environ)
    starters = _starters(given, job, environ)
    agent = _agent(given.agent, environ)
    if agent and starters == ("srun",):
        raise messages.agent_with_srun()
    cluster = replace(_named(given, job), agent=agent)
    count = len(cluster.hosts) or (job.count if job else 1)
    nodes = given.nodes or count
    if nodes > count:
        if not cluster.hosts:
            raise messages.no_other_hosts(nodes)
        raise messages.too_few_hosts(nodes, cluster.hosts)
    layout = _layout(nodes, given.ranks_per_node, cluster)
    if layout and nodes > 1 and mpi.family == "unknown" and "mpiexec" in starters:
        if "srun" not in starters:
            raise messages.layout_of_unknown_mpi(mpi.mpiexec)
        starters = ("srun",)
    if layout is None and nodes < len(cluster.hosts):
        cluster = cluster.taken(nodes)
    if count == 1 and not given.hosts:  # this host, whose cores the launcher chooses
        cluster = replace(cluster, hosts=(), slots=(), granted=())
    return Hosts(cluster, layout, starters)


def _starters(given: HostOptions, job: Allocation | None, environ: Mapping[str, str]) -> tuple[str, ...]:
    in_slurm = job is not None and job.scheduler == "slurm"
    if given.starter == "srun":
        if not in_slurm:
            raise messages.srun_outside_of_job()
        find_srun(environ)
        return ("srun",)
    if given.starter == "mpiexec" or given.agent or not in_slurm:
        return ("mpiexec",)
    return ("mpiexec", "srun") if shutil.which("srun", path=environ.get("PATH", "")) else ("mpiexec",)


def _named(given: HostOptions, job: Allocation | None) -> Cluster:
    """The hosts that the user names, or else those of the job, with what is known of their slots."""
    if not given.hosts:
        return Cluster(job.hosts, job.processors, job.slots) if job else NO_CLUSTER
    names, slots = _parsed(given.hosts)
    if not job or not job.hosts:
        return Cluster(names, slots)
    places = {host: place for place, host in enumerate(job.hosts)}
    for name in names:
        if name not in places:
            raise messages.host_not_in_job(name, job.hosts)

    def of_job(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(numbers[places[name]] for name in names) if numbers else ()

    return Cluster(names, slots or of_job(job.processors), of_job(job.slots))


def _parsed(hosts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The names, and the slots of each if they are given."""
    found: dict[str, int] = {}
    for text in hosts:
        match = HOST.fullmatch(text)
        if not match:
            raise messages.not_a_host(text)
        if match["name"] in found:
            raise messages.host_given_twice(match["name"])
        found[match["name"]] = int(match["slots"] or 0)
    if any(found.values()) and not all(found.values()):
        raise messages.slots_of_some_hosts(next(name for name, slots in found.items() if not slots))
    return tuple(found), tuple(found.values()) if all(found.values()) else ()


def _layout(nodes: int, ranks_per_node: int, cluster: Cluster) -> Layout | None:
    """By default a host has as many ranks as its job has there, or one if nothing is known of it."""
    if ranks_per_node:
        return Layout(nodes, ranks_per_node)
    if nodes > 1 and (cluster.hosts or cluster.granted):
        return Layout(nodes, min(cluster.granted or cluster.slots, default=1))
    return None


def _agent(text: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Its words; launchers split them at blanks, whatever the quotes."""
    if not text:
        return ()
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise messages.agent_not_words(text, str(error)) from error
    if not words or not text.isprintable() or any(set(word) & set(" :\t") for word in words):
        raise messages.agent_not_words(text, "launchers split it at blanks and colons")
    program = shutil.which(words[0], path=environ.get("PATH", ""))
    if program is None:
        raise messages.agent_not_found(words[0])
    return (program, *words[1:])
