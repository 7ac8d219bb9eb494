# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How a job ended, read from its launcher's output and exit code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hockney.mpi import in_precedence

SIGNALS = {
    4: "illegal instruction",
    6: "aborted",
    7: "bus error",
    9: "killed",
    11: "segmentation fault",
    15: "terminated",
}
OF_SRUN = re.compile(r"srun: error: \S+?: tasks? (?P<rank>\d+)(?P<more>[-,\d]*): (?P<name>[A-Z][A-Za-z ]*)")
"""srun: "srun: error: n2: task 3: Segmentation fault (core dumped)", with the system's names of signals."""
NAMES = {name: number for number, name in SIGNALS.items()} | {"out of memory": 9}


@dataclass(frozen=True)
class Ending:
    """`signal` ended `rank` (None if the launcher does not name it) or, with `of_launcher`, the launcher;
    None if nothing was ended by a signal: then there are the job's exit code and its last `output`."""

    job_exit: int
    signal: int | None = None
    rank: int | None = None
    of_launcher: bool = False
    output: tuple[str, ...] = ()


def ending_of(job_exit: int, output: Iterable[str]) -> Ending:
    """Which process ended and how, as far as the launcher reports it."""
    lines = [line for line in output if line.strip()]
    text = " ".join(" ".join(lines).split())  # sentences may be broken into lines anywhere
    for pattern in filter(None, (family.ended_by_signal for family in in_precedence())):
        match = re.search(pattern, text)
        if match and int(match["signal"]) in SIGNALS:
            rank = match.groupdict().get("rank")
            return Ending(job_exit, int(match["signal"]), None if rank is None else int(rank))
    found = [match for match in map(OF_SRUN.match, lines) if match]
    ended = [(NAMES.get(match["name"].strip().lower(), 0), match) for match in found]
    # srun terminates the tasks that are left
    for signal, match in sorted(ended, key=lambda each: each[0] == 15):
        if signal:
            return Ending(job_exit, signal, None if match["more"] else int(match["rank"]))
    if job_exit - 128 in SIGNALS:
        return Ending(job_exit, job_exit - 128, of_launcher=True)
    return Ending(job_exit, output=tuple(line for line in lines if re.search(r"\w{3}", line))[-2:])
