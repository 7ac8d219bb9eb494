# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of published numbers with a simulation of the paper's machine."""

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
from hockney.system.files import check_user_file, make_folder, raise_if_run

ALL = "all"
REPORT = "report.html"
FAKE_CORES = 512
"""A fake machine as large as the largest in the papers."""


@dataclass(frozen=True)
class ReproductionResult:
    """`files` contains the report and its figures. `left` is the number of cases that could not be measured.
    `tables` are additional results."""

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
    """Reproduce the papers `names` (or "all"). Each part is a run folder below `out`; existing parts are
    continued. Several papers share one page, "report.html". Figures are written to the folder `figures`. On
    an emulated `machine`, a paper is measured in addition to being simulated; a fake one serves tests.

    Raises UsageError for an unknown name, a folder with other parts, or an unsuitable machine;
    EnvironmentProblem if SimGrid is missing.
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
        studies, machine = [_emulated_machine(study, machine) for study in candidates], ""
    has_several = len(studies) > 1
    name = ALL if has_several else studies[0].NAME
    folder_path = default_path(f"reproduce-{name}") if out is None else to_path(out)
    figures_folder = None if figures is None else to_path(figures)
    folders = [folder_path / study.NAME if has_several else folder_path for study in studies]
    for folder in filter(None, (folder_path, figures_folder, *folders)):
        raise_if_run(folder)
        check_user_file(folder / REPORT)
    reproducer = _Reproducer(machine, figures_folder, listen)
    results = [reproducer.reproduce(study, folder) for study, folder in zip(studies, folders, strict=True)]
    if has_several:
        report.write(all_papers.papers_page(results_of(results)), folder_path / REPORT)
    return results


def results_of(results: Sequence[ReproductionResult]) -> list[PaperResult]:
    """Results of several reproductions, for the page and the terminal."""
    return [
        PaperResult(
            result.study, result.compared, result.checks, f"{result.study.NAME}/{result.files[0].name}"
        )
        for result in results
    ]


def _emulated_machine(study: Reproduction, machine: str) -> Reproduction:
    """Study of the paper on an emulated machine. Raises UsageError if that is not possible."""
    build = shelf.on_emulated(study)
    if build is None:
        all_studies = shelf.all_reproductions().values()
        available_names = [other.NAME for other in all_studies if shelf.on_emulated(other)]
        raise UsageError(
            f"{study.NAME} cannot be measured on an emulated machine",
            "its machine was no Ethernet",
            f"leave --machine out, or reproduce {' or '.join(available_names)}",
            code="reproduction-not-emulated",
            name=study.NAME,
            available=list(available_names),
        )
    return build(machine)


def _catalog() -> Catalog:
    """Bundled catalog with the workloads of all reproductions."""
    return catalog_with(measurement.bundled_catalog(), shelf.workloads_of(shelf.all_reproductions().values()))


class _Reproducer:
    """Caches benches by machine and description, so that SimGrid is located and the engine compiled only
    once."""

    def __init__(self, machine: str, figures: Path | None, listen: Listener) -> None:
        self.machine = machine
        self.figures = figures
        self.listen = listen
        self.workloads: tuple[str, ...] = ()
        self.stored: Ethernet | None = None
        self.benches: dict[tuple[str, tuple[str, ...], Ethernet | None], Bench] = {}

    def reproduce(self, study: Reproduction, out: Path) -> ReproductionResult:
        answers: dict[str, Answer] = {}
        missing_count = 0
        parts = study.parts(_catalog())
        self.workloads = shelf.workloads_of([study])
        self.stored = _stored_ethernet(parts, out)
        self._refuse_early([part for part in parts if part.on and not (out / part.name).exists()])
        for number, part in enumerate(parts, 1):
            machine = part.on or part.machine
            self.listen(Status(f"{study.NAME}, part {number} of {len(parts)}: {part.name} on {machine}"))
            answers[part.name], missing = self._answer(part, out)
            missing_count += missing
        compared = study.compare(answers)
        checks = study.checks(answers, compared)
        page = study.page(answers, compared, checks)
        tables = shelf.tables(study, answers)
        make_folder(out)
        files = [report.write(page, out / REPORT)]
        if self.figures is not None:
            files += report.figures(page, self.figures)
        return ReproductionResult(study, out, files, compared, checks, missing_count, tables)

    def _refuse_early(self, parts: Sequence[Part]) -> None:
        """Raise any error that prevents launching the ranks of `parts` before anything is simulated."""
        for part in parts:
            self._bench(part.on).launcher.describe(max(case.ranks for case in part.cases))

    def _answer(self, part: Part, out: Path) -> tuple[Answer, int]:
        machine = part.on or self.machine or measurement.simulated_reference(part.machine)
        try:
            folder, missing_count = measurement.run_part(
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
        run_machine = folder.machine()
        platform = run_machine.platform or simulated.platform(part.machine)
        return Answer(part, platform, reading.run, run_machine), missing_count

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
    """Description of the emulated machine in existing parts, None if there are none. All parts use the same
    network, even if the machine's file has changed."""
    folders = (RunFolder(out / part.name) for part in parts if part.on)
    return next((folder.machine().emulated for folder in folders if folder.plan_path.is_file()), None)
