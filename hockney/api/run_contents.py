# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Contents of a run folder, and everything derived from its records."""

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
    measurements. Models are fitted to the records, or read from `fits.json` if this user's hockney computed
    them from the same records.

    `fits`, `page` and everything derived from them use the typical `cost` of each case or the undisturbed
    one, which is that of its fastest mode. `summaries` contain both. `fits.json` always contains the typical
    cost.

    For a run that was just measured, `outcome` describes how measuring ended and `requested` lists its cases
    in the requested order. They are None and empty for a loaded run. `_read` contains the records if they
    have already been read. Reading raises EnvironmentProblem if the folder is damaged or unreadable.
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
        """Records of each case in each launch, in order of measurement. Times are in seconds."""
        return tuple(self.reading.run.records)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices from reading the records, such as a truncated last line."""
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
        """Summaries of each case, with typical time and 95% interval in seconds."""
        return self.fits.summaries

    @cached_property
    def page(self) -> Page:
        """The report as data: headline, figures, tables."""
        page = studies.find_study(self.settings.study).page(self.evidence)
        notes = () if self.cost == "typical" else (undisturbed_note(),)
        return replace(page, headline=(*notes, *page.headline))

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Caveats of the page, then of its sections, each with a code and the affected results."""
        return (
            *self.page.warnings,
            *(warning for section in self.page.sections for warning in section.warnings),
        )

    @property
    def wrong(self) -> bool:
        """Whether any payload, or any of hockney's own messages, arrived corrupted."""
        run = self.reading.run
        return bool(run.corrupted_records or run.corrupted_launches)

    def save_fits(self) -> None:
        """Write fits.json, unless it is up to date. Fits of the undisturbed cost are not saved."""
        self.results.save(self.folder)

    def report(self, path: AnyPath | None = None) -> Path:
        """Write the page, by default report.html in the run's folder, and the folder's fits.json."""
        self.save_fits()
        default_path = self.folder.report_path
        target = default_path if path is None else to_path(path)
        return report.write(self.page, target, in_run_folder=target.absolute() == default_path.absolute())

    def figures(self, folder: AnyPath) -> list[Path]:
        """Write each figure as SVG and PNG into `folder`."""
        return report.figures(self.page, to_path(folder))

    def table(self, what: TableName = "repetitions") -> Rows:
        """Table of the run with one row per repetition, record (a case in one launch), case, or parameter of
        a fit. Repetitions and records need no fitting. Raises UsageError for an unknown table."""
        if what not in get_args(TableName):
            raise unknown("table", what, get_args(TableName))
        from hockney.api.tables import parameters, records, repetitions, summaries

        if what == "repetitions":
            return repetitions(self.reading.run)
        if what == "records":
            return records(self.reading.run)
        return summaries(self.fits) if what == "summaries" else parameters(self.fits)

    def frame(self, what: TableName = "summaries", library: Library | None = None) -> Any:
        """Table as a DataFrame of `library`, by default pandas if installed, otherwise polars. Raises
        EnvironmentProblem if neither is installed."""
        from hockney.api.export import frame

        return frame(self.table(what), library)

    def model(self, workload: str, model: str = "", **fixed: Quantity) -> FittedModel:
        """Return the model of a workload's time, which is called with its variables:

            run.model("pingpong", ranks=2)(bytes=40_000)

        `fixed` are parameters of the workload; others have their defaults if measured. `model` selects a
        model by name (hockney, loggp, logarithmic, linear, size). Raises UsageError if there is no model or
        if several differ in parameters that were not named, Inconclusive for a refused fit.
        """
        from hockney.api.notebook.fitted_model import fitted_model

        return fitted_model(self.fits, workload, model, fixed)

    @property
    def models(self) -> tuple[FittedModel, ...]:
        """Models of all fits that were not refused."""
        from hockney.api.notebook.fitted_model import predicting_models

        return predicting_models(self.fits)

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the page's figures, in order."""
        return tuple(self._figures)

    def figure(self, name: str) -> PlotlyFigure:
        """Figure of the page as a Plotly figure. Raises UsageError for an unknown name."""
        from hockney.api.notebook.views import figure_named

        return figure_named(self._figures, name)

    @cached_property
    def _figures(self) -> Figures:
        from hockney.api.notebook.views import figures_of

        return figures_of(self.page)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the run as a reference to its folder, without its contents."""
        state = {run_field.name: getattr(self, run_field.name) for run_field in fields(self)}
        return state | {"folder": RunFolder(self.path.absolute()), "_read": None}

    def __repr__(self) -> str:
        cost = f", cost={self.cost!r}" if self.cost != "typical" else ""
        return f"Run({str(self.path)!r}{cost})"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        from hockney.api.notebook.views import run_html

        return run_html(self)

    def export(self, path: AnyPath, what: TableName = "repetitions") -> Path:
        """Write a table of the run as CSV or Parquet, according to the file name's suffix. Raises UsageError
        for another suffix, EnvironmentProblem if the file cannot be written."""
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
    """Load the run in the folder `path`, with models of the typical or the undisturbed cost. Raises
    UsageError if there is no run."""
    if isinstance(path, Run):
        return replace(path, cost=cost)
    return Run(RunFolder.open(to_path(path)), cost=cost)


def caveats_of(folder: RunFolder, results: Results) -> tuple[Caveat, ...]:
    """Caveats about the workloads in the results, computed without the page."""
    from hockney.pages.caveats import caveats

    names = {workload.name for workload in results.fits.workloads}
    records = tuple(record for record in results.run.records if record.parse_case().workload in names)
    evidence = replace(evidence_of(folder, results), run=replace(results.run, records=records))
    return tuple(located.caveat for located in caveats(evidence))


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
