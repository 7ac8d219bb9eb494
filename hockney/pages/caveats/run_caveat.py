# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""A caveat with the cases that it affects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.draw.page import Caveat


@dataclass(frozen=True)
class RunCaveat:
    """`cases` are the lines it affects; None means all."""

    caveat: Caveat
    cases: frozenset[str] | None = None


def run_caveat(caveat: Caveat, cases: Iterable[str] | None = None) -> RunCaveat:
    return RunCaveat(caveat, None if cases is None else frozenset(cases))
