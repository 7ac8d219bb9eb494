# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A case of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from hockney.core.case import Case
from hockney.models.statistics import PooledCase


@dataclass(frozen=True)
class Pair:
    """A case as A and B measured it, on ranks at this `level`."""

    case: Case
    a: PooledCase
    b: PooledCase
    level: str = ""
