# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The order in which cases are shown."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog


def in_blocks(cases: Sequence[Case], catalog: Catalog) -> list[Case]:
    """The cases in their order, but together those that differ in their size only."""
    blocks: dict[tuple[object, ...], list[Case]] = {}
    for case in cases:
        size = catalog.entry(case.workload).size
        rest = tuple((k, v) for k, v in case.parameters if k != size)
        blocks.setdefault((case.workload, case.ranks, rest), []).append(case)
    return [case for block in blocks.values() for case in block]
