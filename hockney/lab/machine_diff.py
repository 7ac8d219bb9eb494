# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Looking before measuring: does what is planned fit this machine, is a resumed run still on the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class MachineDifference:
    """`field` is the name of a field of `Machine`; `left` and `right` are its values as short texts."""

    field: str
    left: str
    right: str


ALIKE = ("host", "cpu", "cores", "mpi")
"""What must be the same for parameters measured on one machine to hold on another."""
RESUMED = ("host", "cpu", "mpi", "compiler")
"""What must be the same for later numbers of a run to be comparable with earlier ones."""
NAMES = {"cpu": "processor", "mpi": "MPI"}


def unlike(survey: Machine, here: Machine) -> tuple[MachineDifference, ...]:
    """Why a survey's parameters need not hold on the machine `here`; nothing where they do. How a simulated
    machine behaves depends on its description alone."""
    if survey.kind != here.kind:
        return _different(survey, here, ("kind",))
    if here.platform is not None or survey.platform is not None:
        if survey.platform == here.platform:
            return ()
        return (MachineDifference("platform", survey.host, here.host),)
    return _different(survey, here, ALIKE)


def differences(before: Machine, now: Machine) -> tuple[MachineDifference, ...]:
    """What makes a resumed run's numbers hard to compare with those it has."""
    return _different(before, now, RESUMED)


def in_words(difference: MachineDifference, survey: Machine, here: Machine) -> str:
    """Why a survey is not of the machine `here`."""
    left, right = difference.left, difference.right
    if difference.field == "kind":
        return f"a {left} machine ({survey.host}), here a {right} one ({here.host})"
    if difference.field == "platform" and left == right:
        return f"the description of {right} has changed since"
    if difference.field == "platform":
        return f"the description {left}, here {right}"
    return f"{name_of(difference)} {left}, here {right}"


def name_of(difference: MachineDifference) -> str:
    """The field's name for users."""
    return NAMES.get(difference.field, difference.field)


def _different(left: Machine, right: Machine, names: Sequence[str]) -> tuple[MachineDifference, ...]:
    values = ((name, _short(left, name), _short(right, name)) for name in names)
    return tuple(MachineDifference(*value) for value in values if value[1] != value[2])


def _short(machine: Machine, name: str) -> str:
    value = getattr(machine, name)
    if name == "mpi":
        return value.title if value else "none"
    return str(value)
