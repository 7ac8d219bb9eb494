# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a side: run folders, folders of runs, a published machine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from hockney import reference
from hockney.api.run_contents import Run
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError, printable
from hockney.core.machine import without_scheme
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.judgements.sides import MeasuredRun, Side
from hockney.measurement import Listener
from hockney.measurement.kinds import published
from hockney.store import RunFolder, missing_items, pair_in
from hockney.system.bundled import bundled_catalog

Source = AnyPath | Run
"""A run, the path of a run or of a folder of runs, or the name of a published machine."""

_NO_FAILURES: Mapping[str, Collection[str]] = {}


def read_sides(
    a: Source | Sequence[Source], b: Source | Sequence[Source], listen: Listener
) -> tuple[Side, Side]:
    """Raises UsageError for what is no run and for a run on both sides, EnvironmentProblem if one is
    damaged."""
    runs = [runs_of(name, side) for name, side in (("A", a), ("B", b))]
    identities = {_identity(one) for one in runs[0]}
    for one in runs[1]:
        if _identity(one) in identities:
            path = one if isinstance(one, str) else str(one.path)
            raise UsageError(
                f"'{printable(path)}' is on both sides",
                "a run does not differ from itself",
                "name each run once",
                code="run-on-both-sides",
                path=path,
            )
    failed_cases = _failed_cases(one for sources in runs for one in sources if isinstance(one, Run))
    return read_side("A", runs[0], listen, failed_cases), read_side("B", runs[1], listen, failed_cases)


def runs_of(name: str, side: Source | Sequence[Source]) -> list[Run | str]:
    """The runs of side `name`, without duplicates; published machines stay as names. Raises UsageError if
    there are none."""
    runs = _unique(each for one in as_list(side) for each in _runs_of_source(one))
    if not runs:
        raise UsageError(
            f"{name} names no run",
            "a side needs at least one",
            "name a run",
            code="side-without-runs",
            side=name,
        )
    return runs


def read_side(
    name: str,
    runs: Iterable[Run | str],
    listen: Listener,
    failed_cases: Mapping[str, Collection[str]] = _NO_FAILURES,
) -> Side:
    """A side with its runs. `failed_cases` are the cases of each interleaved comparison that do not count as
    missing. Raises EnvironmentProblem if a run is damaged."""
    return Side(name, tuple(_read_run(one, listen, failed_cases) for one in runs))


def as_list(side: Source | Sequence[Source]) -> Sequence[Source]:
    """What a side names, one by one."""
    return [side] if isinstance(side, str | Path | Run) or hasattr(side, "__fspath__") else list(side)


def _runs_of_source(source: Source) -> Iterator[Run | str]:
    """The runs of a folder of runs by name; a published machine by its name."""
    if isinstance(source, Run):
        yield source
        return
    path = to_path(source)
    machine = without_scheme(str(source), (published.SCHEME,))
    if not path.exists() and machine in reference.machine_names():
        yield machine
    elif pair_in(path) is not None:
        name = printable(str(path))
        raise UsageError(
            f"'{name}' is an interleaved comparison",
            "its two runs are its two sides",
            f"name a single run: '{name}/a' or '{name}/b'",
            code="pair-as-a-side",
            path=str(path),
        )
    else:
        yield from map(Run, runs_in(path))


def runs_in(path: Path) -> list[RunFolder]:
    """The run in the folder `path`, or those directly inside it. Raises UsageError if there is none."""
    if not path.is_dir() or (path / "plan.txt").is_file():
        return [RunFolder.open(path)]
    folders = [each for each in sorted(path.iterdir()) if (each / "plan.txt").is_file()]
    # hidden ones are copies that an archive has not finished
    runs = [each for each in folders if not each.is_symlink() and not each.name.startswith(".")]
    if not runs:
        raise UsageError(
            f"'{printable(str(path))}' has no runs",
            "neither the folder itself nor one directly inside it is a run",
            "name a run, or a folder of runs",
            code="no-runs-in-folder",
            path=str(path),
        )
    return [RunFolder.open(each) for each in runs]


def _identity(source: Run | str) -> str:
    return str(source.path.resolve()) if isinstance(source, Run) else source


def _unique(sources: Iterable[Run | str]) -> list[Run | str]:
    return list({_identity(source): source for source in sources}.values())


def _failed_cases(runs: Iterable[Run]) -> dict[str, set[str]]:
    """The cases of each interleaved comparison that failed on either side, which then neither side
    measures."""
    failed: dict[str, set[str]] = {}
    for run in runs:
        if run.settings.interleaved:
            cases = failed.setdefault(run.settings.interleaved, set())
            cases.update(failure.case for failure in run.reading.run.failures)
    return failed


def _read_run(
    source: Run | str, listen: Listener, failed_cases: Mapping[str, Collection[str]]
) -> MeasuredRun:
    if isinstance(source, str):
        catalog = bundled_catalog()
        machine, run = reference.run_of(reference.paper_of(source), catalog)
        return MeasuredRun(source, machine, run, Settings(study="published", budget_s=0.0), catalog)
    failed = failed_cases.get(source.settings.interleaved, ())
    lacking = [
        item for item in missing_items(source.plan, source.reading.run) if item.case.line not in failed
    ]
    for notice in source.reading.notices:
        listen(notice)
    return MeasuredRun(
        printable(str(source.path)),
        source.machine,
        source.reading.run,
        source.settings,
        catalog_of(source.folder),
        len(lacking),
        frozenset(case for case in source.plan.cases if case.line not in failed),
    )


def catalog_of(folder: RunFolder) -> Catalog:
    """The catalog of the run's engine, with the workloads it lacks taken from this version's catalog."""
    bundled, stored = bundled_catalog(), folder.catalog()
    return bundled if stored is None else stored.merged_with(bundled)
