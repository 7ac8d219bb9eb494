# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as data (`Figure`, `Series`, `Axis`), as interactive figures, and as files."""

from typing import TYPE_CHECKING

from hockney.core import lazy

if TYPE_CHECKING:
    from hockney.draw.figure import Axis, Figure, Series
    from hockney.draw.figure_interactive import make_interactive
    from hockney.draw.files import save
else:
    __getattr__ = lazy.attribute_getter(__name__)
