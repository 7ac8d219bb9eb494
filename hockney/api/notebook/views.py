# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs, fitted models and figures as a notebook shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hockney.api.notebook.fitted_model import variable_range
from hockney.core.case import format_value
from hockney.core.catalog import PING_PONG
from hockney.core.errors import HockneyError, unknown
from hockney.core.wording import list_names, plural
from hockney.draw.figure import Figure, named
from hockney.draw.page import Table
from hockney.pages.evidence import Measured
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
    """If the run cannot be read, the reason."""
    try:
        # messages first
        measured = sorted(run.evidence.measured, key=lambda m: not m.workload.performs(*PING_PONG))
        page = run.page
        headline = () if run.settings.study == ad_hoc.NAME else page.headline
        fixed = _constant_parameters(measured)
        after = [f"All cases: {fixed}."] if fixed else []
        if len(measured) > MAX_ROWS:
            after.append(more_rows(len(measured) - MAX_ROWS))
        tables = [*([page.results] if page.results else []), _case_table(measured)]
        return notebook.summary(
            (f"{run.path}: {page.title}. {page.subtitle}", *headline), run.caveats, tables, after
        )
    except HockneyError as error:
        return notebook.summary([str(error)], ())


def _case_table(measured: Sequence[Measured]) -> Table:
    """The first cases. Parameters that are the same in all cases, or that none of these cases has, get no
    column."""
    visible = measured[:MAX_ROWS]
    varying = [name for name, values in _parameter_values(measured).items() if len(values) > 1]
    names = [name for name in varying if any(name in m.case for m in visible)]
    rows = tuple(
        (
            m.case.workload,
            *(_cell(m, name) for name in names),
            quantity(m.summary.typical.value, "s"),
            interval(m.summary.typical, "s"),
            str(m.summary.launches),
        )
        for m in visible
    )
    columns = ("workload", *names, *COLUMNS)
    numeric = tuple(range(len(columns) - len(COLUMNS), len(columns)))
    return Table("cases", "", columns, rows, numeric=numeric)


def _cell(m: Measured, name: str) -> str:
    value = m.case.get(name)
    if value is None:
        return ""
    return quantity(m.size, m.workload.size_unit) if name == m.workload.size else format_value(value)


def _parameter_values(measured: Sequence[Measured]) -> dict[str, set[object]]:
    names = dict.fromkeys(name for m in measured for name in ("ranks", *dict(m.case.parameters)))
    return {name: {m.case.get(name) for m in measured} for name in names}


def _constant_parameters(measured: Sequence[Measured]) -> str:
    """ "ranks=2 buffers=hot"."""
    constant = {name: values for name, values in _parameter_values(measured).items() if len(values) == 1}
    return " ".join(f"{name}={format_value(measured[0].case[name])}" for name in constant)


def more_rows(count: int) -> str:
    return f"{plural(count, 'more case')}: .frame() has all."


def model_html(model: FittedModel) -> str:
    fit = model.fit
    values = "".join(f" {name}={format_value(value)}" for name, value in model.bound.items())
    before = [f"{fit.model} model of {fit.line}{values}: {fit.verdict}{f' ({fit.why})' if fit.why else ''}."]
    before += [caveat.text for caveat in fit.caveats if caveat.text not in fit.why]
    rows = tuple(
        (p.name, p.symbol, quantity(p.estimate.value, p.unit), interval(p.estimate, p.unit))
        for p in fit.parameters
    )
    table = Table("parameters", "", ("parameter", "symbol", "value", "95% interval"), rows, numeric=(2, 3))
    variables = [variable_range(name, *ends) for name, ends in model.ranges.items()]
    return notebook.summary(
        before, (), [table], [f"Predicts times for {list_names(list(variables))}."] if variables else ()
    )


Figures = Mapping[str, Figure]


def figures_of(page: Page) -> Figures:
    """Under names that are unique, in the order of the page."""
    return named(page.figures)


def figure_named(figures: Figures, name: str) -> PlotlyFigure:
    """Raises UsageError for an unknown name."""
    if name not in figures:
        raise unknown("figure", name, figures)
    from hockney.draw.plotly_figure import plotly_figure

    return plotly_figure(figures[name])
