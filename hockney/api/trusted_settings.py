# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which programs a run folder may name. `resume` only starts programs named in `plan.txt` if this user typed
them: in the command that created the run, which has left a mark, or again."""

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
    """Adds the mark for what names programs, or leads to them, in settings that were just typed."""
    programs = _program_settings(settings)
    return replace(settings, mark=trust.mark(_marked_text(programs), os.environ)) if programs else settings


def is_own(settings: Settings) -> bool:
    """Whether this user typed all programs that a plan's settings start, or they start none."""
    programs = _program_settings(settings)
    return not programs or trust.is_marked(_marked_text(programs), settings.mark, os.environ)


def refuse_foreign(settings: Settings, path: Path, typed: Collection[str]) -> None:
    """Raises UsageError for programs named by the plan in the folder `path` that this user neither typed when
    the run was created nor types now, in one of the settings `typed`."""
    if is_own(settings):
        return
    foreign = {name: values for name, values in _program_settings(settings).items() if name not in typed}
    if foreign:
        words = [word for name, values in foreign.items() for value in values for word in (flag(name), value)]
        raise UsageError(
            f"'{printable(str(path))}' names programs that you have not named",
            "a run folder from somebody else could start any program",
            f"if you trust it, name them: hockney resume {printable(shlex.join([str(path), *words]))}",
            code="programs-of-a-folder",
            options=sorted(map(flag, foreign)),
        )


def _program_settings(settings: Settings) -> dict[str, list[str]]:
    """The values of the settings that decide which programs start. An MPI's name stands for the one this user
    has installed; a relative path is a different program in every folder."""
    programs: dict[str, list[str]] = {}
    if settings.mpi not in ("", os.environ.get("HOCKNEY_MPI")) and family_called(settings.mpi) is None:
        programs["mpi"] = [os.path.abspath(settings.mpi)]
    if settings.mpiexec_args:
        programs["mpiexec_args"] = [settings.mpiexec_args]
    if settings.variables:
        programs["variables"] = list(settings.variables)
    if settings.hosts:
        programs["hosts"] = [",".join(settings.hosts)]
    if settings.agent:
        programs["agent"] = [settings.agent]
    if settings.launch_settings:
        programs["launch_settings"] = list(settings.launch_settings)
    return programs


def _marked_text(programs: dict[str, list[str]]) -> str:
    return json.dumps({flag(name): values for name, values in programs.items()}, sort_keys=True)
