# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Table cells with numbers, so that a table can use one unit per column."""

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
MAX_CHARACTERS = 9
"""Maximum characters of a number in a column of one unit; otherwise each cell has a suitable unit."""


class Amount(str):
    """Text of a value ("451 ns") or of an interval ("449 ns to 453 ns"). `values` are its numbers (SI),
    `unit` is one of SCALES, and `form` is the text with {} in place of each number, which has `digits`
    significant digits. A `scale` of the unit is used for the whole column; numbers then have at most three
    decimals."""

    values: tuple[float, ...]
    unit: str
    form: str
    digits: int
    scale: tuple[float, str] | None

    def __new__(
        cls, text: str, values: Sequence[float] = (), unit: str = "", form: str = "{}", digits: int = 3
    ) -> Amount:
        amount = super().__new__(cls, text)
        amount.values, amount.unit, amount.form, amount.digits = tuple(values), unit, form, digits
        amount.scale = None
        return amount

    def numbers(self, factor: float) -> str:
        """Text with each number divided by `factor`, without a unit."""
        if self.scale is not None:
            return self.form.format(
                *(_has_few_decimals(value / factor, self.digits) for value in self.values)
            )
        return self.form.format(*(format_significant(value / factor, self.digits) for value in self.values))

    @property
    def unit_once(self) -> str:
        """Text with the unit once ("449 to 453 ns") if both bounds have the same unit or one is 0. Small
        values are in ps/B instead of ns/B."""
        if self.unit == "s/B" and 0 < max(self.values) < SMALL_PER_BYTE:
            return f"{self.numbers(1e-12)} ps/B"
        low, to, high = self.partition(" to ")
        number, _, unit = low.partition(" ")
        if to and self.values[0] == 0:
            return f"0{to}{high}"
        return f"{number}{to}{high}" if to and unit and high.endswith(f" {unit}") else str(self)


def _has_few_decimals(value: float, digits: int) -> str:
    if 0 < value < 5e-4:
        return "<0.001"
    text = format_significant(value, digits)
    return text if len(text.partition(".")[2]) <= 3 else f"{value:.3f}"


def in_unit_of_largest(cells: Sequence[str]) -> tuple[str, ...]:
    """Convert the cells of a column to the largest unit that does not exceed its largest value."""
    numbers = [value for cell in cells if isinstance(cell, Amount) for value in cell.values]
    scales = SCALES.get(unit_of(cells), ())
    largest = max(numbers, default=0.0)
    if not scales or not all(map(math.isfinite, numbers)) or largest <= 0:
        return tuple(cells)
    scale = max((candidate for candidate in scales if candidate[0] <= largest), default=scales[0])
    return tuple(_with_scale(cell, scale) if isinstance(cell, Amount) else cell for cell in cells)


def _with_scale(cell: Amount, scale: tuple[float, str]) -> Amount:
    amount = Amount(str(cell), cell.values, cell.unit, cell.form, cell.digits)
    amount.scale = scale
    return amount


def unit_of(cells: Sequence[str]) -> str:
    """Common SI unit of all cells with numbers; "" if there is none, or if a cell is other text."""
    units = {cell.unit for cell in cells if isinstance(cell, Amount) and cell.values}
    has_other_text = any(cell for cell in cells if not isinstance(cell, Amount))
    unit = next(iter(units), "")
    return unit if len(units) == 1 and not has_other_text and unit in SCALES else ""


def shortest_scale(cells: Sequence[str]) -> tuple[float, str] | None:
    """Scale that minimizes the length of the longest number; None if it would still be long."""
    amounts = [cell for cell in cells if isinstance(cell, Amount)]
    explicit_scales = {cell.scale for cell in amounts if cell.values and cell.scale is not None}
    if explicit_scales:
        return explicit_scales.pop() if len(explicit_scales) == 1 else None
    numbers = [value for cell in amounts for value in cell.values]
    digits = max((cell.digits for cell in amounts), default=0)
    scales = SCALES.get(unit_of(cells), ())
    if not scales or not all(map(math.isfinite, numbers)):
        return None
    width, factor, name = min(
        (max(len(format_significant(value / factor, digits)) for value in numbers), -factor, name)
        for factor, name in scales
    )
    return (-factor, name) if width <= MAX_CHARACTERS else None


def scaled(cells: Sequence[str], factor: float) -> list[str]:
    """Cells divided by `factor`, without units."""
    return [cell.numbers(factor) if isinstance(cell, Amount) and cell.values else cell for cell in cells]
