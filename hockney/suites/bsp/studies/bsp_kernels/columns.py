# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables, and the answer for programs (`--json`): the models' errors for every case, and where an
assumption fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT_FORMAT,
    SECONDS_FORMAT,
    SIGNED_FORMAT,
    Column,
    Format,
    columns_document,
    columns_table,
)
from hockney.pages.evidence import Evidence
from hockney.pages.format import format_signed
from hockney.suites.bsp.models.costs import ASSUMPTIONS
from hockney.suites.bsp.studies.bsp_kernels.results import MODELS, KernelPoint, KernelResults, median_error

CASE_COLUMNS: tuple[Column[KernelPoint], ...] = (
    Column("", lambda p: p.measurement.case.line, key="case"),
    Column("kernel", lambda p: p.kernel, key="kernel"),
    Column("style", lambda p: p.variant, key="style"),
    Column("size", lambda p: p.size, COUNT_FORMAT, "size"),
    Column("ranks", lambda p: p.ranks, COUNT_FORMAT, "ranks"),
    Column("measured", lambda p: p.seconds, SECONDS_FORMAT, "measured_s"),
    Column("", lambda p: {name: terms.total for name, terms in p.terms_by_model.items()}, key="predicted_s"),
    Column("", lambda p: {name: p.error(name) for name in p.terms_by_model}, key="error"),
    Column("plain", lambda p: p.plain_error, SIGNED_FORMAT),
    Column("repaired", lambda p: p.repaired_error, SIGNED_FORMAT),
    Column("what fails", lambda p: None if p.diagnosis is None else p.diagnosis.repair, key="fails"),
)


def error_table(run: KernelResults) -> Table:
    """Returns a table of every case with (T_pred - T_meas) / T_meas of the model of its style, plain and
    repaired."""
    caption = (
        "(T_pred - T_meas) / T_meas of the model of each style, plain and with all repairs. What fails: the "
        "repair that corrects most of the plain model's error alone, if there is one."
    )
    return columns_table("kernel-errors", "Errors of the predictions", CASE_COLUMNS, run.points, caption)


def failure_table(run: KernelResults) -> Table | None:
    """Returns a table of the assumptions that fail, by kernel and model; None if there are none."""
    rows = []
    for (kernel, base, repair), points in run.failures.items():
        plain_errors = [p.diagnosis.error for p in points if p.diagnosis is not None]
        repaired_errors = [p.diagnosis.repaired_error for p in points if p.diagnosis is not None]
        kernel_points = run.of_kernel(kernel, base=base)
        rows.append(
            (
                kernel,
                MODELS[base],
                ASSUMPTIONS[repair],
                f"{len(points)} of {len(kernel_points)}",
                _range_text(plain_errors),
                _range_text(error for error in repaired_errors if error is not None),
            )
        )
    columns = ("kernel", "model", "assumption that fails", "cases", "error", "error without it")
    return (
        Table("kernel-failures", "Where assumptions fail", columns, tuple(rows), (3, 4, 5)) if rows else None
    )


def _range_text(values: Iterable[float]) -> str:
    sorted_values = sorted(values)
    low, high = format_signed(sorted_values[0]), format_signed(sorted_values[-1])
    return low if low == high else f"{low} to {high}"


def median_table(run: KernelResults) -> Table:
    """Returns a table of the median absolute error of every model, by kernel."""
    names = dict.fromkeys(name for p in run.points for name in p.terms_by_model)
    columns: list[Column[str]] = [Column("kernel", str), *(_median_column(run, name) for name in names)]
    return columns_table("kernel-models", "Median absolute error of each model", columns, run.kernels)


def _median_column(run: KernelResults, model: str) -> Column[str]:
    def median(kernel: str) -> float | None:
        return median_error([p for p in run.of_kernel(kernel) if model in p.terms_by_model], model)

    return Column(model, median, Format(lambda error: f"{error:.0%}"))


def summary(evidence: Evidence) -> Sequence[Table]:
    """Returns the tables below the sentences on a terminal."""
    run = KernelResults.of(evidence)
    table = failure_table(run)
    return (error_table(run), *([table] if table is not None else []))


def answer(evidence: Evidence) -> dict[str, Any]:
    """Returns every case with the error of every model of its style, and the assumption that fails. Times are
    in seconds, errors relative to the measured time; null if unknown."""
    run = KernelResults.of(evidence)
    return {
        "kernels": columns_document(CASE_COLUMNS, run.points),
        "median_error": {
            "repaired": median_error(run.points),
            **{base: median_error([p for p in run.points if p.base == base], base) for base in run.bases},
        },
    }
