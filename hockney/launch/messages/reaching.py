# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Why ranks do not start on other hosts, or cannot be measured there."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import one_line, printable
from hockney.launch.messages.explanations import Explanation


def _on(host: str, otherwise: str) -> str:
    return printable(one_line(host)) if host else otherwise


def login_refused(host: str) -> Explanation:
    """`host` is "" if the remote shell does not name it."""
    return Explanation(
        "ssh-login-refused",
        f"{_on(host, 'a host')} does not accept passwordless ssh",
        "it asks for a password, or its key is not known here",
        f"set up a key (ssh-copy-id) and try 'ssh {_on(host, 'HOST')} true', or use a batch job",
        host=host,
    )


def host_unreachable(host: str) -> Explanation:
    """`host` is "" if the launcher does not name it."""
    return Explanation(
        "host-unreachable",
        f"{_on(host, 'a host')} cannot be reached",
        "it does not answer, or no ranks can be started there",
        f"try 'ssh {_on(host, 'HOST')} true', or leave it out (--hosts; salloc --exclude)",
        of_machine=True,
        host=host,
    )


def host_not_available(host: str) -> Explanation:
    """`host` is "" if the launcher does not name it."""
    return Explanation(
        "host-not-in-allocation",
        f"the launcher cannot use {_on(host, 'a host')}, which is not in its allocation, or no longer",
        "",
        "ask the scheduler which hosts the job has (squeue), and leave out others from --hosts",
        of_machine=True,
        host=host,
    )


def plan_not_visible(file: str) -> Explanation:
    return Explanation(
        "plan-not-visible",
        f"the first rank cannot read the plan of the launch, {printable(one_line(file))}",
        "its host does not see this folder",
        "set HOCKNEY_CACHE to a folder that all hosts share",
        of_machine=True,
    )


def no_such_interface(name: str) -> Explanation:
    return Explanation(
        "srun-lacks-interface",
        f"srun has no interface {_on(name, 'of this name')}",
        "",
        "'srun --mpi=list' lists them; unset SLURM_MPI_TYPE, or use --launcher mpiexec",
    )


def not_connected_by_srun(interface: str) -> Explanation:
    return Explanation(
        "ranks-run-as-separate-jobs",
        "every rank runs as a separate single-process job",
        f"srun does not connect them by --mpi={interface or 'none'}",
        "use --launcher mpiexec, or an interface of 'srun --mpi=list' that the MPI was built with",
    )


def engines_differ(hosts: Sequence[str]) -> Explanation:
    """`hosts` are those whose engine is another than rank 0's."""
    more = " and others" if len(hosts) > 3 else ""
    return Explanation(
        "engines-differ",
        f"another engine runs on {', '.join(map(printable, hosts[:3]))}{more} than on the first host",
        "the cache folder there has other contents",
        "set HOCKNEY_CACHE to a folder that all hosts share",
    )
