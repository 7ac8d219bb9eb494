# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Protection against programs named by foreign run folders. `resume` starts programs named in `plan.txt` only
if this user typed them, either in the command that created the run, which left a mark, or again."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from hockney.core.errors import UsageError, printable
from hockney.core.settings import Settings
from hockney.core.wording import flag
from hockney.mpi import family_called
from hockney.system import trust


def mark_programs(settings: Settings) -> Settings:
    """Mark the settings that determine programs as typed by this user."""
    programs = _program_settings(settings)
    return replace(settings, mark=trust.mark(_marked_text(programs), os.environ)) if programs else settings


def is_own(settings: Settings) -> bool:
    """Whether this user typed all programs that a plan's settings start."""
    programs = _program_settings(settings)
    return not programs or trust.is_marked(_marked_text(programs), settings.mark, os.environ)


def refuse_foreign(settings: Settings, path: Path, typed: Collection[str]) -> None:
    """Raise UsageError for programs in the plan of `path` that this user did not type, neither when the run
    was created nor now in the settings `typed`."""
    if is_own(settings):
        return
    foreign_settings = {
        name: values for name, values in _program_settings(settings).items() if name not in typed
    }
    if foreign_settings:
        words = [
            word
            for name, values in foreign_settings.items()
            for value in values
            for word in (flag(name), value)
        ]
        raise UsageError(
            f"'{printable(str(path))}' names programs that you have not named",
            "a run folder from somebody else could start any program",
            f"if you trust it, name them: hockney resume {printable(shlex.join([str(path), *words]))}",
            code="programs-of-a-folder",
            options=sorted(map(flag, foreign_settings)),
        )


def _program_settings(settings: Settings) -> dict[str, list[str]]:
    """Values of the settings that determine programs. The name of an MPI means this user's installation. A
    relative path is a different program in every folder."""
    programs_by_setting: dict[str, list[str]] = {}
    if settings.mpi not in ("", os.environ.get("HOCKNEY_MPI")) and family_called(settings.mpi) is None:
        programs_by_setting["mpi"] = [os.path.abspath(settings.mpi)]
    if settings.mpiexec_args:
        programs_by_setting["mpiexec_args"] = [settings.mpiexec_args]
    if settings.variables:
        programs_by_setting["variables"] = list(settings.variables)
    if settings.hosts:
        programs_by_setting["hosts"] = [",".join(settings.hosts)]
    if settings.agent:
        programs_by_setting["agent"] = [settings.agent]
    if settings.launch_settings:
        programs_by_setting["launch_settings"] = list(settings.launch_settings)
    return programs_by_setting


def _marked_text(programs: dict[str, list[str]]) -> str:
    return json.dumps({flag(name): values for name, values in programs.items()}, sort_keys=True)
