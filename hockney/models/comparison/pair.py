# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.core.case import Case
from hockney.models.statistics import PooledCase

Operation = tuple[str, str]
"""A workload, and the level of its ranks."""


@dataclass(frozen=True)
class Pair:
    """A case as A and B measured it, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""

    @property
    def operation(self) -> Operation:
        return self.case.workload, self.level
