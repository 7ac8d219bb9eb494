# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures: as data (`Figure` of `Series`, `Plane` of `Sheet`s, `Axis`), interactive, as files."""

from hockney.draw.figure import Axis, Figure, Plane, Series, Sheet
from hockney.draw.files import save
from hockney.draw.interactive import interactive

__all__ = ["Axis", "Figure", "Plane", "Series", "Sheet", "interactive", "save"]
