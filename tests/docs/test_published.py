# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page on published machines describes every column, unit, paper and machine."""

from __future__ import annotations

import re
from pathlib import Path

from hockney import reference
from hockney.reference.papers import COLUMNS, UNITS

PAGE = (Path(__file__).parents[2] / "docs" / "published.md").read_text("utf-8")


def test_every_column_and_unit_is_told():
    told = re.findall(r"^\| `(\w+)` \| ", PAGE.split("## The file of numbers")[1], re.MULTILINE)
    assert tuple(told) == COLUMNS
    units = re.search(r"^\| `unit` \| (.*) \| \|$", PAGE, re.MULTILINE)[1]
    assert set(re.sub(r" \([^)]*\)", "", units).split(", ")) == set(UNITS)
    quantities = re.search(r"^\| `quantity` \| (.*) \| \|$", PAGE, re.MULTILINE)[1].split(", ")
    used = {row.quantity for name in reference.names() for row in reference.published(name).rows}
    assert used == set(quantities)


def test_every_paper_and_machine_is_told():
    for name in reference.names():
        row = re.search(rf"^\| `{name}` \(.*$", PAGE, re.MULTILINE)[0]
        for about in reference.published(name).machines:
            assert f"`{about.name}`" in row
