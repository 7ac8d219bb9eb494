# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in sentences."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.pages.format import format_signed_tenths, quantity, with_interval
from hockney.studies.program.results import ProgramPoint, ProgramResults


def headline(results: ProgramResults) -> tuple[str, ...]:
    if not results.points:
        return ("Nothing was measured.",)
    platform = results.evidence.machine.platform
    has_detours = platform is not None and bool(platform.detours)
    return tuple(_program_sentence(point, results.method, has_detours) for point in results.headline_points)


def _program_sentence(point: ProgramPoint, method: str, has_detours: bool) -> str:
    subject = f"{point.name} on {plural(point.ranks, 'rank')}"
    measured = f"{subject}: {with_interval(point.time, 's')} an iteration {method}"
    if point.predicted_s is None:
        return f"{measured}; no prediction, because the costs of messages are unknown."
    error = "" if point.error is None else f" ({format_signed_tenths(point.error)})"
    bound = "" if point.predicted is None or point.predicted.contention else "at least "
    text = f"{measured}, {bound}{quantity(point.predicted_s, 's')} predicted{error}"
    if point.disagreement is None or point.predicted is None:
        return f"{text}."
    links = "" if point.predicted.contention else ", where the prediction only bounds the use of shared links"
    if has_detours and (point.error or 0.0) < 0:
        waiting = (
            ", in which ranks wait for others that are in one"
            if point.disagreement == "communication"
            else ""
        )
        return f"{text}; the prediction omits detours, which lengthen {point.disagreement}{waiting}{links}."
    return f"{text}; the difference is in {point.disagreement}{links}."
