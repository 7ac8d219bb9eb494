# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Colours, symbols and dashes, the same in the interactive figure, in its file and on the page.

The series colours start from Okabe and Ito's palette (Color Universal Design, 2008), adjusted for paper and
for a dark screen until each has a contrast of 3 with its background (WCAG 2.2, 1.4.11) and no two look alike
to colour-blind readers (tests/draw/test_palette.py). Series also differ by symbol and dash, for readers who
see no colour, and for print.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hockney.draw.figure import Figure, Series, Tone


@dataclass(frozen=True)
class Theme:
    """Colours as #rrggbb. `series` has the same length in every theme: slot k is one series' colour."""

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
        """Names of the page's style variables, as in var(--ink)."""
        named = {
            n: getattr(self, n) for n in ("paper", "card", "ink", "muted", "grid", "line", "accent", "caveat")
        }
        return named | {f"c{k + 1}": colour for k, colour in enumerate(self.series)}


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
    """`slot` counts colours from 0; `symbol` and `dash` index SYMBOLS and DASHES; `hollow` is an outline."""

    slot: int
    symbol: int
    dash: int
    hollow: bool


def looks(figure: Figure) -> tuple[Look, ...]:
    """One look per series: a colour for each tone or slot, or for each group (or name, if there is no group),
    in order.

    Bars are filled squares. Within a group, the second cloud of points is hollow and the second line dashed;
    no two clouds of points have the same symbol if one of them is hollow by itself.
    """
    groups: dict[str, int] = {}
    used: dict[tuple[int, str], set[int]] = {}
    result = []
    for series in figure.series:
        number = groups.setdefault(_group(series), len(groups))
        taken = used.setdefault((number, series.kind), set())
        turn = next(k for k in itertools.count() if k not in taken and (k % 2 or not series.hollow))
        taken.add(turn)
        rounds = number // len(LIGHT.series)
        result.append(
            Look(
                slot=TONES.get(series.tone, number if series.slot is None else series.slot)
                % len(LIGHT.series),
                symbol=SQUARE if series.kind == "bars" else (number + rounds + turn // 2) % len(SYMBOLS),
                dash=(rounds + turn) % len(DASHES),
                hollow=series.kind != "bars" and (series.hollow or bool(turn % 2)),
            )
        )
    return tuple(result)


def _group(series: Series) -> str:
    return f"group {series.group}" if series.group else f"name {series.name}"
