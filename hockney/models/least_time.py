# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How long a case takes at least in one launch: one verified run and one repetition, on a quiet machine.

A lower bound, not a prediction: it decides whether a budget can be kept at all, before anything is measured.
"""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.case import Case

CASE_S = 3e-3
"""Set-up, synchronisation, warm-up and record of a case whose operation takes no time: what the cases of
surveys took on two virtual cores, with a little load."""
EXTRA_RUNS = 3
"""Runs beyond those of the repetition: one that is verified, and two to warm up."""
CALL_S = 0.1e-6
"""No exchange between two ranks takes less."""
BYTES_PER_S = 10e9
PASSES = 4
"""Times that a message is touched at least: written, sent, compared, sent again."""


def computing_s(case: Case) -> float:
    """The preset computing time of one run of `case`: of the rank that computes the serial part and an equal
    share of the rest. 0 if it computes nothing."""
    work = case.number("work") if "work" in case else 0.0
    if "shares" not in case:
        return work
    serial = case.number("serial")
    return work * (serial + (1 - serial) / case.ranks)


def least_seconds(case: Case) -> float:
    """Seconds that one launch needs for `case` at least."""
    runs = case.number("iterations", 1) + EXTRA_RUNS
    return CASE_S + runs * (computing_s(case) + CALL_S) + PASSES * case.bytes / BYTES_PER_S


def least_of(cases: Iterable[Case]) -> float:
    """The same for several cases of one launch."""
    return sum(map(least_seconds, cases))
