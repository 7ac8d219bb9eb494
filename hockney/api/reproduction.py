# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published numbers compared with a simulation of the paper's machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import lab, report, simulated
from hockney import reproductions as shelf
from hockney.api import messages
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError
from hockney.core.paths import AnyPath, to_path
from hockney.lab import Bench, Listener, Status, notifier, silent
from hockney.reproductions import Answer, Compared, Limit, Part, Reproduction
from hockney.store import default_path
from hockney.system.bundled import catalog_with
from hockney.system.files import make_folder

ALL = "all"
FAKE_CORES = 512
"""A fake machine as large as the largest in the papers."""


@dataclass(frozen=True)
class Reproduced:
    """`files` are the report followed by its figures; `left` counts cases that could not be measured."""

    study: Reproduction
    out: Path
    files: Sequence[Path]
    compared: Sequence[Compared]
    limits: Sequence[Limit]
    left: int

    @property
    def holds(self) -> bool:
        """Whether all results are within the reproduction's limits."""
        return all(limit.holds for limit in self.limits)


def reproduce(
    names: Sequence[str],
    out: AnyPath | None = None,
    *,
    figures: AnyPath | None = None,
    machine: str = "",
    listen: Listener = silent,
) -> list[Reproduced]:
    """Measure the papers `names` (or "all") again, each part in a run folder below `out`; existing parts are
    continued. `figures` is a folder for each figure as a file; `machine` may only be a fake one, for tests.

    Raises UsageError for an unknown name or a folder of other parts, EnvironmentProblem without SimGrid.
    """
    if not names:
        raise messages.nothing_to_reproduce()
    if machine and not lab.kind_of(machine).TRAITS.invented:
        raise messages.reproduction_with_machine()
    catalog = _catalog()
    chosen = [shelf.reproduction(name, catalog) for name in dict.fromkeys(names) if name != ALL]
    if ALL in names:
        chosen = list(shelf.all_reproductions().values())
    several = len(chosen) > 1
    name = ALL if several else chosen[0].NAME
    into = default_path(f"reproduce-{name}") if out is None else to_path(out)
    reproducer = _Reproducer(machine, None if figures is None else to_path(figures), listen)
    return [reproducer.reproduce(study, into / study.NAME if several else into) for study in chosen]


def _catalog() -> Catalog:
    """With the workloads of all reproductions."""
    return catalog_with(lab.bundled_catalog(), shelf.workloads_of(shelf.all_reproductions().values()))


class _Reproducer:
    """Benches, one per machine: SimGrid is located and the engine compiled only once."""

    def __init__(self, machine: str, figures: Path | None, listen: Listener) -> None:
        self.machine = machine
        self.figures = figures
        self.listen = listen
        self.workloads: tuple[str, ...] = ()
        self.benches: dict[tuple[str, tuple[str, ...]], Bench] = {}

    def reproduce(self, study: Reproduction, out: Path) -> Reproduced:
        answers: dict[str, Answer] = {}
        left = 0
        parts = study.parts(_catalog())
        self.workloads = shelf.workloads_of([study])
        for number, part in enumerate(parts, 1):
            self.listen(Status(messages.part(study.NAME, number, len(parts), part.name, part.machine)))
            answers[part.name], missing = self._answer(part, out)
            left += missing
        compared = study.compare(answers)
        limits = [*study.limits(compared), *shelf.findings(study, answers)]
        page = study.page(answers, compared, limits)
        make_folder(out)
        files = [report.write(page, out / "report.html")]
        if self.figures is not None:
            files += report.figures(page, self.figures)
        return Reproduced(study, out, files, compared, limits, left)

    def _answer(self, part: Part, out: Path) -> tuple[Answer, int]:
        machine = self.machine or lab.simulated_reference(part.machine)
        try:
            folder, left = lab.run_part(out / part.name, machine, part.cases, self._bench, self.listen)
        except (HockneyError, KeyboardInterrupt):
            if (out / part.name).exists():
                self.listen(Status(messages.reproduction_kept(out)))
            raise
        reading = folder.read()
        for notice in reading.notices:
            self.listen(notice)
        platform = folder.machine().platform or simulated.platform(part.machine)
        return Answer(part, platform, reading.run), left

    def _bench(self, machine: str) -> Bench:
        key = machine, self.workloads
        if key not in self.benches:
            notify = notifier(self.listen)
            self.benches[key] = lab.prepare(
                machine, "", False, notify, cores=FAKE_CORES, workloads=self.workloads
            )
        return self.benches[key]
