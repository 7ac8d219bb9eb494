# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The figure on the first screen, next to the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.draw.figure import Figure
from hockney.draw.page import Section


def first_figure(sections: Sequence[Section]) -> tuple[Figure | None, tuple[Section, ...]]:
    """The first figure of the first section, and the sections without it; None if that section has none, or
    several that belong together."""
    if not sections or not sections[0].figures or sections[0].multiples:
        return None, tuple(sections)
    first, *rest = sections
    figure, *others = first.figures
    return figure, (replace(first, figures=tuple(others)), *rest)
