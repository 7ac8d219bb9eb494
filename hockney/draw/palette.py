# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Colours, symbols and dashes of interactive figures, figure files and pages.

The series colours are based on Okabe and Ito's palette (Color Universal Design, 2008), adjusted for paper and
dark screens so that each has a contrast of 3 with its background (WCAG 2.2, 1.4.11) and colour-blind readers
can distinguish all pairs (tests/draw/test_palette.py). Series also differ by symbol and dash, for print and
for readers who cannot see colours.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hockney.draw.figure import Figure, Series, Tone


@dataclass(frozen=True)
class Theme:
    """Colours as #rrggbb. `series` has the same length in every theme, and slot k belongs to the same
    series."""

    paper: str
    card: str
    ink: str
    muted: str
    grid: str
    line: str
    accent: str
    caveat: str
    series: tuple[str, ...]

    @property
    def variables(self) -> dict[str, str]:
        """Colours by name of the page's style variables, as in var(--ink)."""
        colours = {
            n: getattr(self, n) for n in ("paper", "card", "ink", "muted", "grid", "line", "accent", "caveat")
        }
        return colours | {f"c{k + 1}": colour for k, colour in enumerate(self.series)}


LIGHT = Theme(
    paper="#fcfcfb", card="#fffffe", ink="#1c2128", muted="#59626e", grid="#e7e9ec", line="#c9ced5",
    accent="#0a5ea8", caveat="#9a5b00",
    series=("#0868b4", "#bf3c00", "#0b8a69", "#b5539a", "#b58508", "#3f97cc", "#4f5969", "#791949"),
)  # fmt: skip
DARK = Theme(
    paper="#14171b", card="#1a1e23", ink="#e7eaee", muted="#9fa9b5", grid="#2a3038", line="#434c57",
    accent="#6db3f8", caveat="#e9b452",
    series=("#59a9f4", "#f7874b", "#2fc79d", "#d688c8", "#e2b93b", "#a3d9fa", "#b1bcc6", "#c5678e"),
)  # fmt: skip

# Plotly's and matplotlib's names of one symbol and of one dash.
SYMBOLS = (("circle", "o"), ("square", "s"), ("diamond", "D"), ("triangle-up", "^"), ("triangle-down", "v"),
           ("cross", "P"), ("x", "X"), ("star", "*"))  # fmt: skip
SQUARE = 1
DASHES: tuple[tuple[str, Any], ...] = (
    ("solid", "-"),
    ("dash", (0, (5, 2))),
    ("dot", (0, (1.2, 1.8))),
    ("dashdot", (0, (5, 2, 1.2, 2))),
)


TONES: Mapping[Tone, int] = {"warning": 1, "neutral": 6}
"""Red and grey."""


@dataclass(frozen=True)
class Look:
    """Style of a series. `slot` is the index of its colour, `symbol` and `dash` are indices in SYMBOLS and
    DASHES, and `hollow` symbols are outlines."""

    slot: int
    symbol: int
    dash: int
    hollow: bool


def looks(figure: Figure) -> tuple[Look, ...]:
    """One look per series in order, with a colour for each tone, slot or group (or name without a group).

    Bars are filled squares. Within a group, the second cloud of points is hollow and the second line is
    dashed. Clouds of points that are hollow for another reason have unique symbols.
    """
    groups: dict[str, int] = {}
    used_symbols: dict[tuple[int, str], set[int]] = {}
    looks_of_series = []
    for series in figure.series:
        number = groups.setdefault(_group(series), len(groups))
        taken_symbols = used_symbols.setdefault((number, series.kind), set())
        symbol_number = next(
            k for k in itertools.count() if k not in taken_symbols and (k % 2 or not series.hollow)
        )
        taken_symbols.add(symbol_number)
        rounds = number // len(LIGHT.series)
        looks_of_series.append(
            Look(
                slot=TONES.get(series.tone, number if series.slot is None else series.slot)
                % len(LIGHT.series),
                symbol=SQUARE
                if series.kind == "bars"
                else (number + rounds + symbol_number // 2) % len(SYMBOLS),
                dash=(rounds + symbol_number) % len(DASHES),
                hollow=series.kind != "bars" and (series.hollow or bool(symbol_number % 2)),
            )
        )
    return tuple(looks_of_series)


def _group(series: Series) -> str:
    return f"group {series.group}" if series.group else f"name {series.name}"
