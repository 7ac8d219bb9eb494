# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cells that keep the numbers they show, so that a table can use one unit for a whole column."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hockney.core.units import format_significant

SCALES = {
    "s": ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")),
    "s/B": ((1e-12, "ps/B"), (1e-9, "ns/B"), (1e-6, "us/B")),
    "B/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
    "op/s": ((1.0, "op/s"), (1e6, "Mop/s")),
    "1/s": ((1.0, "1/s"), (1e3, "1000/s"), (1e6, "million/s")),
}
SMALL_PER_BYTE = 1e-11
WIDEST = 9
"""Maximum characters of a number in a column of one unit; otherwise each cell has a suitable unit."""


class Amount(str):
    """Text of one value ("451 ns") or of an interval ("449 ns to 453 ns"). `values` are its numbers (SI),
    `unit` is one of SCALES, `form` is the text with {} in place of each number, which has `digits`
    significant digits."""

    values: tuple[float, ...]
    unit: str
    form: str
    digits: int

    def __new__(
        cls, text: str, values: Sequence[float] = (), unit: str = "", form: str = "{}", digits: int = 3
    ) -> Amount:
        made = super().__new__(cls, text)
        made.values, made.unit, made.form, made.digits = tuple(values), unit, form, digits
        return made

    def numbers(self, factor: float) -> str:
        """The text with each number divided by `factor`, without a unit."""
        return self.form.format(*(format_significant(value / factor, self.digits) for value in self.values))

    @property
    def unit_once(self) -> str:
        """ "449 to 453 ns", where both ends of an interval are shown in one unit, or one is 0; in ps/B what
        would have many zeros in ns/B."""
        if self.unit == "s/B" and 0 < max(self.values) < SMALL_PER_BYTE:
            return f"{self.numbers(1e-12)} ps/B"
        low, to, high = self.partition(" to ")
        number, _, unit = low.partition(" ")
        if to and self.values[0] == 0:
            return f"0{to}{high}"
        return f"{number}{to}{high}" if to and unit and high.endswith(f" {unit}") else str(self)


def unit_of(cells: Sequence[str]) -> str:
    """The SI unit that all cells with numbers share; "" if there is none, or if a cell is other text."""
    units = {cell.unit for cell in cells if isinstance(cell, Amount) and cell.values}
    others = any(cell for cell in cells if not isinstance(cell, Amount))
    unit = next(iter(units), "")
    return unit if len(units) == 1 and not others and unit in SCALES else ""


def shortest_scale(cells: Sequence[str]) -> tuple[float, str] | None:
    """The scale that makes the longest of the cells' numbers shortest; None if they would be long."""
    amounts = [cell for cell in cells if isinstance(cell, Amount)]
    numbers = [value for cell in amounts for value in cell.values]
    digits = max((cell.digits for cell in amounts), default=0)
    scales = SCALES.get(unit_of(cells), ())
    if not scales or not all(map(math.isfinite, numbers)):
        return None
    width, factor, name = min(
        (max(len(format_significant(value / factor, digits)) for value in numbers), -factor, name)
        for factor, name in scales
    )
    return (-factor, name) if width <= WIDEST else None


def scaled(cells: Sequence[str], factor: float) -> list[str]:
    """The cells without units."""
    return [cell.numbers(factor) if isinstance(cell, Amount) and cell.values else cell for cell in cells]
