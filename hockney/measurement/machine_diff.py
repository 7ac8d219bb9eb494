# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between two machines: may a run be resumed here, and do the parameters of a survey apply?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hockney.core.machine import Machine
from hockney.mpi import title_of


@dataclass(frozen=True)
class MachineDifference:
    """`field` is the name of a field of `Machine`, or a variable of its settings; `left` and `right` are its
    values as short texts."""

    field: str
    left: str
    right: str

    @property
    def name(self) -> str:
        """The field's name for users."""
        return {"cpu": "processor", "mpi": "MPI"}.get(self.field, self.field)


Settings = Mapping[str, str] | None

NOT_SET = "unset"
"""The displayed value of a variable that is not set."""
SURVEY_FIELDS = ("host", "cpu", "cores", "mpi")
"""Fields that must agree for parameters measured on one machine to apply to another."""
RESUME_FIELDS = ("host", "cpu", "mpi", "compiler")
"""Fields that must agree for later numbers of a run to be comparable with earlier ones."""


def survey_differences(survey: Machine, here: Machine) -> tuple[MachineDifference, ...]:
    """Why a survey's parameters may not hold on the machine `here`; empty if they do. The behaviour of a
    simulated machine depends on its description alone."""
    if survey.kind != here.kind:
        return _compare_fields(survey, here, ("kind",))
    if here.platform is not None or survey.platform is not None:
        if survey.platform == here.platform:
            return ()
        return (MachineDifference("platform", survey.host, here.host),)
    if here.emulated != survey.emulated:
        return (MachineDifference("platform", survey.host, here.host),)
    return (
        *_compare_fields(survey, here, SURVEY_FIELDS),
        *setting_differences(survey.settings, here.settings),
    )


def resume_differences(before: Machine, now: Machine) -> tuple[MachineDifference, ...]:
    """Differences that make a resumed run's numbers hard to compare with its earlier ones."""
    return (*_compare_fields(before, now, RESUME_FIELDS), *setting_differences(before.settings, now.settings))


def setting_differences(left: Settings, right: Settings) -> tuple[MachineDifference, ...]:
    """Differences in the settings that control MPI; empty if one side has not recorded them."""
    if left is None or right is None:
        return ()
    pairs = ((name, left.get(name), right.get(name)) for name in sorted({*left, *right}))
    return tuple(MachineDifference(n, _setting_text(a), _setting_text(b)) for n, a, b in pairs if a != b)


def difference_text(difference: MachineDifference, survey: Machine, here: Machine) -> str:
    """Why a survey does not belong to the machine `here`, as text."""
    left, right = difference.left, difference.right
    if difference.field == "kind":
        return f"a {left} machine ({survey.host}), here a {right} one ({here.host})"
    if difference.field == "platform" and left == right:
        return f"the description of {right} has changed since"
    if difference.field == "platform":
        return f"the description {left}, here {right}"
    return f"{difference.name} {left}, here {right}"


def _compare_fields(left: Machine, right: Machine, names: Sequence[str]) -> tuple[MachineDifference, ...]:
    values = ((name, _field_text(left, name), _field_text(right, name)) for name in names)
    return tuple(MachineDifference(*value) for value in values if value[1] != value[2])


def _setting_text(value: str | None) -> str:
    return NOT_SET if value is None else value or "''"


def _field_text(machine: Machine, name: str) -> str:
    value = getattr(machine, name)
    if name == "mpi":
        return title_of(value) if value else "none"
    return str(value)
