# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Minimum time of a case in one launch: one verified run and one repetition on an idle machine.

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
    """Preset computing time of one run of `case`, on the rank that computes the serial part and an equal
    share of the remaining work. 0 without computation."""
    work = case.number("work") if "work" in case else 0.0
    if "shares" not in case:
        return work
    serial = case.number("serial")
    return work * (serial + (1 - serial) / case.ranks)


def min_case_seconds(case: Case) -> float:
    """Minimum seconds of one launch for `case`."""
    runs = case.number("iterations", 1) + EXTRA_RUNS
    return CASE_S + runs * (computing_s(case) + CALL_S) + PASSES * case.bytes / BYTES_PER_S


def min_launch_seconds(cases: Iterable[Case]) -> float:
    """Minimum seconds of one launch for several cases."""
    return sum(map(min_case_seconds, cases))
