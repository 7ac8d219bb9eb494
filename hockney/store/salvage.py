# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is intact of a damaged run, as a run of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hockney.core.errors import EnvironmentProblem
from hockney.core.record import Line, Record
from hockney.store.checksums import seal_of
from hockney.store.consistency import Consistency
from hockney.store.folder import RunFolder
from hockney.store.record_reader import decoded, raw_lines


@dataclass(frozen=True)
class Salvaged:
    """The new `folder`; how many lines were `kept`, and the numbers of those `dropped`."""

    folder: RunFolder
    kept: int
    dropped: tuple[int, ...]


def salvage(damaged: RunFolder, into: Path) -> Salvaged:
    """A new run in the folder `into`, with every line of `damaged` that is what was written, once. Raises
    EnvironmentProblem where its plan or machine.json is damaged, UsageError where `into` is not new."""
    plan = damaged.plan()
    made = RunFolder.create(into, plan, damaged.machine(), damaged.surveyed(), damaged.catalog())
    consistency = Consistency(plan, damaged.records_path)
    kept, dropped = 0, []
    with made.append() as out:
        for number, raw in raw_lines(damaged.records_path):
            line = _intact(raw, damaged.records_path, number, consistency)
            if line is None:
                dropped.append(number)
            else:
                out.append(line)
                kept += 1
    return Salvaged(made, kept, tuple(dropped))


def _intact(raw: bytes, path: Path, number: int, consistency: Consistency) -> Line | None:
    seal = seal_of(raw)
    if seal is not None and not seal.fits:
        return None
    try:
        line = decoded(raw, path, number)
        if isinstance(line, Record):
            consistency.add(line, number)
        else:
            consistency.begin(line)
    except EnvironmentProblem:
        return None
    return line
