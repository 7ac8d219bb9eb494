# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks before measuring: do the planned ranks fit this machine, and is a resumed run still on the same
one?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.option_names import option
from hockney.core.units import format_bytes, format_size
from hockney.mpi import title_of

RANKS_PER_THREAD = 16
"""More ranks on a hardware thread only exhaust memory and file descriptors."""


def refuse_too_many_ranks(most: int, machine: Machine, nodes: int = 1) -> None:
    """Raises UsageError if `most` ranks are too many for `nodes` nodes like this host, on a machine without a
    scheduler, whose size is known."""
    limit = max(64, RANKS_PER_THREAD * machine.threads * nodes)
    if most > limit and not machine.scheduler:
        raise UsageError(
            f"{most} ranks are too many for {machine.threads} hardware threads",
            "they would exhaust the machine instead of measuring it",
            f"use {option('ranks')} up to {limit}",
            code="ranks-exceed-machine",
            ranks=most,
            limit=limit,
        )


def refuse_too_much_memory(cases: Iterable[Case], machine: Machine) -> None:
    """Raises UsageError for a case with a message that certainly does not fit into the memory of a host like
    this one. Each rank has at least one buffer of this size; how many ranks share a host is known only
    without a scheduler."""
    if not machine.memory_bytes:
        return
    for case in cases:
        sharing = 1 if machine.scheduler else case.ranks
        if case.bytes * sharing > machine.memory_bytes:
            raise _too_much_memory(case.workload, case.bytes, sharing, machine.memory_bytes)


@dataclass(frozen=True)
class MachineDifference:
    """`field` is the name of a field of `Machine`, or a variable of its settings; `left` and `right` are its
    values as short texts."""

    field: str
    left: str
    right: str


Settings = Mapping[str, str] | None

ALIKE = ("host", "cpu", "cores", "mpi")
"""Fields that must agree for parameters measured on one machine to apply to another."""
RESUMED = ("host", "cpu", "mpi", "compiler")
"""Fields that must agree for later numbers of a run to be comparable with earlier ones."""


def unlike(survey: Machine, here: Machine) -> tuple[MachineDifference, ...]:
    """Why a survey's parameters may not hold on the machine `here`; empty if they do. The behaviour of a
    simulated machine depends on its description alone."""
    if survey.kind != here.kind:
        return _different(survey, here, ("kind",))
    if here.platform is not None or survey.platform is not None:
        if survey.platform == here.platform:
            return ()
        return (MachineDifference("platform", survey.host, here.host),)
    if here.emulated != survey.emulated:
        return (MachineDifference("platform", survey.host, here.host),)
    return (*_different(survey, here, ALIKE), *setting_differences(survey.settings, here.settings))


def differences(before: Machine, now: Machine) -> tuple[MachineDifference, ...]:
    """Differences that make a resumed run's numbers hard to compare with its earlier ones."""
    return (*_different(before, now, RESUMED), *setting_differences(before.settings, now.settings))


def setting_differences(left: Settings, right: Settings) -> tuple[MachineDifference, ...]:
    """Differences in the settings that control MPI; empty if one side has not recorded them."""
    if left is None or right is None:
        return ()
    pairs = ((name, left.get(name), right.get(name)) for name in sorted({*left, *right}))
    return tuple(MachineDifference(n, _setting(a), _setting(b)) for n, a, b in pairs if a != b)


def in_words(difference: MachineDifference, survey: Machine, here: Machine) -> str:
    """Why a survey does not belong to the machine `here`, as text."""
    left, right = difference.left, difference.right
    if difference.field == "kind":
        return f"a {left} machine ({survey.host}), here a {right} one ({here.host})"
    if difference.field == "platform" and left == right:
        return f"the description of {right} has changed since"
    if difference.field == "platform":
        return f"the description {left}, here {right}"
    return other_field(difference.field, left, right)


def name_of(difference: MachineDifference) -> str:
    """The field's name for users."""
    return field_name(difference.field)


def _different(left: Machine, right: Machine, names: Sequence[str]) -> tuple[MachineDifference, ...]:
    values = ((name, _short(left, name), _short(right, name)) for name in names)
    return tuple(MachineDifference(*value) for value in values if value[1] != value[2])


def _setting(value: str | None) -> str:
    return not_set() if value is None else value or "''"


def _short(machine: Machine, name: str) -> str:
    value = getattr(machine, name)
    if name == "mpi":
        return title_of(value) if value else "none"
    return str(value)


def _too_much_memory(workload: str, size: int, ranks: int, memory: int) -> UsageError:
    """`ranks` share a host with `memory` bytes."""
    of_all = "" if ranks == 1 else f" on each of {ranks} ranks"
    return UsageError(
        f"{workload} with bytes={format_size(size).replace(' ', '')} does not fit into this host's memory",
        f"it needs at least one buffer of {format_size(size)}{of_all}, and the host has "
        f"{format_bytes(memory)}",
        f"use at most {format_bytes(1 << max(0, ((memory // ranks) // 2).bit_length() - 1))}",
        code="message-exceeds-memory",
        bytes=size,
        ranks=ranks,
        memory=memory,
    )


def other_field(field: str, value: str, here: str) -> str:
    return f"{field_name(field)} {value}, here {here}"


def not_set() -> str:
    """The displayed value of a variable that is not set."""
    return "unset"


def field_name(field: str) -> str:
    """The user's name of a field of a machine."""
    return {"cpu": "processor", "mpi": "MPI"}.get(field, field)
