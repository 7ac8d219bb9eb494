# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of the models for every case, and where an assumption fails."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.draw.page import Table
from hockney.pages.format import quantity, signed
from hockney.suites.bsp.models.assumptions import ASSUMPTIONS
from hockney.suites.bsp.studies.bsp_kernels.results import KernelPoint, KernelResults, median_error

MODELS = {"bsp": "BSP", "bpram": "BPRAM"}


def errors(run: KernelResults) -> Table:
    """Every case: (T_pred - T_meas) / T_meas of the model of its style, plain and repaired."""
    columns = ("kernel", "style", "size", "ranks", "measured", "plain", "repaired", "what fails")
    caption = (
        "(T_pred - T_meas) / T_meas of the model of each style, plain and with all repairs. What fails: the "
        "repair that corrects most of the plain model's error alone, if there is one."
    )
    rows = tuple(map(_row, run.points))
    return Table("kernel-errors", "Errors of the predictions", columns, rows, (2, 3, 4, 5, 6), caption)


def _row(p: KernelPoint) -> tuple[str, ...]:
    failing = p.diagnosis.failing if p.diagnosis is not None else None
    return (
        p.kernel,
        p.variant,
        str(p.size),
        str(p.ranks),
        quantity(p.seconds, "s"),
        signed(p.plain),
        signed(p.repaired),
        failing or "",
    )


def failures(run: KernelResults) -> Table | None:
    """Each assumption that fails, by kernel and model."""
    rows = []
    for (kernel, base, repair), points in run.failures.items():
        plain = [p.diagnosis.error for p in points if p.diagnosis is not None]
        corrected = [p.diagnosis.corrected for p in points if p.diagnosis is not None]
        every = run.of_kernel(kernel, base=base)
        rows.append(
            (
                kernel,
                MODELS[base],
                ASSUMPTIONS[repair],
                f"{len(points)} of {len(every)}",
                _range(plain),
                _range(c for c in corrected if c is not None),
            )
        )
    columns = ("kernel", "model", "assumption that fails", "cases", "error", "error without it")
    return (
        Table("kernel-failures", "Where assumptions fail", columns, tuple(rows), (3, 4, 5)) if rows else None
    )


def _range(values: Iterable[float]) -> str:
    known = sorted(values)
    low, high = signed(known[0]), signed(known[-1])
    return low if low == high else f"{low} to {high}"


def medians(run: KernelResults) -> Table:
    """The median absolute error of every model, by kernel."""
    names = list(dict.fromkeys(name for p in run.points for name in p.predicted))
    rows = []
    for kernel in run.kernels:
        points = run.of_kernel(kernel)
        cells = [median_error([p for p in points if name in p.predicted], name) for name in names]
        rows.append((kernel, *("" if cell is None else f"{cell:.0%}" for cell in cells)))
    return Table(
        "kernel-models",
        "Median absolute error of each model",
        ("kernel", *names),
        tuple(rows),
        tuple(range(1, len(names) + 1)),
    )
