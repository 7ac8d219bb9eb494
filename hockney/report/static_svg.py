# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure's still picture inside the page: seen first, without JavaScript, and in print."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from markupsafe import Markup

from hockney.draw.figure import Figure, Plane
from hockney.draw.files import rendered
from hockney.draw.palette import LIGHT

HALVES: tuple[Literal["surface", "contours"], ...] = ("surface", "contours")
# A surface has hundreds of cells: what they have in common is said once, in the page's style.
CELL = re.compile(
    r'<path d="([^"]*)" clip-path="[^"]*" style="fill: var\(--c(\d)\); stroke: var\(--card\)[^"]*"/>\n? *'
)


def still(figure: Figure | Plane, identity: str) -> Markup:
    """SVG for a place inside HTML: colours by the page's variables, no ids but those it needs. Of a plane
    two pictures, surfaces and contour lines, since a phone has no room for both side by side.

    matplotlib escapes all text in it, so that this is safe markup whatever the figure says; `identity`
    is unique on the page and keeps its clip paths apart from those of other figures.
    """
    if isinstance(figure, Plane):
        halves = (rendered(replace(figure, name=f"{identity}-{half}"), "svg", half) for half in HALVES)
        return Markup("").join(_inside(svg.decode()) for svg in halves)
    return _inside(rendered(replace(figure, name=identity), "svg").decode())


def _inside(svg: str) -> Markup:
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    # The size is the page's business.
    svg = re.sub(
        r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r'\1 aria-hidden="true" focusable="false"', svg, count=1
    )
    needed = set(re.findall(r"(?:#|url\(#)([\w.-]+)", svg))
    svg = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in needed else "", svg)
    svg = re.sub(r' d="([^"]*)"', lambda m: f' d="{_shortened(m[1])}"', svg)
    svg = re.sub(r' style="([^"]*)"', lambda m: f' style="{_with_variables(m[1])}"', svg)
    return Markup(CELL.sub(r'<path d="\1" class="m\2"/>', svg))


def _shortened(path: str) -> str:
    """Tenths of a point are enough on a screen."""
    return re.sub(r"\s*([A-Za-z])\s*|\s+", lambda m: m[1] or " ", re.sub(r"(\.\d)\d+", r"\1", path)).strip()


def _with_variables(style: str) -> str:
    names = {colour: f"var(--{name})" for name, colour in LIGHT.variables.items()} | {
        "#ffffff": "var(--card)"
    }
    return re.sub(r"#[0-9a-f]{6}\b", lambda m: names.get(m[0], m[0]), style)
