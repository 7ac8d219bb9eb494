# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Machines, their builds and differences, and runs of other machines."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.errors import (
    UsageError,
    printable,
    unknown,
)
from hockney.core.wording import plural


def note(text: str) -> str:
    """A line of progress that is only a note."""
    return f"note: {text}"


def unknown_machine(machine: str, available: Sequence[str]) -> UsageError:
    example = f"use for example {available[0]}; " if available else ""
    return unknown(
        "machine", machine, available, f"{example}'hockney machines' lists all", code="unknown-machine"
    )


def only_published(machine: str, by: str = "a paper") -> UsageError:
    return UsageError(
        f"cannot measure on '{printable(machine)}'",
        f"there are only the numbers that {by} printed",
        "'hockney report' and 'hockney models' show them",
        code="machine-only-published",
        machine=machine,
    )


def no_mpiexec_on_machine(machine: str) -> UsageError:
    return UsageError(
        f"--mpiexec-args, -x and launch settings do not apply to {printable(machine)}",
        "no mpiexec starts its ranks",
        "leave them out",
        code="no-mpiexec-on-machine",
        machine=machine,
    )


def compiling_library(mpi: str, takes: str) -> str:
    return f"compiling the library for {mpi} ({takes})"


def simgrid_present(title: str, prefix: str, built_here: bool) -> str:
    """`built_here`: whether it is the one in the cache."""
    other = "" if built_here else " and is used; --force builds another one into the cache"
    return f"{title} is already in {prefix}{other}"


def field_name(field: str) -> str:
    """The user's name of a field of a machine."""
    return {"cpu": "processor", "mpi": "MPI"}.get(field, field)


def not_set() -> str:
    """The displayed value of a variable that is not set."""
    return "unset"


def other_kind(kind: str, host: str, kind_here: str, here: str) -> str:
    """How a survey's machine differs from the present one."""
    return f"a {kind} machine ({host}), here a {kind_here} one ({here})"


def description_changed(name: str) -> str:
    return f"the description of {name} has changed since"


def other_description(name: str, here: str) -> str:
    return f"the description {name}, here {here}"


def other_field(field: str, value: str, here: str) -> str:
    return f"{field_name(field)} {value}, here {here}"


def survey_of_other_machine(where: str, differences: Sequence[str]) -> UsageError:
    return UsageError(
        f"the survey {where} was made on another machine or with other settings",
        "; ".join(differences),
        "survey this machine with 'hockney survey', or use the other survey with --force",
        code="survey-of-other-machine",
        where=where,
        differences=tuple(differences),
    )


def nothing_measured(where: str) -> UsageError:
    return UsageError(
        f"nothing was measured in {where}",
        "it has no parameters that a study could use",
        f"use 'hockney resume {where}'",
        code="survey-without-records",
        where=where,
    )


def no_message_costs(where: str) -> UsageError:
    return UsageError(
        f"{where} does not give the cost of a message",
        "no model of a ping-pong fits its data",
        "use a run of 'hockney survey', or leave out survey=",
        code="survey-without-message-costs",
        where=where,
    )


def network_not_measured(machine: str, ranks: int, most: int, reason: str) -> UsageError:
    return UsageError(
        f"{ranks} ranks of {printable(machine)} are on several nodes, and nobody has measured messages "
        "between these",
        f"their cost in its description is a guess ({reason})",
        f"use at most {plural(most, 'rank')}, calibrate from a survey between two hosts or with the "
        "--network of a machine that states where its costs are from, or accept the guess with "
        "--assume-network",
        code="network-not-measured",
        machine=machine,
        ranks=ranks,
        most=most,
        reason=reason,
    )
