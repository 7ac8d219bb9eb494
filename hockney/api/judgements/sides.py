# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of the runs of a side: run folders, folders of runs, published machines."""

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
    """Read both sides. Raises UsageError if a source is not a run or is on both sides, EnvironmentProblem if
    a run is damaged."""
    runs = [runs_of(name, side) for name, side in (("A", a), ("B", b))]
    identities = {_identity(run_path) for run_path in runs[0]}
    for run_path in runs[1]:
        if _identity(run_path) in identities:
            path = run_path if isinstance(run_path, str) else str(run_path.path)
            raise UsageError(
                f"'{printable(path)}' is on both sides",
                "a run does not differ from itself",
                "name each run once",
                code="run-on-both-sides",
                path=path,
            )
    failed_cases = _failed_cases(
        run_path for sources in runs for run_path in sources if isinstance(run_path, Run)
    )
    return read_side("A", runs[0], listen, failed_cases), read_side("B", runs[1], listen, failed_cases)


def runs_of(name: str, side: Source | Sequence[Source]) -> list[Run | str]:
    """Runs of side `name` without duplicates. Published machines remain names. Raises UsageError if there are
    no runs."""
    runs = _unique(run for source in as_list(side) for run in _runs_of_source(source))
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
    """Read the runs of a side. `failed_cases` of interleaved comparisons do not count as missing. Raises
    EnvironmentProblem if a run is damaged."""
    return Side(name, tuple(_read_run(run, listen, failed_cases) for run in runs))


def as_list(side: Source | Sequence[Source]) -> Sequence[Source]:
    """List of the sources of a side."""
    return [side] if isinstance(side, str | Path | Run) or hasattr(side, "__fspath__") else list(side)


def _runs_of_source(source: Source) -> Iterator[Run | str]:
    """Runs in a folder of runs, ordered by name, or the name of a published machine."""
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
    """The run in the folder `path`, or the runs directly inside it. Raises UsageError if there is none."""
    if not path.is_dir() or (path / "plan.txt").is_file():
        return [RunFolder.open(path)]
    folders = [folder for folder in sorted(path.iterdir()) if (folder / "plan.txt").is_file()]
    # hidden ones are copies that an archive has not finished
    runs = [folder for folder in folders if not folder.is_symlink() and not folder.name.startswith(".")]
    if not runs:
        raise UsageError(
            f"'{printable(str(path))}' has no runs",
            "neither the folder itself nor one directly inside it is a run",
            "name a run, or a folder of runs",
            code="no-runs-in-folder",
            path=str(path),
        )
    return [RunFolder.open(folder) for folder in runs]


def _identity(source: Run | str) -> str:
    return str(source.path.resolve()) if isinstance(source, Run) else source


def _unique(sources: Iterable[Run | str]) -> list[Run | str]:
    return list({_identity(source): source for source in sources}.values())


def _failed_cases(runs: Iterable[Run]) -> dict[str, set[str]]:
    """Cases of each interleaved comparison that failed on either side. They are measured on neither side."""
    failed_by_comparison: dict[str, set[str]] = {}
    for run in runs:
        if run.settings.interleaved:
            cases = failed_by_comparison.setdefault(run.settings.interleaved, set())
            cases.update(failure.case for failure in run.reading.run.failures)
    return failed_by_comparison


def _read_run(
    source: Run | str, listen: Listener, failed_cases: Mapping[str, Collection[str]]
) -> MeasuredRun:
    if isinstance(source, str):
        catalog = bundled_catalog()
        machine, run = reference.run_of(reference.paper_of(source), catalog)
        return MeasuredRun(source, machine, run, Settings(study="published", budget_s=0.0), catalog)
    excluded = failed_cases.get(source.settings.interleaved, ())
    missing = [
        item for item in missing_items(source.plan, source.reading.run) if item.case.line not in excluded
    ]
    for notice in source.reading.notices:
        listen(notice)
    return MeasuredRun(
        printable(str(source.path)),
        source.machine,
        source.reading.run,
        source.settings,
        catalog_of(source.folder),
        len(missing),
        frozenset(case for case in source.plan.cases if case.line not in excluded),
    )


def catalog_of(folder: RunFolder) -> Catalog:
    """Catalog of the run's engine, extended by missing workloads from the bundled catalog."""
    bundled, stored = bundled_catalog(), folder.catalog()
    return bundled if stored is None else stored.merged_with(bundled)
