# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches of engines and other programs, and what an engine answers to cases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine_cases import brings_payload

from hockney import build, process
from hockney.core.case import Case
from hockney.core.launcher_options import LauncherOptions
from hockney.core.machine import Mpi
from hockney.core.record import End, EngineLine, Failure, Record
from hockney.discovery.cpu import processors
from hockney.launch.command import command
from hockney.launch.launcher import Launcher, LaunchOptions
from hockney.launch.mpi import MpiLauncher

YIELDING = LauncherOptions(variables=(("OMPI_MCA_mpi_yield_when_idle", "1"),))
"""Two ranks on two cores would wait a time slice for each message, because other tests use a core too."""


def launcher_for(mpi: Mpi, engine: build.Engine) -> MpiLauncher:
    return MpiLauncher(mpi, engine.path, processors().cores, user=YIELDING)


def launched(mpi: Mpi, program: Path, ranks: int, *words: str) -> process.CompletedProgram:
    """Any other program on real ranks, which are not bound to cores."""
    launch = command(
        mpi,
        (str(program), *words),
        ranks,
        processors().cores,
        bind=False,
        root=os.geteuid() == 0,
        user=YIELDING,
    )
    return process.capture(launch.words, env=dict(launch.environment), timeout=600)


def lines_of(
    launcher: Launcher,
    cases: Sequence[Case],
    ranks: int,
    *,
    budget: float | None = None,
    repetitions: int = 3,
    hang: float = 60.0,
) -> list[EngineLine]:
    """One launch on real ranks. The budget is large enough for the repetitions of short operations."""
    budget_s = budget or 0.02 * len(cases)
    options = LaunchOptions(
        "T", 0, budget_s=budget_s, max_repetitions=repetitions, hang_s=hang, precision=1e-6
    )
    return list(launcher.run(list(cases), ranks, options))


def records(lines: Iterable[EngineLine]) -> list[Record]:
    return [line for line in lines if isinstance(line, Record)]


def failures(lines: Iterable[EngineLine]) -> list[Failure]:
    return [line for line in lines if isinstance(line, Failure)]


def verified(lines: Sequence[EngineLine], cases: Sequence[Case], ranks: int) -> list[Record]:
    """The records of all `cases`, each of which received the data that it should."""
    assert not failures(lines)
    found = records(lines)
    assert [record.case for record in found] == [case.line for case in cases]
    for record in found:
        assert record.verified.errors == 0, record.verified.first
        assert (record.verified.bytes > 0) == brings_payload(record.parse_case(), ranks), record.case
    assert isinstance(lines[-1], End)
    return found
