# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Published numbers compared with a simulation of the paper's machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import measurement, report
from hockney import reproductions as shelf
from hockney.core.catalog import Catalog
from hockney.core.errors import HockneyError, UsageError
from hockney.core.ethernet import Ethernet
from hockney.core.paths import AnyPath, to_path
from hockney.draw.page import Table
from hockney.machines import simulated
from hockney.measurement import Bench, Listener, Status, ignore_event, notifier
from hockney.reproductions import Answer, Check, ComparedNumber, Part, Reproduction, all_papers
from hockney.reproductions.all_papers import PaperResult
from hockney.store import RunFolder, default_path
from hockney.system.bundled import catalog_with
from hockney.system.files import make_folder, refuse_early, refuse_run

ALL = "all"
REPORT = "report.html"
FAKE_CORES = 512
"""A fake machine as large as the largest in the papers."""


@dataclass(frozen=True)
class ReproductionResult:
    """`files` are the report followed by its figures; `left` counts cases that could not be measured;
    `tables` are further results."""

    study: Reproduction
    out: Path
    files: Sequence[Path]
    compared: Sequence[ComparedNumber]
    checks: Sequence[Check]
    left: int
    tables: Sequence[Table] = ()

    @property
    def holds(self) -> bool:
        """Whether all checks passed."""
        return all(check.holds for check in self.checks)


def reproduce(
    names: Sequence[str],
    out: AnyPath | None = None,
    *,
    figures: AnyPath | None = None,
    machine: str = "",
    listen: Listener = ignore_event,
) -> list[ReproductionResult]:
    """Measure the papers `names` (or "all") again, each part in a run folder below `out`; existing parts are
    continued; several have a common page, "report.html". `figures` is a folder for each figure as a file;
    `machine` is an emulated one, on which a paper is measured in addition to being simulated, or a fake one,
    for tests.

    Raises UsageError for an unknown name, a folder of other parts, or a machine of another kind;
    EnvironmentProblem without SimGrid.
    """
    traits = measurement.kind_of(machine).TRAITS if machine else None
    emulated = traits is not None and traits.emulated
    if traits is not None and not (traits.is_fake or emulated):
        raise UsageError(
            "a reproduction cannot run on this machine",
            "it simulates the machines of its paper, or measures on an emulated one",
            "leave --machine out, or give --machine lan:NAME",
            code="reproduction-with-machine",
        )
    catalog = _catalog()
    studies = [shelf.reproduction(name, catalog) for name in dict.fromkeys(names) if name != ALL]
    if ALL in names:
        studies = list(shelf.all_reproductions().values())
    if not studies:
        raise UsageError(
            "nothing to reproduce",
            "name a paper",
            "'hockney reproduce --list' shows all",
            code="nothing-to-reproduce",
        )
    if emulated:
        candidates = [study for study in studies if ALL not in names or shelf.on_emulated(study)]
        studies, machine = [_emulated(study, machine) for study in candidates], ""
    several = len(studies) > 1
    name = ALL if several else studies[0].NAME
    into = default_path(f"reproduce-{name}") if out is None else to_path(out)
    figures_folder = None if figures is None else to_path(figures)
    folders = [into / study.NAME if several else into for study in studies]
    for folder in filter(None, (into, figures_folder, *folders)):
        refuse_run(folder)
        refuse_early(folder / REPORT)
    reproducer = _Reproducer(machine, figures_folder, listen)
    results = [reproducer.reproduce(study, folder) for study, folder in zip(studies, folders, strict=True)]
    if several:
        report.write(all_papers.page(results_of(results)), into / REPORT)
    return results


def results_of(results: Sequence[ReproductionResult]) -> list[PaperResult]:
    """The results of several reproductions, for the page and the screen."""
    return [
        PaperResult(each.study, each.compared, each.checks, f"{each.study.NAME}/{each.files[0].name}")
        for each in results
    ]


