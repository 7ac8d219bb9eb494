# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fitted models: what each fit is of and its verdict once, its parameters below."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.cli.output.tables import Group, print_groups
from hockney.core.fit import Fit
from hockney.core.units import format_percent
from hockney.draw.page import Table
from hockney.pages.format import interval, quantity


def print_fits(fits: Sequence[Fit], *, reasons: bool) -> None:
    """Print why a verdict is poor or a fit refused; with `reasons`, what the other verdicts are based on."""
    print_groups(_table(fits), [_group(fit, reasons) for fit in fits])


def _table(fits: Sequence[Fit]) -> Table:
    rows = tuple(
        (p.name, p.symbol, quantity(p.estimate.value, p.unit), interval(p.estimate, p.unit))
        for fit in fits
        for p in fit.parameters
    )
    return Table("parameters", "", ("parameter", "symbol", "value", "95% interval"), rows, numeric=(2, 3))


def _group(fit: Fit, reasons: bool) -> Group:
    lines = [f"{fit.model}, {fit.line}: {fit.verdict}"]
    if fit.why and fit.verdict in ("poor", "refused"):
        lines.append(fit.why)
    elif reasons and fit.error is not None and fit.worst is not None:
        lines.append(
            f"off by {format_percent(fit.error, 2)} in the median and {format_percent(fit.worst, 2)} at worst"
        )
    if fit.two_modes is not None and fit.verdict != "poor":  # the reasons of which include all caveats
        lines.append(fit.two_modes.text)
    return Group(tuple(lines), len(fit.parameters), fit.verdict)
