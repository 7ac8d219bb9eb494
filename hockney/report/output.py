# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A page on disk: the report, and its figures for papers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path

from hockney.draw.files import file_name, save
from hockney.draw.page import Page
from hockney.report.render import render
from hockney.system.files import replace


def write(page: Page, path: Path) -> Path:
    """Write the report to `path`, whole or not at all, and return it."""
    replace(Path(path), render(page).encode("utf-8"))
    return Path(path)


def figures(page: Page, folder: Path, formats: Iterable[str] = ("svg", "png")) -> list[Path]:
    """Write every figure into `folder` (made when missing), each under a name of its own."""
    formats, taken, paths = tuple(formats), set(), []
    for figure in (f for section in page.sections for f in section.figures):
        stem = name = file_name(figure.name)
        k = 1
        while name.lower() in taken:
            k += 1
            name = f"{stem}-{k}"
        taken.add(name.lower())
        paths += save(changed(figure, name=name), Path(folder), formats)
    return paths
