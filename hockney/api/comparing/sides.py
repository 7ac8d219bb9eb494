# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a side: run folders, folders of runs, a published machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hockney import reference
from hockney.api.comparing import messages
from hockney.api.run_contents import Run
from hockney.comparison import MeasuredRun, Side
from hockney.core.errors import printable
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.lab import Listener
from hockney.store import RunFolder, missing
from hockney.system.bundled import bundled_catalog

Source = AnyPath | Run
"""A run, the path of a run or of a folder of runs, or the name of a published machine."""


def read_sides(
    a: Source | Sequence[Source], b: Source | Sequence[Source], listen: Listener
) -> tuple[Side, Side]:
    """Raises UsageError for what is no run and for a run on both sides, EnvironmentProblem if one is
    damaged."""
    found = [[each for one in _listed(side) for each in _sources(one)] for side in (a, b)]
    for name, sources in zip("AB", found, strict=True):
        if not sources:
            raise messages.side_without_runs(name)
    of_a = {_identity(one) for one in found[0]}
    for one in found[1]:
        if _identity(one) in of_a:
            raise messages.run_on_both_sides(one if isinstance(one, str) else str(one.path))
    first, second = (
        Side(name, tuple(_read(one, listen) for one in _once(sources)))
        for name, sources in zip("AB", found, strict=True)
    )
    return first, second


def _listed(side: Source | Sequence[Source]) -> Sequence[Source]:
    return [side] if isinstance(side, str | Path | Run) or hasattr(side, "__fspath__") else list(side)


def _sources(source: Source) -> Iterator[Run | str]:
    """The runs of a folder of runs by name; a published machine by its name."""
    if isinstance(source, Run):
        yield source
        return
    path = to_path(source)
    if not path.exists() and str(source) in reference.machine_names():
        yield str(source)
    elif path.is_dir() and not (path / "plan.txt").is_file():
        inside = [each for each in sorted(path.iterdir()) if (each / "plan.txt").is_file()]
        runs = [each for each in inside if not each.is_symlink()]
        if not runs:
            raise messages.no_runs_in_folder(path)
        yield from (Run(RunFolder.open(each)) for each in runs)
    else:
        yield Run(RunFolder.open(path))


def _identity(source: Run | str) -> str:
    return str(source.path.resolve()) if isinstance(source, Run) else source


def _once(sources: Iterable[Run | str]) -> list[Run | str]:
    return list({_identity(source): source for source in sources}.values())


def _read(source: Run | str, listen: Listener) -> MeasuredRun:
    catalog = bundled_catalog()
    if isinstance(source, str):
        machine, run = reference.run_of(reference.paper_of(source), catalog)
        return MeasuredRun(source, machine, run, Settings(study="published", budget_s=0.0), catalog)
    kept = source.folder.catalog()
    for notice in source.reading.notices:
        listen(notice)
    return MeasuredRun(
        printable(str(source.path)),
        source.machine,
        source.reading.run,
        source.settings,
        catalog if kept is None else kept.filled_from(catalog),
        len(missing(source.plan, source.reading.run)),
    )
