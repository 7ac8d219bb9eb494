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
from hockney.launch.allocation import Allocation, find_allocation
from hockney.launch.cluster import NO_CLUSTER, Cluster, Srun
from hockney.launch.slurm import find_srun, list_interfaces, suitable_interfaces
from hockney.mpi import family_of, named_families, title_of

MAX_LISTED_NAMES = 8

HOST_PATTERN = re.compile(r"(?P<name>[A-Za-z0-9_][A-Za-z0-9_.\-]{0,252})(?::(?P<slots>[1-9]\d{0,5}))?")


@dataclass(frozen=True)
class Hosts:
    """Hosts of a run. `layout` is None if the launcher places the ranks. `cluster` has no `srun` yet.
    `starters` are the launchers to try, in order."""

    cluster: Cluster = NO_CLUSTER
    layout: Layout | None = None
    starters: tuple[str, ...] = ("mpiexec",)

    @property
    def spans_nodes(self) -> bool:
        return self.layout is not None and self.layout.nodes > 1

    def candidate_clusters(self, mpi: Mpi, environ: Mapping[str, str]) -> Iterator[Cluster]:
        """Yield the cluster with each available launcher, in order of preference. srun is asked for its
        interfaces only after mpiexec has failed. Raises EnvironmentProblem at the end if srun is the only
        launcher."""
        if "mpiexec" in self.starters:
            yield self.cluster
        if "srun" in self.starters:
            srun = find_srun(environ)
            available = list_interfaces(srun)
            candidates = suitable_interfaces(available, mpi, environ)
            for pmi in candidates:
                yield replace(self.cluster, srun=Srun(srun.program, srun.version, pmi))
            if "mpiexec" not in self.starters:
                why = f"srun --mpi=list has {', '.join(available) or 'none'}"
                if candidates:
                    why += f"; tried {', '.join(name or 'the default' for name in candidates)}"
                raise EnvironmentProblem(
                    f"srun does not connect the ranks of {title_of(mpi)}",
                    why,
                    f"use {option('starter', 'mpiexec')}, or an MPI that was built with Slurm's PMIx or PMI2",
                    code="srun-connects-no-ranks",
                    offered=tuple(available),
                    tried=tuple(candidates),
                )


def choose(options: HostOptions, mpi: Mpi, environ: Mapping[str, str]) -> Hosts:
    """Choose hosts from the user's options and the batch job; by default, use all hosts of the job. Raises
    UsageError, and EnvironmentProblem for a missing program."""
    job = find_allocation(environ)
    starters = _choose_starters(options, job, environ)
    agent = _parse_agent(options.agent, environ)
    if agent and starters == ("srun",):
        raise UsageError(
            "srun uses no remote shell",
            "",
            f"leave out {option('agent')}, or use {option('starter', 'mpiexec')}",
            code="agent-with-srun",
        )
    cluster = replace(_choose_cluster(options, job), agent=agent)
    count = len(cluster.hosts) or (job.count if job else 1)
    nodes = options.nodes or count
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
            f"there {'is' if count == 1 else 'are'} {count}: {list_names(cluster.hosts, MAX_LISTED_NAMES)}",
            f"use {option('nodes', count)}, name more with {option('hosts')}, or use a larger allocation",
            code="too-few-hosts",
            nodes=nodes,
            hosts=tuple(cluster.hosts),
        )
    layout = _choose_layout(nodes, options.ranks_per_node, cluster)
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
        cluster = cluster.limited_to(nodes)
    if count == 1 and not options.hosts:  # this host, whose cores the launcher chooses
        cluster = replace(cluster, hosts=(), slots=(), granted=())
    return Hosts(cluster, layout, starters)


def _choose_starters(
    options: HostOptions, job: Allocation | None, environ: Mapping[str, str]
) -> tuple[str, ...]:
    in_slurm = job is not None and job.scheduler == "slurm"
    if options.starter == "srun":
        if not in_slurm:
            raise UsageError(
                "srun starts ranks only inside a job of Slurm",
                "outside, every launch would wait in the queue",
                "start hockney in salloc or sbatch",
                code="srun-outside-of-job",
            )
        find_srun(environ)
        return ("srun",)
    if options.starter == "mpiexec" or options.agent or not in_slurm:
        return ("mpiexec",)
    return ("mpiexec", "srun") if shutil.which("srun", path=environ.get("PATH", "")) else ("mpiexec",)


def _choose_cluster(options: HostOptions, job: Allocation | None) -> Cluster:
    """Return the hosts named by the user, or else those of the job, with their known slots."""
    if not options.hosts:
        return Cluster(job.hosts, job.processors, job.slots) if job else NO_CLUSTER
    names, slots = _parse_hosts(options.hosts)
    if not job or not job.hosts:
        return Cluster(names, slots)
    positions = {host: position for position, host in enumerate(job.hosts)}
    for name in names:
        if name not in positions:
            raise UsageError(
                f"{name} does not belong to this batch job",
                f"its hosts are {list_names(job.hosts, MAX_LISTED_NAMES)}",
                "",
                code="host-not-in-job",
                host=name,
                hosts=tuple(job.hosts),
            )

    def select_numbers(numbers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(numbers[positions[name]] for name in names) if numbers else ()

    return Cluster(names, slots or select_numbers(job.processors), select_numbers(job.slots))


def _parse_hosts(hosts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names of the hosts, and their slots if given."""
    slots_by_host: dict[str, int] = {}
    for text in hosts:
        match = HOST_PATTERN.fullmatch(text)
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


def _choose_layout(nodes: int, ranks_per_node: int, cluster: Cluster) -> Layout | None:
    """By default, a host runs as many ranks as its job has there, or one if that is unknown."""
    if ranks_per_node:
        return Layout(nodes, ranks_per_node)
    if nodes > 1 and (cluster.hosts or cluster.granted):
        return Layout(nodes, min(cluster.granted or cluster.slots, default=1))
    return None


def _parse_agent(text: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Split the remote shell's command line. Launchers split at blanks even inside quotes."""
    if not text:
        return ()
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise _invalid_agent(text, str(error)) from error
    if not words or not text.isprintable() or any(set(word) & set(" :\t") for word in words):
        raise _invalid_agent(text, "launchers split it at blanks and colons")
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


def _invalid_agent(agent: str, reason: str) -> UsageError:
    return UsageError(
        f"{option('agent', printable(agent))} cannot be used as a remote shell",
        reason,
        f"use for example {option('agent')} 'ssh -p 2222', without quotes inside",
        code="agent-not-words",
        agent=agent,
    )
