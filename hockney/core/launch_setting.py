# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launch settings: named sets of environment variables for some of the launches of a run.

    eager64k OMPI_MCA_btl_sm_eager_limit=65536

A case with `setting=eager64k` is measured in launches with these variables, which alternate with the launches
of the cases without a setting. The setting is part of the case's line, so that cases with different settings
are different cases in plans, records, summaries and tables; the engine gets the line without it.

A setting without variables only gives its cases separate launches: it is equivalent to no setting, and
results use the launches of both.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.launcher_options import VARIABLE
from hockney.core.wording import option

DEFAULT = "default"
"""The setting of an ordinary launch, whose cases name none."""
NAME = re.compile(r"[a-z][a-z0-9_.+-]{0,63}")


@dataclass(frozen=True)
class LaunchSetting:
    """`variables` are names and values, set for all ranks of a launch."""

    name: str
    variables: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """The inverse of `parse`."""
        return shlex.join([self.name, *(f"{name}={value}" for name, value in self.variables)])

    @staticmethod
    def of(name: str, variables: Mapping[str, str]) -> LaunchSetting:
        """Raises UsageError for names and values that no line can have."""
        made = LaunchSetting(name, tuple(variables.items()))
        if LaunchSetting.parse(made.line) != made:
            raise _not_a_launch_setting(made.line)
        return made

    @staticmethod
    def parse(line: str) -> LaunchSetting:
        """A setting from its line, split as in a shell. Raises UsageError."""
        try:
            name, *words = shlex.split(line) or [""]
        except ValueError:
            raise _not_a_launch_setting(line) from None
        variables: dict[str, str] = {}
        for word in words:
            variable, equals, value = word.partition("=")
            if not (VARIABLE.fullmatch(variable) and equals and value.isprintable()) or variable in variables:
                raise _not_a_launch_setting(line)
            variables[variable] = value
        if not NAME.fullmatch(name) or name == DEFAULT:
            raise _not_a_launch_setting(line)
        return LaunchSetting(name, tuple(variables.items()))


def launch_settings(lines: Sequence[str]) -> dict[str, LaunchSetting]:
    """Launch settings by name. Raises UsageError, also for a name that occurs twice."""
    settings: dict[str, LaunchSetting] = {}
    for line in lines:
        setting = LaunchSetting.parse(line)
        if setting.name in settings:
            what = f"the launch setting {printable(setting.name)} is declared twice"
            remedy = "give it once, with all its variables"
            raise UsageError(what, "", remedy, code="launch-setting-twice", name=setting.name)
        settings[setting.name] = setting
    return settings


def settings_without_effect(lines: Sequence[str]) -> frozenset[str]:
    """The names of settings that change nothing: "" (none), and those without variables."""
    return frozenset(("", *(each.name for each in launch_settings(lines).values() if not each.variables)))


def check_settings(used: Sequence[str], lines: Sequence[str]) -> None:
    """Raises UsageError if cases use a setting (`used`, "" for none) that is not declared, or if none uses a
    declared one."""
    declared = launch_settings(lines)
    for name in used:
        if name and name not in declared:
            raise unknown_launch_setting(name, declared)
    for name in declared:
        if name not in used:
            what = f"no case uses the launch setting {printable(name)}"
            remedy = f"add it to a case, for example 'pingpong setting=default,{printable(name)}'"
            raise UsageError(what, "", remedy, code="launch-setting-not-used", name=name)


def _not_a_launch_setting(line: str) -> UsageError:
    return UsageError(
        f"'{printable(line)}' is not a launch setting",
        "it has a name other than 'default', and usually variables with their values",
        f"use for example {option('launch_settings')} 'eager64k OMPI_MCA_btl_sm_eager_limit=65536'",
        code="not-a-launch-setting",
        line=line,
    )


def unknown_launch_setting(name: str, declared: Iterable[str]) -> UsageError:
    remedy = f"declare it: {option('launch_settings')} '{printable(name)} VARIABLE=VALUE'"
    return unknown("launch setting", name, ["default", *declared], remedy, code="unknown-launch-setting")
