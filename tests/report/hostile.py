# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page in which every text is hostile: markup, scripts, JSON or terminal sequences must stay text."""

from __future__ import annotations

from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Caveat, Page, Section, Table
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.studies.granularity.figures import EfficiencyExplorer

ATTACKS = (
    "</script><script>window.stolen=1</script>",
    "<img src=x onerror=window.stolen=1>",
    "'\"><svg onload=window.stolen=1>",
    "</style></title></textarea><iframe src=//example.org></iframe>",
    "javascript:window.stolen=1",
    "<!--<script>",
    "]]></text><script>window.stolen=1</script>",
    "{{ 7*7 }}{% raw %}${7*7}%{x}",
    "\u2028\u2029window.stolen=1//",
    "\x00\x07\x1b[2J\x7f\u202e\ud800",
    "<a href='javascript:window.stolen=1'>x</a> &lt;b&gt; &amp;",
    "__proto__",
)
ALL = " ".join(ATTACKS)
LONG = "A" * 700


def series(kind: str) -> tuple[Series, ...]:
    return tuple(
        Series(
            text,
            (1.0, 2.0),
            (1e-6, 2e-6),
            (0.9e-6, 1.9e-6),
            (1.1e-6, 2.1e-6),
            kind,
            text,
            (text, ALL) if kind == "points" else (),
        )
        for text in ATTACKS[:6]
    )


def hostile() -> Page:
    caveat = Caveat(ALL, ALL, ALL, ALL)
    figures = tuple(
        Figure(
            name,
            ALL,
            Axis(ALL, unit),
            Axis(ALL, unit),
            (*series("points"), *series("line")),
            ALL,
            (ALL, LONG),
            ((1.5, ALL),),
        )
        for name, unit in (("../../" + ALL, "B"), ("x", ALL), ("x", "s"))
    )
    table = Table(ALL, ALL, (ALL, LONG, "c"), ((ALL, LONG, "1"), (*ATTACKS[:2], LONG)), (2,), ALL)
    machine = PointToPointCosts(
        ALL, ALL, (CostPiece(0, 1e-6, 1e-9),), False, LONG + ALL, max_size=1 << 20, max_ranks=4
    )
    explorer = EfficiencyExplorer((machine,) * 2, (1e-6, 1.0, 0.1), (0, 64, 8), (0, 1, 0), (1, 4, 2))
    widget = explorer.widget(ALL, ALL, ALL)
    return Page(
        title=ALL,
        subtitle=ALL,
        headline=(ALL, LONG, *ATTACKS),
        warnings=(caveat,) * 6,
        sections=(
            Section(ALL, (ALL, LONG), figures, (table, table), (caveat,), widget),
            Section(ALL),
            Section("content"),
            Section("漢字"),
        ),
        environment=tuple((text, text) for text in (*ATTACKS, LONG)),
        method=(ALL, LONG),
    )
