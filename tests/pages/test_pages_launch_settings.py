# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section that compares launches with and without a setting."""

from __future__ import annotations

from pathlib import Path

import hockney
from hockney.draw.page import Section

LINE = "pingpong bytes=8,128KiB"


def section_of(path: Path, line: str, settings: dict[str, dict[str, str]]) -> Section | None:
    run = hockney.run(line, machine="fake", seed=1, launches=4, launch_settings=settings, out=path)
    found = [section for section in run.page.sections if section.title == "Launch settings"]
    return found[0] if found else None


def rows(section: Section) -> dict[tuple[str, str], float]:
    """The ratio by size and setting; each is inside its interval."""
    (table,) = section.tables
    found = {}
    for case, setting, _, _, ratio, ends in table.rows:
        low, _, high = str(ends).partition(" to ")
        assert float(low) <= float(ratio) <= float(high)
        found[next(w for w in case.split() if w.startswith("bytes=")), setting] = float(ratio)
    return found


def test_a_setting_is_compared_with_ordinary_launches(tmp_path):
    section = section_of(
        tmp_path / "r", f"{LINE} setting=default,short", {"short": {"FAKE_EAGER_LIMIT": "1024"}}
    )
    assert section is not None and set(rows(section)) == {("bytes=8", "short"), ("bytes=131072", "short")}


def test_a_setting_without_variables_is_the_baseline(tmp_path):
    settings = {"short": {"FAKE_EAGER_LIMIT": "1024"}, "plain": {}}
    section = section_of(tmp_path / "r", f"{LINE} setting=default,plain,short", settings)
    assert section is not None
    assert {setting for _, setting in rows(section)} == {"short", "default"}


def test_without_settings_there_is_nothing_to_compare(tmp_path):
    assert section_of(tmp_path / "r", LINE, {}) is None
    alone = {"short": {"FAKE_EAGER_LIMIT": "1024"}}
    assert section_of(tmp_path / "s", f"{LINE} setting=short", alone) is None
