# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Edited run folders: inconsistencies are reported by every way to read a run."""

from __future__ import annotations

from pathlib import Path

import pytest
from measured_runs import begin

from hockney import api, measurement
from hockney.core.errors import EnvironmentProblem
from hockney.store import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made, bench = begin(tmp_path / "r", [f"pingpong bytes={size}" for size in (0, 8, 64)], launches=3)
    measurement.measure(made, bench, lambda event: None)
    return made


def edit(path: Path, change) -> None:
    lines = path.read_text().splitlines(keepends=True)
    change(lines)
    path.write_text("".join(lines))


def at(lines: list[str], kind: str) -> int:
    return next(k for k, line in enumerate(lines) if line.startswith(f'{{"kind":"{kind}"'))


EDITS = {
    "a record twice": ("records", "record-repeated", lambda x: x.insert(4, x[at(x, "record")])),
    "five times": ("records", "record-repeated", lambda x: x.extend(4 * [x[at(x, "record")]])),
    "a launch removed": ("records", "record-without-launch", lambda x: x.pop(at(x, "launch"))),
    "another case": (
        "records",
        "record-not-planned",
        lambda x: x.__setitem__(at(x, "record"), x[at(x, "record")].replace("bytes=", "bytes=3")),
    ),
    "a shorter plan": ("plan", "plan-of-other-length", lambda x: x.pop()),
    "an empty plan": ("plan", "plan-without-settings", lambda x: x.clear()),
    "a plan without cases": ("plan", "plan-of-other-length", lambda x: x.__delitem__(slice(-9, None))),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_run_is_not_believed(folder, name):
    file, code, change = EDITS[name]
    path = folder.plan_path if file == "plan" else folder.records_path
    edit(path, change)
    reads = (
        lambda: api.load(folder.path).summaries,
        lambda: api.load(folder.path).fits,
        lambda: api.load(folder.path).evidence,
        lambda: api.resume(folder.path, replacements=api.Replacements(machine="fake")),
    )
    for read in reads:
        with pytest.raises(EnvironmentProblem) as caught:
            read()
        assert caught.value.code == code and str(path) == caught.value.fields["path"]
        if file == "records":
            assert caught.value.fields["line"] >= 1
