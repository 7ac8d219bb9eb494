# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs on the fake machine, and what they have measured."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hockney import measurement
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.store import RunFolder


def begin(
    path: Path, lines: Iterable[str], launcher: str | FakeLauncher = "fake", study: str = "cases", **settings
) -> tuple[RunFolder, measurement.Bench]:
    """A run of the cases in `lines` that has not been measured yet, and its bench."""
    bench = measurement.fake_bench(launcher)
    cases = [bench.catalog.case(line) for line in lines]
    return measurement.create_run(path, cases, Settings(study, **{"seed": 1, **settings}), bench), bench


def measured_items(folder: RunFolder) -> list[tuple[int, str]]:
    """Launches by number, with the cases of their records, sorted."""
    run = folder.read().run
    index = {launch.launch: launch.index for launch in run.launches}
    return sorted((index[record.launch], record.case) for record in run.records)
