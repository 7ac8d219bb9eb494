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
    significant digits. With a `scale` of its unit, a column has that one, in which the number has at most
    three decimals."""

    values: tuple[float, ...]
    unit: str
    form: str
    digits: int
    scale: tuple[float, str] | None

    def __new__(
        cls, text: str, values: Sequence[float] = (), unit: str = "", form: str = "{}", digits: int = 3
    ) -> Amount:
        made = super().__new__(cls, text)
        made.values, made.unit, made.form, made.digits = tuple(values), unit, form, digits
        made.scale = None
        return made

    def numbers(self, factor: float) -> str:
        """The text with each number divided by `factor`, without a unit."""
        if self.scale is not None:
            return self.form.format(*(_few_decimals(value / factor, self.digits) for value in self.values))
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


def _few_decimals(value: float, digits: int) -> str:
    if 0 < value < 5e-4:
        return "<0.001"
    text = format_significant(value, digits)
    return text if len(text.partition(".")[2]) <= 3 else f"{value:.3f}"


def in_unit_of_largest(cells: Sequence[str]) -> tuple[str, ...]:
    """The cells, which a column shows in the largest unit that does not exceed its largest value."""
    numbers = [value for cell in cells if isinstance(cell, Amount) for value in cell.values]
    scales = SCALES.get(unit_of(cells), ())
    largest = max(numbers, default=0.0)
    if not scales or not all(map(math.isfinite, numbers)) or largest <= 0:
        return tuple(cells)
    scale = max((each for each in scales if each[0] <= largest), default=scales[0])
    return tuple(_with_scale(cell, scale) if isinstance(cell, Amount) else cell for cell in cells)


def _with_scale(cell: Amount, scale: tuple[float, str]) -> Amount:
    made = Amount(str(cell), cell.values, cell.unit, cell.form, cell.digits)
    made.scale = scale
    return made


def unit_of(cells: Sequence[str]) -> str:
    """The SI unit that all cells with numbers share; "" if there is none, or if a cell is other text."""
    units = {cell.unit for cell in cells if isinstance(cell, Amount) and cell.values}
    others = any(cell for cell in cells if not isinstance(cell, Amount))
    unit = next(iter(units), "")
    return unit if len(units) == 1 and not others and unit in SCALES else ""


def shortest_scale(cells: Sequence[str]) -> tuple[float, str] | None:
    """The scale that makes the longest of the cells' numbers shortest; None if they would be long."""
    amounts = [cell for cell in cells if isinstance(cell, Amount)]
    chosen = {cell.scale for cell in amounts if cell.values and cell.scale is not None}
    if chosen:
        return chosen.pop() if len(chosen) == 1 else None
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
