# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures: as data (`Figure`, `Series`, `Axis`), as an interactive picture, as files."""

from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.files import save
from hockney.draw.interactive import interactive

__all__ = ["Axis", "Figure", "Series", "interactive", "save"]
