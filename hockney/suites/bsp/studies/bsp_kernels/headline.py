# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.pages.format import signed
from hockney.suites.bsp.models.costs import ASSUMPTIONS
from hockney.suites.bsp.studies.bsp_kernels.results import MODELS, KernelPoint, KernelResults, median_error

MAX_FAILURES = 3


def headline(run: KernelResults) -> tuple[str, ...]:
    predicted = [p for p in run.points if p.repaired is not None]
    if not predicted:
        return ("No kernel could be predicted: parameters or local rates were not measured.",)
    worst = max(predicted, key=lambda p: abs(p.repaired or 0.0))
    texts = [
        f"The repaired models predict {plural(len(predicted), 'case')} of "
        f"{plural(len(run.kernels), 'kernel')} with a median error of {median_error(predicted):.1%}, at "
        f"worst {signed(worst.repaired)} ({point_name(worst)})."
    ]
    plain = [
        f"{MODELS[base]} {error:.0%}"
        for base in run.bases
        if (error := median_error([p for p in predicted if p.base == base], base)) is not None
    ]
    if plain:
        texts.append(f"Median error without repairs: {', '.join(plain)}.")
    return (*texts, *_failures(run))


def _failures(run: KernelResults) -> list[str]:
    """The assumptions that fail most often."""
    ranked = sorted(run.failures.items(), key=lambda item: -len(item[1]))
    return [
        f"{MODELS[base]} fails on {kernel} in {len(points)} of "
        f"{plural(len(run.of_kernel(kernel, base=base)), 'case')}: it assumes that {ASSUMPTIONS[repair]}."
        for (kernel, base, repair), points in ranked[:MAX_FAILURES]
    ]


def point_name(p: KernelPoint) -> str:
    """ "sample sort of 1000, bpram butterfly, 4 ranks"."""
    return f"{p.kernel} of {p.size}, {p.variant}, {plural(p.ranks, 'rank')}"
