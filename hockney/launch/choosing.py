# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which hosts a run uses, how ranks are spread over them, and what may start the ranks there."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Mpi
from hockney.core.wording import join_words, list_names, option
from hockney.launch.allocation import Allocation, allocation
from hockney.launch.cluster import NO_CLUSTER, Cluster, Srun
from hockney.launch.slurm import find_srun, list_interfaces, suitable_interfaces
from hockney.mpi import family_of, named_families, title_of

MOST_NAMED = 8

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
            offered = list_interfaces(srun)
            tried = suitable_interfaces(offered, mpi, environ)
            for pmi in tried:
                yield replace(self.cluster, srun=Srun(srun.program, srun.version, pmi))
            if "mpiexec" not in self.starters:
                why = f"srun --mpi=list has {', '.join(offered) or 'none'}"
                if tried:
                    why += f"; tried {', '.join(name or 'the default' for name in tried)}"
                raise EnvironmentProblem(
                    f"srun does not connect the ranks of {title_of(mpi)}",
                    why,
                    f"use {option('starter', 'mpiexec')}, or an MPI that was built with Slurm's PMIx or PMI2",
                    code="srun-connects-no-ranks",
                    offered=tuple(offered),
                    tried=tuple(tried),
                )


def choose(given: HostOptions, mpi: Mpi, environ: Mapping[str, str]) -> Hosts:
    """Choose hosts by the user's options and the batch job, all of whose hosts are used by default. Raises
    UsageError, and EnvironmentProblem for a program that is missing."""
    job = allocation(environ)
    starters = _starters(given, job, environ)
    agent = _agent(given.agent, environ)
    if agent and starters == ("srun",):
        raise UsageError(
            "srun uses no remote shell",
            "",
            f"leave out {option('agent')}, or use {option('starter', 'mpiexec')}",
            code="agent-with-srun",
        )
    cluster = replace(_choose_cluster(given, job), agent=agent)
    count = len(cluster.hosts) or (job.count if job else 1)
    nodes = given.nodes or count
    if nodes > count:
        if not cluster.hosts:
            raise UsageError(
                f"{option('nodes', nodes)} needs hosts",
                "this is not inside a batch job",
                "add --submit, start hockney in salloc or sbatch, or name the hosts: "
                f"{option('hosts', 'n1,n2')}",
                code="no-other-hosts",
                nodes=nodes,
            )
        count = len(cluster.hosts)
        raise UsageError(
            f"{option('nodes', nodes)} needs more hosts",
            f"there {'is' if count == 1 else 'are'} {count}: {list_names(cluster.hosts, MOST_NAMED)}",
            f"use {option('nodes', count)}, name more with {option('hosts')}, or use a larger allocation",
            code="too-few-hosts",
            nodes=nodes,
            hosts=tuple(cluster.hosts),
        )
    layout = _layout(nodes, given.ranks_per_node, cluster)
    if layout and nodes > 1 and not family_of(mpi).known and "mpiexec" in starters:
        if "srun" not in starters:
            raise UsageError(
                f"how {mpi.mpiexec} spreads ranks over hosts is not known",
                f"this MPI is none of {join_words(family.title for family in named_families())}",
                f"use {option('starter', 'srun')}, or give its options with {option('mpiexec_args')}",
                code="layout-of-unknown-mpi",
            )
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
            raise UsageError(
                "srun starts ranks only inside a job of Slurm",
                "outside, every launch would wait in the queue",
                "start hockney in salloc or sbatch",
                code="srun-outside-of-job",
            )
        find_srun(environ)
        return ("srun",)
    if given.starter == "mpiexec" or given.agent or not in_slurm:
        return ("mpiexec",)
    return ("mpiexec", "srun") if shutil.which("srun", path=environ.get("PATH", "")) else ("mpiexec",)


def _choose_cluster(given: HostOptions, job: Allocation | None) -> Cluster:
    """The hosts that the user names, or else those of the job, with what is known of their slots."""
    if not given.hosts:
        return Cluster(job.hosts, job.processors, job.slots) if job else NO_CLUSTER
    names, slots = _parse_hosts(given.hosts)
    if not job or not job.hosts:
        return Cluster(names, slots)
    places = {host: place for place, host in enumerate(job.hosts)}
    for name in names:
        if name not in places:
            raise UsageError(
                f"{name} does not belong to this batch job",
                f"its hosts are {list_names(job.hosts, MOST_NAMED)}",
                "",
                code="host-not-in-job",
                host=name,
                hosts=tuple(job.hosts),
            )

    def of_job(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(numbers[places[name]] for name in names) if numbers else ()

    return Cluster(names, slots or of_job(job.processors), of_job(job.slots))


def _parse_hosts(hosts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The names, and the slots of each if they are given."""
    slots_by_host: dict[str, int] = {}
    for text in hosts:
        match = HOST.fullmatch(text)
        if not match:
            raise UsageError(
                f"'{printable(text)}' is not the name of a host",
                "",
                f"use for example {option('hosts', 'n1,n2')}, or {option('hosts', 'n1:4,n2:4')} with the "
                "number of ranks that fit on each",
                code="not-a-host",
                text=text,
            )
        if match["name"] in slots_by_host:
            host = match["name"]
            raise UsageError(
                f"{option('hosts')} names {host} twice",
                "",
                f"give its number of slots instead, for example {host}:2",
                code="host-given-twice",
                host=host,
            )
        slots_by_host[match["name"]] = int(match["slots"] or 0)
    if any(slots_by_host.values()) and not all(slots_by_host.values()):
        host = next(name for name, slots in slots_by_host.items() if not slots)
        raise UsageError(
            f"{option('hosts')} gives slots for some hosts but not for {host}",
            "",
            "give them for all hosts or for none",
            code="slots-of-some-hosts",
            host=host,
        )
    return tuple(slots_by_host), tuple(slots_by_host.values()) if all(slots_by_host.values()) else ()


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
        raise _agent_not_words(text, str(error)) from error
    if not words or not text.isprintable() or any(set(word) & set(" :\t") for word in words):
        raise _agent_not_words(text, "launchers split it at blanks and colons")
    program = shutil.which(words[0], path=environ.get("PATH", ""))
    if program is None:
        raise EnvironmentProblem(
            f"the remote shell {printable(words[0])} cannot be started",
            "there is no such program",
            f"give its path with {option('agent')}",
            code="agent-not-found",
            program=words[0],
        )
    return (program, *words[1:])


def _agent_not_words(agent: str, reason: str) -> UsageError:
    return UsageError(
        f"{option('agent', printable(agent))} cannot be used as a remote shell",
        reason,
        f"use for example {option('agent')} 'ssh -p 2222', without quotes inside",
        code="agent-not-words",
        agent=agent,
    )
