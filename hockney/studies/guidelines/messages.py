# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors about guidelines."""

from __future__ import annotations

from pathlib import Path

from hockney.core.errors import Inconclusive, UsageError


def guidelines_need_two_ranks() -> UsageError:
    return UsageError(
        "guidelines need at least 2 ranks",
        "one rank communicates with no other",
        "give --ranks 2 or more",
        code="guidelines-need-two-ranks",
    )


def no_guideline_to_judge() -> Inconclusive:
    return Inconclusive(
        "no guideline can be judged",
        "the run has no collective next to another way to the same result, at matching sizes",
        "'hockney run guidelines' measures them",
        code="no-guideline-to-judge",
    )


def newest_run_with_guidelines(run: str, place: Path, written: str) -> str:
    return f"from {run}, the newest complete run in {place} with guidelines to judge (last written {written})"


def no_run_with_guidelines(place: Path) -> Inconclusive:
    return Inconclusive(
        f"no complete run in {place} can judge a guideline",
        "both sides of one must be measured, at matching sizes",
        "run 'hockney run guidelines' first, or name a run",
        code="no-run-with-guidelines",
    )
