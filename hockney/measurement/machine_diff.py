# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between two machines: whether a run may be resumed here, and whether the parameters of a survey
apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hockney.core.machine import Machine
from hockney.mpi import title_of


@dataclass(frozen=True)
class MachineDifference:
    """A difference between two machines. `field` is the name of a field of `Machine` or of a variable of its
    settings; `left` and `right` are its values as short texts."""

    field: str
    left: str
    right: str

    @property
    def name(self) -> str:
        """The name of the field for users."""
        return {"cpu": "processor", "mpi": "MPI"}.get(self.field, self.field)


SettingsOrNone = Mapping[str, str] | None

UNSET_TEXT = "unset"
"""The text for a variable that is not set."""
SURVEY_FIELDS = ("host", "cpu", "cores", "mpi")
"""Fields that must be equal for parameters measured on one machine to apply to another."""
RESUME_FIELDS = ("host", "cpu", "mpi", "compiler")
"""Fields that must be equal for later numbers of a run to be comparable with earlier ones."""


def survey_differences(survey: Machine, machine: Machine) -> tuple[MachineDifference, ...]:
    """Return the reasons why a survey's parameters may not apply to `machine`; empty if they apply. The
    behaviour of a simulated machine depends only on its description."""
    if survey.kind != machine.kind:
        return _compare_fields(survey, machine, ("kind",))
    if machine.platform is not None or survey.platform is not None:
        if survey.platform == machine.platform:
            return ()
        return (MachineDifference("platform", survey.host, machine.host),)
    if machine.emulated != survey.emulated:
        return (MachineDifference("platform", survey.host, machine.host),)
    return (
        *_compare_fields(survey, machine, SURVEY_FIELDS),
        *setting_differences(survey.settings, machine.settings),
    )


def resume_differences(earlier: Machine, current: Machine) -> tuple[MachineDifference, ...]:
    """Return the differences that make a resumed run's numbers hard to compare with its earlier ones."""
    return (
        *_compare_fields(earlier, current, RESUME_FIELDS),
        *setting_differences(earlier.settings, current.settings),
    )


def setting_differences(left: SettingsOrNone, right: SettingsOrNone) -> tuple[MachineDifference, ...]:
    """Return the differences in the settings that control MPI; empty if one side did not record them."""
    if left is None or right is None:
        return ()
    pairs = ((name, left.get(name), right.get(name)) for name in sorted({*left, *right}))
    return tuple(
        MachineDifference(n, _setting_text(left_value), _setting_text(right_value))
        for n, left_value, right_value in pairs
        if left_value != right_value
    )


def difference_text(difference: MachineDifference, survey: Machine, machine: Machine) -> str:
    """Explain why a survey does not apply to `machine`."""
    left, right = difference.left, difference.right
    if difference.field == "kind":
        return f"a {left} machine ({survey.host}), here a {right} one ({machine.host})"
    if difference.field == "platform" and left == right:
        return f"the description of {right} has changed since"
    if difference.field == "platform":
        return f"the description {left}, here {right}"
    return f"{difference.name} {left}, here {right}"


def _compare_fields(left: Machine, right: Machine, names: Sequence[str]) -> tuple[MachineDifference, ...]:
    values = ((name, _field_text(left, name), _field_text(right, name)) for name in names)
    return tuple(MachineDifference(*value) for value in values if value[1] != value[2])


def _setting_text(value: str | None) -> str:
    return UNSET_TEXT if value is None else value or "''"


def _field_text(machine: Machine, name: str) -> str:
    value = getattr(machine, name)
    if name == "mpi":
        return title_of(value) if value else "none"
    return str(value)
