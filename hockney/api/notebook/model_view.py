# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A fitted model in the cell of a notebook: what it describes and how well, and its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hockney.api.notebook.fitted_model import variable_range
from hockney.core.case import format_value
from hockney.core.wording import listing
from hockney.draw.page import Table
from hockney.pages.format import interval, quantity
from hockney.report import notebook

if TYPE_CHECKING:
    from hockney.api.notebook.fitted_model import FittedModel


def html(model: FittedModel) -> str:
    fit = model.fit
    chosen = "".join(f" {name}={format_value(value)}" for name, value in model.bound.items())
    before = [f"{fit.model} model of {fit.line}{chosen}: {fit.verdict}{f' ({fit.why})' if fit.why else ''}."]
    before += [caveat.text for caveat in fit.caveats if caveat.text not in fit.why]
    rows = tuple(
        (p.name, p.symbol, quantity(p.estimate.value, p.unit), interval(p.estimate, p.unit))
        for p in fit.parameters
    )
    table = Table("parameters", "", ("parameter", "symbol", "value", "95% interval"), rows, numeric=(2, 3))
    variables = [variable_range(name, *ends) for name, ends in model.ranges.items()]
    return notebook.summary(
        before, (), [table], [f"Predicts times for {listing(list(variables))}."] if variables else ()
    )
