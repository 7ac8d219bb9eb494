# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The intact part of a damaged run, as a separate run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hockney.core.errors import EnvironmentProblem
from hockney.core.record import Line, Record
from hockney.store import messages
from hockney.store.checksums import Chain, seal_of
from hockney.store.folder import RunFolder
from hockney.store.record_reader import Consistency, decoded, raw_lines


@dataclass(frozen=True)
class Salvaged:
    """The new `folder`, the number of lines `kept`, and the numbers of the lines `dropped`."""

    folder: RunFolder
    kept: int
    dropped: tuple[int, ...]


def salvage(damaged: RunFolder, into: Path) -> Salvaged:
    """Create a run in the folder `into` with every unchanged line of `damaged`, once. Raises
    EnvironmentProblem if a file that was written before the first launch is damaged, or if the records belong
    to another plan; UsageError if `into` is not new."""
    plan = damaged.plan()
    intact = _Intact(damaged)
    intact.refuse_other_plan()
    salvaged = RunFolder.create(into, plan, damaged.machine(), damaged.surveyed(), damaged.catalog())
    kept, dropped = 0, []
    with salvaged.append() as out:
        for number, raw in raw_lines(damaged.records_path):
            line = intact.line(raw, number)
            if line is None:
                dropped.append(number)
            else:
                out.append(line)
                kept += 1
    return Salvaged(salvaged, kept, tuple(dropped))


class _Intact:
    """Filters the lines of a damaged run: returns the unchanged ones, without duplicates."""

    def __init__(self, damaged: RunFolder) -> None:
        self._path = damaged.records_path
        self._checksum = damaged.sums.checksum
        self._chain = Chain(self._checksum)
        self._seen: set[str] = set()
        self._consistency = Consistency(damaged.plan(), self._path)

    def refuse_other_plan(self) -> None:
        """Raise EnvironmentProblem if the first line does not refer to this plan."""
        seal = seal_of(next((raw for _, raw in raw_lines(self._path)), b""))
        if seal is not None and seal.matches and seal.previous != self._checksum:
            raise messages.line_out_of_order(self._path, 1)

    def line(self, raw: bytes, number: int) -> Line | None:
        state, checksum = self._chain.next(raw), self._chain.last
        if state == "changed" or checksum in self._seen:
            return None
        self._seen.add(checksum)
        try:
            line = decoded(raw, self._path, number)
            if isinstance(line, Record):
                self._consistency.add(line, number)
            else:
                self._consistency.begin(line)
        except EnvironmentProblem:
            return None
        return line
