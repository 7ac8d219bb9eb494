# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about the choice of hosts, and of the program that starts ranks on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.core.wording import listing

MOST_NAMED = 8


def not_a_host(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not the name of a host",
        "",
        "use for example --hosts n1,n2, or --hosts n1:4,n2:4 with the number of ranks that fit on each",
        code="not-a-host",
        text=text,
    )


def host_given_twice(host: str) -> UsageError:
    return UsageError(
        f"--hosts names {host} twice",
        "",
        f"give its slots instead, for example {host}:2",
        code="host-given-twice",
        host=host,
    )


def slots_of_some_hosts(host: str) -> UsageError:
    return UsageError(
        f"--hosts gives slots for some hosts but not for {host}",
        "",
        "give them for all hosts or for none",
        code="slots-of-some-hosts",
        host=host,
    )


def too_few_hosts(nodes: int, hosts: Sequence[str]) -> UsageError:
    count = len(hosts)
    return UsageError(
        f"--nodes {nodes} needs more hosts",
        f"there {'is' if count == 1 else 'are'} {count}: {listing(hosts, MOST_NAMED)}",
        f"use --nodes {count}, name more with --hosts, or use a larger allocation",
        code="too-few-hosts",
        nodes=nodes,
        hosts=tuple(hosts),
    )


def no_other_hosts(nodes: int) -> UsageError:
    return UsageError(
        f"--nodes {nodes} needs hosts",
        "this is not inside a batch job",
        "add --submit, start hockney in salloc or sbatch, or name the hosts: --hosts n1,n2",
        code="no-other-hosts",
        nodes=nodes,
    )


def host_not_in_job(host: str, hosts: Sequence[str]) -> UsageError:
    return UsageError(
        f"{host} does not belong to this batch job",
        f"its hosts are {listing(hosts, MOST_NAMED)}",
        "",
        code="host-not-in-job",
        host=host,
        hosts=tuple(hosts),
    )


def plan_folder_not_shared(folder: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write to {printable(str(folder))}",
        "ranks on other hosts read there what a launch measures",
        "set HOCKNEY_CACHE to a folder that all hosts share and that is writable",
        code="plan-folder-not-shared",
        folder=str(folder),
    )


def srun_outside_of_job() -> UsageError:
    return UsageError(
        "srun starts ranks only inside a job of Slurm",
        "outside, every launch would wait in the queue",
        "start hockney in salloc or sbatch",
        code="srun-outside-of-job",
    )


def srun_missing() -> EnvironmentProblem:
    return EnvironmentProblem(
        "no srun found", "it is not on PATH", "add Slurm's folder to PATH, or use --launcher mpiexec",
        code="srun-missing",
    )  # fmt: skip


def agent_with_srun() -> UsageError:
    return UsageError(
        "srun uses no remote shell",
        "",
        "leave out --agent, or use --launcher mpiexec",
        code="agent-with-srun",
    )


def agent_not_words(agent: str, reason: str) -> UsageError:
    return UsageError(
        f"--agent {printable(agent)} cannot be used as a remote shell",
        reason,
        "use for example --agent 'ssh -p 2222', without quotes inside",
        code="agent-not-words",
        agent=agent,
    )


def agent_not_found(program: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the remote shell {printable(program)} cannot be started",
        "there is no such program",
        "give its path with --agent",
        code="agent-not-found",
        program=program,
    )


def layout_of_unknown_mpi(mpiexec: str) -> UsageError:
    return UsageError(
        f"how {mpiexec} spreads ranks over hosts is not known",
        "this MPI is none of Open MPI, MPICH and Intel MPI",
        "use --launcher srun, or give its options with --mpiexec-args",
        code="layout-of-unknown-mpi",
    )


def srun_connects_no_ranks(mpi: str, offered: Sequence[str], tried: Sequence[str]) -> EnvironmentProblem:
    """`offered` are the interfaces of this srun, of which those that the MPI may have were `tried`."""
    why = f"srun --mpi=list has {', '.join(offered) or 'none'}"
    if tried:
        why += f"; tried {', '.join(name or 'the default' for name in tried)}"
    return EnvironmentProblem(
        f"srun does not connect the ranks of {mpi}",
        why,
        "use --launcher mpiexec, or an MPI that was built with Slurm's PMIx or PMI2",
        code="srun-connects-no-ranks",
        offered=tuple(offered),
        tried=tuple(tried),
    )
