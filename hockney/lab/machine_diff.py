# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Looking before measuring: does what is planned fit this machine, is a resumed run still on the same one."""

from __future__ import annotations

from hockney.core.errors import UsageError
from hockney.core.machine import Machine

RANKS_PER_THREAD = 16
"""More than so many ranks on a hardware thread only exhausts memory and file descriptors."""


def refuse_too_many_ranks(most: int, machine: Machine) -> None:
    """On a machine without a scheduler, whose size is known."""
    limit = max(64, RANKS_PER_THREAD * machine.threads)
    if most > limit and not machine.scheduler:
        raise UsageError(
            f"{most} ranks are too many for {machine.threads} hardware threads",
            "they would exhaust the machine instead of measuring it",
            f"use --ranks up to {limit}",
        )


def unlike(survey: Machine, here: Machine) -> tuple[str, ...]:
    """Why a survey's parameters need not hold on the machine `here`, each difference in words; none where
    they do. What a simulated machine does is its description's doing alone."""
    if survey.kind != here.kind:
        return (f"a {survey.kind} machine ({survey.host}), here a {here.kind} one ({here.host})",)
    if here.platform is not None or survey.platform is not None:
        if survey.platform == here.platform:
            return ()
        if survey.host == here.host:
            return (f"the description of {here.host} has changed since",)
        return (f"the description {survey.host}, here {here.host}",)
    pairs = [
        ("host", survey.host, here.host),
        ("processor", survey.cpu, here.cpu),
        ("cores", str(survey.cores), str(here.cores)),
        ("MPI", *(m.mpi.title if m.mpi else "none" for m in (survey, here))),
    ]
    return tuple(f"{name} {old}, here {new}" for name, old, new in pairs if old != new)


def differences(before: Machine, now: Machine) -> list[str]:
    """What makes a resumed run's numbers hard to compare with those it has."""
    titles = [m.mpi.title if m.mpi else "none" for m in (before, now)]
    pairs = [
        ("host", before.host, now.host),
        ("processor", before.cpu, now.cpu),
        ("MPI", *titles),
        ("compiler", before.compiler, now.compiler),
    ]
    return [f"the run began with {name} {old}, now it is {new}" for name, old, new in pairs if old != new]
