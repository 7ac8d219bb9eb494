# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a run as files: for hockney's library, and for Open MPI."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from pathlib import Path

from hockney.api.run_contents import Run
from hockney.core.errors import Inconclusive, printable
from hockney.core.freed_memory import KEPT, assignments
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural
from hockney.models.statistics import OPEN
from hockney.models.tuning import openmpi, texts
from hockney.models.tuning.rules import EFFECT
from hockney.mpi import title_of
from hockney.studies.tuning.results import Tuning, tuning
from hockney.system import files
from hockney.system.bundled import bundled_catalog

WRITTEN_BY = "written by 'hockney tune'"

CHOICES = "hockney.choices"
DYNAMIC_RULES = "openmpi-rules.conf"


@dataclass(frozen=True)
class Tuned:
    """What `tune` found and wrote. `rules_file` is None unless Open MPI's own algorithms were measured."""

    found: Tuning
    choices_file: Path
    rules_file: Path | None


def tune(run: Run, folder: AnyPath, effect: float = EFFECT) -> Tuned:
    """Write the tables of a run into `folder`. An algorithm other than MPI's own choice is used where the
    95% interval of the ratio of their times lies below 1 - `effect`; where that is undecided, MPI's own
    choice is kept.

    Raises Inconclusive if the run compares no algorithms, EnvironmentProblem if nothing can be written.
    """
    found = _of_this_version(tuning(run.evidence, effect))
    if not any(point.candidates for point in (*found.points, *found.internal_points)):
        raise Inconclusive(
            f"{printable(str(run.path))} compares no algorithms",
            "it has no collective both with MPI's own algorithm and with another one",
            "'hockney run tuning' measures them",
            code="nothing-to-compare",
        )
    return write(run, found, to_path(folder))


def _of_this_version(found: Tuning) -> Tuning:
    """The tuning with this version's algorithms only: tables and answers are for other programs, and runs
    come from anywhere."""
    here = {workload.name: workload.algorithms for workload in bundled_catalog().workloads}
    points = []
    for point in found.points:
        known = here.get(point.operation, ())
        candidates = tuple(each for each in point.candidates if each.algorithm in known)
        points.append(replace(point, candidates=candidates))
    rules = tuple(each for each in found.rules if each.algorithm in here.get(each.operation, ()))
    return replace(found, points=tuple(points), rules=rules)


def write(run: Run, found: Tuning, folder: Path, slower: int = 0) -> Tuned:
    """The tables of `found`; at `slower` sizes of its rules, a check has shown that they are slower, and they
    were removed."""
    machine = run.machine
    title = title_of(machine.mpi) if machine.mpi is not None else ""
    comments = [
        f"{WRITTEN_BY} from {printable(str(run.path))}: {printable(machine.host)}, {printable(title)}",
        f"where the 95% interval of the ratio to MPI's own choice lies below {1 - found.effect:g}",
    ]
    if found.rules or found.internal_rules:
        comments.append(memory_of_table())
    if undecided := found.count(*OPEN):
        comments.append(undecided_in_table(undecided, len(found.deciding)))
    if slower:
        comments.append(removed_from_table(slower))
    written = {CHOICES: texts.choices(found.rules, comments)}
    if found.internal_points:
        written[DYNAMIC_RULES] = openmpi.dynamic_rules(found.internal_rules, comments)
    files.make_folder(folder)
    for name, text in written.items():
        files.replace(folder / name, text.encode("utf-8"))
    rules = folder / DYNAMIC_RULES
    if not found.internal_points:
        _remove_earlier(rules)
    return Tuned(found, folder / CHOICES, rules if found.internal_points else None)


def _remove_earlier(path: Path) -> None:
    """Rules of another run would not belong to the new table. A file that hockney did not write stays."""
    with contextlib.suppress(OSError, ValueError):
        if files.read_regular(path).decode().startswith(f"# {WRITTEN_BY}"):
            path.unlink()


def undecided_in_table(undecided: int, compared: int) -> str:
    """A comment in the tables."""
    verb = "is" if undecided == 1 else "are"
    return f"{undecided} of {plural(compared, 'combination')} of operation, ranks and size {verb} undecided"


def removed_from_table(sizes: int) -> str:
    """A comment in the tables."""
    return f"without {plural(sizes, 'size')} at which --check found a rule that is slower"


def memory_of_table() -> str:
    """A comment in the tables."""
    return (
        "measured with freed memory kept by the ranks; other programs may lose without "
        f"{assignments(KEPT)} (docs/tuning.md)"
    )
