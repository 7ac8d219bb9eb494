# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Display of runs, fitted models and figures in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hockney.api.notebook.fitted_model import variable_range
from hockney.core.case import format_value
from hockney.core.catalog import PING_PONG
from hockney.core.errors import HockneyError, unknown
from hockney.core.wording import list_names, plural
from hockney.draw.figure import Figure, with_unique_names
from hockney.draw.page import Table
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import interval, quantity
from hockney.report import notebook
from hockney.studies import ad_hoc

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.api.notebook.fitted_model import FittedModel
    from hockney.api.run_contents import Run
    from hockney.draw.page import Page

MAX_ROWS = 20
COLUMNS = ("typical", "95% interval", "launches")


def run_html(run: Run) -> str:
    """Render a run, or the reason why it cannot be read."""
    try:
        # messages first
        summaries = sorted(
            run.evidence.measured, key=lambda summary: not summary.workload.performs(*PING_PONG)
        )
        page = run.page
        headline = () if run.settings.study == ad_hoc.NAME else page.headline
        constants = _constant_parameters(summaries)
        notes = [f"All cases: {constants}."] if constants else []
        if len(summaries) > MAX_ROWS:
            notes.append(more_rows(len(summaries) - MAX_ROWS))
        tables = [*([page.results] if page.results else []), _case_table(summaries)]
        return notebook.summary(
            (f"{run.path}: {page.title}. {page.subtitle}", *headline), run.caveats, tables, notes
        )
    except HockneyError as error:
        return notebook.summary([str(error)], ())


def _case_table(summaries: Sequence[MeasuredCase]) -> Table:
    """Table of the first cases, without columns for parameters that are constant or absent."""
    visible = summaries[:MAX_ROWS]
    varying_names = [name for name, values in _parameter_values(summaries).items() if len(values) > 1]
    names = [name for name in varying_names if any(name in summary.case for summary in visible)]
    rows = tuple(
        (
            summary.case.workload,
            *(_cell(summary, name) for name in names),
            quantity(summary.summary.typical.value, "s"),
            interval(summary.summary.typical, "s"),
            str(summary.summary.launches),
        )
        for summary in visible
    )
    columns = ("workload", *names, *COLUMNS)
    numeric = tuple(range(len(columns) - len(COLUMNS), len(columns)))
    return Table("cases", "", columns, rows, numeric=numeric)


def _cell(summary: MeasuredCase, name: str) -> str:
    value = summary.case.get(name)
    if value is None:
        return ""
    return (
        quantity(summary.size, summary.workload.size_unit)
        if name == summary.workload.size
        else format_value(value)
    )


def _parameter_values(summaries: Sequence[MeasuredCase]) -> dict[str, set[object]]:
    names = dict.fromkeys(name for summary in summaries for name in ("ranks", *dict(summary.case.parameters)))
    return {name: {summary.case.get(name) for summary in summaries} for name in names}


def _constant_parameters(summaries: Sequence[MeasuredCase]) -> str:
    """ "ranks=2 buffers=hot"."""
    constants = {name: values for name, values in _parameter_values(summaries).items() if len(values) == 1}
    return " ".join(f"{name}={format_value(summaries[0].case[name])}" for name in constants)


def more_rows(count: int) -> str:
    return f"{plural(count, 'more case')}: .frame() has all."


def model_html(model: FittedModel) -> str:
    fit = model.fit
    values = "".join(f" {name}={format_value(value)}" for name, value in model.bound.items())
    sentences = [
        f"{fit.model} model of {fit.line}{values}: {fit.verdict}{f' ({fit.why})' if fit.why else ''}."
    ]
    sentences += [caveat.text for caveat in fit.caveats if caveat.text not in fit.why]
    rows = tuple(
        (
            parameter.name,
            parameter.symbol,
            quantity(parameter.estimate.value, parameter.unit),
            interval(parameter.estimate, parameter.unit),
        )
        for parameter in fit.parameters
    )
    table = Table("parameters", "", ("parameter", "symbol", "value", "95% interval"), rows, numeric=(2, 3))
    variables = [variable_range(name, *bounds) for name, bounds in model.ranges.items()]
    return notebook.summary(
        sentences, (), [table], [f"Predicts times for {list_names(list(variables))}."] if variables else ()
    )


Figures = Mapping[str, Figure]


def figures_of(page: Page) -> Figures:
    """Figures of a page in order, with unique names."""
    return with_unique_names(page.figures)


def figure_named(figures: Figures, name: str) -> PlotlyFigure:
    """Return a figure as a Plotly figure. Raises UsageError for an unknown name."""
    if name not in figures:
        raise unknown("figure", name, figures)
    from hockney.draw.plotly_figure import plotly_figure

    return plotly_figure(figures[name])
