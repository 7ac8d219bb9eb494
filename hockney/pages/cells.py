# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the cells of a column show its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hockney.core.fit import Estimate
from hockney.pages.format import interval, percent, quantity, ratio_interval, share_interval, signed


@dataclass(frozen=True)
class Format:
    """The text of a value, which is aligned right if it is `numeric`, and the text of its interval."""

    text: Callable[[Any], str]
    numeric: bool = True
    interval: Callable[[Any], str] = lambda value: ""


def number(value: float | Estimate) -> float:
    return value.value if isinstance(value, Estimate) else value


def in_unit(unit: str) -> Format:
    """Quantities of this unit, which are numbers or estimates."""
    return Format(lambda value: quantity(number(value), unit), interval=lambda value: interval(value, unit))


def _text(value: Any) -> str:
    """An Amount remains one."""
    return value if isinstance(value, str) else str(value)


def words(by_value: Mapping[Any, str]) -> Format:
    return Format(by_value.__getitem__, numeric=False)


TEXT = Format(_text, numeric=False)
COUNT = Format(_text)
SECONDS, SIZE, BANDWIDTH = in_unit("s"), in_unit("B"), in_unit("B/s")
SHARE = Format(lambda value: percent(number(value)), interval=share_interval)
RATIO = Format(lambda value: f"{number(value):.2f}", interval=ratio_interval)
SIGNED = Format(signed)
