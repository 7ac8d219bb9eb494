# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.pages.format import format_signed
from hockney.suites.bsp.models.costs import ASSUMPTIONS
from hockney.suites.bsp.studies.bsp_kernels.results import MODELS, KernelPoint, KernelResults, median_error

MAX_FAILURES = 3


def headline(run: KernelResults) -> tuple[str, ...]:
    predicted_points = [p for p in run.points if p.repaired_error is not None]
    if not predicted_points:
        return ("No kernel could be predicted: parameters or local rates were not measured.",)
    worst_point = max(predicted_points, key=lambda p: abs(p.repaired_error or 0.0))
    sentences = [
        f"The repaired models predict {plural(len(predicted_points), 'case')} of "
        f"{plural(len(run.kernels), 'kernel')} with a median error of "
        f"{median_error(predicted_points):.1%}, at worst "
        f"{format_signed(worst_point.repaired_error)} ({point_name(worst_point)})."
    ]
    plain_errors = [
        f"{MODELS[base]} {error:.0%}"
        for base in run.bases
        if (error := median_error([p for p in predicted_points if p.base == base], base)) is not None
    ]
    if plain_errors:
        sentences.append(f"Median error without repairs: {', '.join(plain_errors)}.")
    return (*sentences, *_failures(run))


def _failures(run: KernelResults) -> list[str]:
    """Returns sentences on the assumptions that fail most often."""
    sorted_failures = sorted(run.failures.items(), key=lambda item: -len(item[1]))
    return [
        f"{MODELS[base]} fails on {kernel} in {len(points)} of "
        f"{plural(len(run.of_kernel(kernel, base=base)), 'case')}: it assumes that {ASSUMPTIONS[repair]}."
        for (kernel, base, repair), points in sorted_failures[:MAX_FAILURES]
    ]


def point_name(p: KernelPoint) -> str:
    """Returns a name such as "sample sort of 1000, bpram butterfly, 4 ranks"."""
    return f"{p.kernel} of {p.size}, {p.variant}, {plural(p.ranks, 'rank')}"