def _emulated(study: Reproduction, machine: str) -> Reproduction:
    """Raises UsageError if the paper's questions cannot be measured on an emulated machine."""
    make = shelf.on_emulated(study)
    if make is None:
        every = shelf.all_reproductions().values()
        available = [s.NAME for s in every if shelf.on_emulated(s)]
        raise UsageError(
            f"{study.NAME} cannot be measured on an emulated machine",
            "its machine was no Ethernet",
            f"leave --machine out, or reproduce {' or '.join(available)}",
            code="reproduction-not-emulated",
            name=study.NAME,
            available=list(available),
        )
    return make(machine)


def _catalog() -> Catalog:
    """The bundled catalog with the workloads of all reproductions."""
    return catalog_with(measurement.bundled_catalog(), shelf.workloads_of(shelf.all_reproductions().values()))


class _Reproducer:
    """Benches, one per machine and description: SimGrid is located and the engine compiled only once."""

    def __init__(self, machine: str, figures: Path | None, listen: Listener) -> None:
        self.machine = machine
        self.figures = figures
        self.listen = listen
        self.workloads: tuple[str, ...] = ()
        self.stored: Ethernet | None = None
        self.benches: dict[tuple[str, tuple[str, ...], Ethernet | None], Bench] = {}

    def reproduce(self, study: Reproduction, out: Path) -> ReproductionResult:
        answers: dict[str, Answer] = {}
        left = 0
        parts = study.parts(_catalog())
        self.workloads = shelf.workloads_of([study])
        self.stored = _stored_ethernet(parts, out)
        self._refuse_early([part for part in parts if part.on and not (out / part.name).exists()])
        for number, part in enumerate(parts, 1):
            machine = part.on or part.machine
            self.listen(Status(f"{study.NAME}, part {number} of {len(parts)}: {part.name} on {machine}"))
            answers[part.name], missing = self._answer(part, out)
            left += missing
        compared = study.compare(answers)
        checks = study.checks(answers, compared)
        page = study.page(answers, compared, checks)
        tables = shelf.tables(study, answers)
        make_folder(out)
        files = [report.write(page, out / REPORT)]
        if self.figures is not None:
            files += report.figures(page, self.figures)
        return ReproductionResult(study, out, files, compared, checks, left, tables)

    def _refuse_early(self, parts: Sequence[Part]) -> None:
        """Raises any error that keeps the ranks of `parts` from being launched, before anything is
        simulated."""
        for part in parts:
            self._bench(part.on).launcher.describe(max(case.ranks for case in part.cases))

    def _answer(self, part: Part, out: Path) -> tuple[Answer, int]:
        machine = part.on or self.machine or measurement.simulated_reference(part.machine)
        try:
            folder, left = measurement.run_part(
                out / part.name,
                machine,
                part.cases,
                self._bench,
                self.listen,
                launches=part.launches,
                budget_s=part.budget_s,
            )
        except (HockneyError, KeyboardInterrupt):
            if (out / part.name).exists():
                self.listen(Status(f"the results so far are kept; to continue, use --out {out} again"))
            raise
        reading = folder.read()
        for notice in reading.notices:
            self.listen(notice)
        measured = folder.machine()
        platform = measured.platform or simulated.platform(part.machine)
        return Answer(part, platform, reading.run, measured), left

    def _bench(self, machine: str) -> Bench:
        key = machine, self.workloads, self.stored
        if key not in self.benches:
            self.benches[key] = measurement.prepare(
                machine,
                "",
                False,
                notifier(self.listen),
                cores=FAKE_CORES,
                workloads=self.workloads,
                ethernet=self.stored,
            )
        return self.benches[key]


def _stored_ethernet(parts: Sequence[Part], out: Path) -> Ethernet | None:
    """The description of the emulated machine in the parts measured so far. All parts have one network, even
    if the machine's file has changed since; None if no part was measured."""
    folders = (RunFolder(out / part.name) for part in parts if part.on)
    return next((folder.machine().emulated for folder in folders if folder.plan_path.is_file()), None)
