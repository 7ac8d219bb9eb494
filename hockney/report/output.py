# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page on disk: the report, and its figures for papers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path

from hockney.draw.names import named
from hockney.draw.page import Page
from hockney.report.render import render
from hockney.system.files import keep, replace


def write(page: Page, path: Path, *, own: bool = False) -> Path:
    """Write the report to `path`, completely or not at all, and return it. `own`: it belongs to a run folder
    and is not the user's choice."""
    (keep if own else replace)(Path(path), render(page).encode("utf-8"))
    return Path(path)


def figures(page: Page, folder: Path, formats: Iterable[str] = ("svg", "png")) -> list[Path]:
    """Write every figure into `folder` (created if missing), each under a different name."""
    from hockney.draw.files import save

    formats, paths = tuple(formats), []
    for name, figure in named(page.figures).items():
        paths += save(changed(figure, name=name), Path(folder), formats)
    return paths
