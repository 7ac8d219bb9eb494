# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run folder, and everything that can be derived from its records."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from hockney import measurement, report, studies
from hockney.core.case import Case
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.fit import Cost, Fits, Summary
from hockney.core.machine import Machine
from hockney.core.paths import AnyPath, to_path
from hockney.core.record import Record
from hockney.core.settings import Settings
from hockney.store import Plan, Reading, RunFolder, expected_items, missing_items

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.api.export import Library
    from hockney.api.notebook.fitted_model import FittedModel
    from hockney.api.notebook.keywords import Quantity
    from hockney.api.notebook.views import Figures
    from hockney.api.tables import Rows
    from hockney.draw.page import Caveat, Page
    from hockney.measurement import Outcome, Results
    from hockney.studies import Evidence

TableName = Literal["repetitions", "records", "summaries", "parameters"]
"""Tables of a run."""


@dataclass(frozen=True, repr=False)
class Run:
    """The contents of a run folder, read on first use and then cached: load the run again to include later
    measurements. Models are fitted to the records, or read from `fits.json` if this user's hockney has
    computed them from the same records before.

    `fits`, `page` and everything derived from them use the cases' `cost`: the typical one, or the undisturbed
    one, which is that of a case's fastest mode. `summaries` have both. `fits.json` is always for the typical
    cost.

    For a run that has just been measured, `outcome` is how measuring ended, and `requested` its cases in the
    order asked; None and empty for a run that was loaded. `_read` are its records, if they have been read
    already. Reading raises EnvironmentProblem if the folder
    is damaged or unreadable.
    """

    folder: RunFolder
    outcome: Outcome | None = None
    cost: Cost = "typical"
    requested: tuple[Case, ...] = ()
    _read: Reading | None = field(default=None, compare=False)

    @property
    def path(self) -> Path:
        return self.folder.path

    @cached_property
    def plan(self) -> Plan:
        return self.folder.plan()

    @property
    def settings(self) -> Settings:
        return self.plan.settings

    @cached_property
    def machine(self) -> Machine:
        return self.folder.machine()

    @cached_property
    def reading(self) -> Reading:
        return self._read or self.folder.read()

    @property
    def records(self) -> tuple[Record, ...]:
        """One for each case in each launch, in order of measuring; times in seconds."""
        return tuple(self.reading.run.records)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices of reading the records, such as a truncated last line."""
        return tuple(notice.text for notice in self.reading.notices)

    @cached_property
    def results(self) -> Results:
        return measurement.load_results(self.folder, reading=self.reading, cost=self.cost)

    @cached_property
    def evidence(self) -> Evidence:
        return evidence_of(self.folder, self.results)

    @property
    def fits(self) -> Fits:
        """All models of the run, with 95% intervals and verdicts, and its summaries."""
        return self.results.fits

    @property
    def summaries(self) -> list[Summary]:
        """One for each case: typical time and 95% interval in seconds."""
        return self.fits.summaries

    @cached_property
    def page(self) -> Page:
        """The report as data: headline, figures, tables."""
        page = studies.study(self.settings.study).page(self.evidence)
        notes = () if self.cost == "typical" else (undisturbed_note(),)
        return replace(page, headline=(*notes, *page.headline))

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """The caveats, each with a code and what it affects: of the whole page, then of its sections."""
        return (*self.page.warnings, *(w for section in self.page.sections for w in section.warnings))

    @property
    def wrong(self) -> bool:
        """Whether any payload, or any of hockney's own messages, arrived corrupted."""
        run = self.reading.run
        return bool(run.corrupted_records or run.corrupted_launches)

    def save_fits(self) -> None:
        """Write fits.json, unless it is up to date. Fits of the undisturbed cost are not saved."""
        self.results.save(self.folder)

    def report(self, path: AnyPath | None = None) -> Path:
        """Write the page, by default as report.html in the run's folder, and the folder's fits.json."""
        self.save_fits()
        default = self.folder.report_path
        target = default if path is None else to_path(path)
        return report.write(self.page, target, in_run_folder=target.absolute() == default.absolute())

    def figures(self, folder: AnyPath) -> list[Path]:
        """Write each figure as SVG and PNG into `folder`."""
        return report.figures(self.page, to_path(folder))

    def table(self, what: TableName = "repetitions") -> Rows:
        """The run as columns: a row for each repetition, for each record (a case in one launch), for each
        case, or for each parameter of each fit. Repetitions and records need no fitting. Raises UsageError
        for another table."""
        if what not in get_args(TableName):
            raise unknown("table", what, get_args(TableName))
        from hockney.api.tables import parameters, records, repetitions, summaries

        if what == "repetitions":
            return repetitions(self.reading.run)
        if what == "records":
            return records(self.reading.run)
        return summaries(self.fits) if what == "summaries" else parameters(self.fits)

    def frame(self, what: TableName = "summaries", library: Library | None = None) -> Any:
        """The same as a DataFrame of pandas or polars: of the `library`, or of the first that is installed.
        Raises EnvironmentProblem if neither is."""
        from hockney.api.export import frame

        return frame(self.table(what), library)

    def model(self, workload: str, model: str = "", **fixed: Quantity) -> FittedModel:
        """The model of a workload's time, to be called with its variables:

            run.model("pingpong", ranks=2)(bytes=40_000)

        `fixed` are parameters of the workload; those that are not named have their default, if it was
        measured. `model` selects one by name (hockney, loggp, logarithmic, linear, size). Raises UsageError
        if there is none or if several differ in parameters that were not named, Inconclusive for a refused
        fit.
        """
        from hockney.api.notebook.fitted_model import fitted_model

        return fitted_model(self.fits, workload, model, fixed)

    @property
    def models(self) -> tuple[FittedModel, ...]:
        """All models that predict times: one for each fit that is not refused."""
        from hockney.api.notebook.fitted_model import predicting_models

        return predicting_models(self.fits)

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the page's figures, in order."""
        return tuple(self._figures)

    def figure(self, name: str) -> PlotlyFigure:
        """A figure of the page, as a Plotly figure. Raises UsageError for an unknown name."""
        from hockney.api.notebook.views import figure_named

        return figure_named(self._figures, name)

    @cached_property
    def _figures(self) -> Figures:
        from hockney.api.notebook.views import figures_of

        return figures_of(self.page)

    def __getstate__(self) -> dict[str, Any]:
        """Pickled as a reference to its folder, without what was read from it."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return state | {"folder": RunFolder(self.path.absolute()), "_read": None}

    def __repr__(self) -> str:
        cost = f", cost={self.cost!r}" if self.cost != "typical" else ""
        return f"Run({str(self.path)!r}{cost})"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.api.notebook.views import run_html

        return run_html(self)

    def export(self, path: AnyPath, what: TableName = "repetitions") -> Path:
        """Write the run as a table, CSV or Parquet according to the file name's suffix. Raises UsageError for
        another one, EnvironmentProblem if it cannot be written."""
        from hockney.api.export import save_csv, save_parquet

        path = to_path(path)
        if path.suffix == ".csv":
            save_csv(self.table(what), str(path))
        elif path.suffix == ".parquet":
            save_parquet(self.table(what), path)
        else:
            raise UsageError(
                f"'{printable(str(path))}' has no known table format",
                "",
                "end the name in .csv or .parquet",
                code="unknown-table-format",
            )
        return path


def load(path: AnyPath | Run, cost: Cost = "typical") -> Run:
    """The run in the folder `path`, or one that has been found, with models of the typical or of the
    undisturbed cost. Raises UsageError if there is none."""
    if isinstance(path, Run):
        return replace(path, cost=cost)
    return Run(RunFolder.open(to_path(path)), cost=cost)


def caveats_of(folder: RunFolder, results: Results) -> tuple[Caveat, ...]:
    """Caveats about the workloads that the results have, without making the page."""
    from hockney.pages.caveats import caveats

    names = {workload.name for workload in results.fits.workloads}
    records = tuple(r for r in results.run.records if r.parse_case().workload in names)
    evidence = replace(evidence_of(folder, results), run=replace(results.run, records=records))
    return tuple(each.caveat for each in caveats(evidence))


def evidence_of(folder: RunFolder, results: Results) -> Evidence:
    plan = folder.plan()
    return studies.Evidence(
        fits=results.fits,
        run=results.run,
        machine=results.machine,
        settings=plan.settings,
        planned_count=len(expected_items(plan, results.run)),
        missing_count=len(missing_items(plan, results.run)),
        added_count=len(set(results.run.by_case()) - {case.line for case in plan.cases}),
        notices=tuple(notice.text for notice in results.notices),
        survey=folder.surveyed(),
        times=results.times,
    )


def undisturbed_note() -> str:
    return (
        "Times and models on this page are undisturbed costs: those of each case in its fastest mode. The "
        "tables of spread and of metrics show typical costs."
    )
