# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launch settings: named sets of environment variables for some of the launches of a run.

    eager64k OMPI_MCA_btl_sm_eager_limit=65536

A case with `setting=eager64k` is measured in launches with these variables. They alternate with launches of
the cases without a setting. The setting is part of the case's line, so cases with different settings are
different cases in plans, records, summaries and tables. The engine gets the line without it.

A setting without variables only gives its cases separate launches. It is equivalent to no setting, and
results use the launches of both.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.launcher_options import VARIABLE_PATTERN
from hockney.core.wording import option

DEFAULT = "default"
"""Setting of an ordinary launch; its cases name no setting."""
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_.+-]{0,63}")


@dataclass(frozen=True)
class LaunchSetting:
    """A named setting. `variables` are names and values, set for all ranks of a launch."""

    name: str
    variables: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """The setting as text that `parse` reads."""
        return shlex.join([self.name, *(f"{name}={value}" for name, value in self.variables)])

    @staticmethod
    def of(name: str, variables: Mapping[str, str]) -> LaunchSetting:
        """Create a setting. Raises UsageError for names and values that a line cannot represent."""
        setting = LaunchSetting(name, tuple(variables.items()))
        if LaunchSetting.parse(setting.line) != setting:
            raise _not_a_launch_setting(setting.line)
        return setting

    @staticmethod
    def parse(line: str) -> LaunchSetting:
        """Parse a line, split as in a shell. Raises UsageError."""
        try:
            name, *words = shlex.split(line) or [""]
        except ValueError:
            raise _not_a_launch_setting(line) from None
        variables: dict[str, str] = {}
        for word in words:
            variable, equals, value = word.partition("=")
            if (
                not (VARIABLE_PATTERN.fullmatch(variable) and equals and value.isprintable())
                or variable in variables
            ):
                raise _not_a_launch_setting(line)
            variables[variable] = value
        if not NAME_PATTERN.fullmatch(name) or name == DEFAULT:
            raise _not_a_launch_setting(line)
        return LaunchSetting(name, tuple(variables.items()))


def launch_settings(lines: Sequence[str]) -> dict[str, LaunchSetting]:
    """Parse launch settings; returns them by name. Raises UsageError, also for duplicate names."""
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
    """Return the names of settings without effect: "" (none), and those without variables."""
    return frozenset(
        ("", *(setting.name for setting in launch_settings(lines).values() if not setting.variables))
    )


def check_settings(used_names: Sequence[str], lines: Sequence[str]) -> None:
    """Raise UsageError if cases use a setting that is not declared (`used_names`, "" for none), or if a
    declared setting is not used."""
    declared_settings = launch_settings(lines)
    for name in used_names:
        if name and name not in declared_settings:
            raise unknown_launch_setting(name, declared_settings)
    for name in declared_settings:
        if name not in used_names:
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


def unknown_launch_setting(name: str, declared_settings: Iterable[str]) -> UsageError:
    remedy = f"declare it: {option('launch_settings')} '{printable(name)} VARIABLE=VALUE'"
    return unknown(
        "launch setting", name, ["default", *declared_settings], remedy, code="unknown-launch-setting"
    )
