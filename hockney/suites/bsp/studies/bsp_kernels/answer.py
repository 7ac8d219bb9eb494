# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), in sentences, and the tables below these on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney.core.wording import plural
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.suites.bsp.models.assumptions import ASSUMPTIONS
from hockney.suites.bsp.models.costs import Base
from hockney.suites.bsp.studies.bsp_kernels import tables
from hockney.suites.bsp.studies.bsp_kernels.results import KernelPoint, KernelResults, median_error
from hockney.suites.bsp.studies.bsp_kernels.tables import MODELS, signed

MOST_SENTENCES = 3


def headline(run: KernelResults) -> tuple[str, ...]:
    predicted = [p for p in run.points if p.repaired is not None]
    if not predicted:
        return ("No kernel could be predicted: parameters or local rates were not measured.",)
    worst = max(predicted, key=lambda p: abs(p.repaired or 0.0))
    texts = [
        f"The repaired models predict {plural(len(predicted), 'case')} of "
        f"{plural(len(run.kernels), 'kernel')} with a median error of {median_error(predicted):.1%}, at "
        f"worst {signed(worst.repaired)} ({named(worst)})."
    ]
    plain = [
        f"{MODELS[base]} {error:.0%}"
        for base in _bases(run)
        if (error := median_error([p for p in predicted if p.base == base], base)) is not None
    ]
    if plain:
        texts.append(f"Median error without repairs: {', '.join(plain)}.")
    return (*texts, *_failures(run))


def _bases(run: KernelResults) -> tuple[Base, ...]:
    return tuple(dict.fromkeys(p.base for p in run.points))


def _failures(run: KernelResults) -> list[str]:
    """The assumptions that fail most often."""
    ranked = sorted(run.failures.items(), key=lambda item: -len(item[1]))
    return [
        f"{MODELS[base]} fails on {kernel} in {len(points)} of "
        f"{plural(len(run.of_kernel(kernel, base=base)), 'case')}: it assumes that {ASSUMPTIONS[repair]}."
        for (kernel, base, repair), points in ranked[:MOST_SENTENCES]
    ]


def named(p: KernelPoint) -> str:
    """ "sample sort of 1000, bpram butterfly, 4 ranks"."""
    return f"{p.kernel} of {p.size}, {p.variant}, {plural(p.ranks, 'rank')}"


def summary(evidence: Evidence) -> Sequence[Table]:
    run = KernelResults.of(evidence)
    found = tables.failures(run)
    return (tables.errors(run), *([found] if found is not None else []))


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every case with the error of every model of its style, and the assumption that fails. Times in seconds,
    errors relative to the measured time; null if unknown."""
    run = KernelResults.of(evidence)
    return {
        "kernels": [_point(p) for p in run.points],
        "median_error": {
            "repaired": median_error(run.points),
            **{base: median_error([p for p in run.points if p.base == base], base) for base in _bases(run)},
        },
    }


def _point(p: KernelPoint) -> dict[str, Any]:
    found = p.diagnosis
    return {
        "case": p.measured.case.line,
        "kernel": p.kernel,
        "style": p.variant,
        "size": p.size,
        "ranks": p.ranks,
        "measured_s": p.seconds,
        "predicted_s": {name: terms.total for name, terms in p.predicted.items()},
        "error": {name: p.error(name) for name in p.predicted},
        "fails": None if found is None else found.failing,
    }
