# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""`--durations-table` (make durations) writes the time of the tests, by folder and by kind, into
docs/testing.md.

Wall time and processor time of each test with its fixtures. Processes that a test started count when they
have ended and were waited for.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "testing.md"
BEGIN, END = "<!-- durations -->", "<!-- end of durations -->"
KINDS = {
    "browser": "browser",
    "simgrid": "simulation",
    "mpi": "real ranks",
    "compiler": "compiling",
    "hockney": "command line in this process",
}
"""By the first of these that is a marker or a fixture of the test; all others are unit tests."""
LONGEST = 12
"""Tests that are listed."""


@dataclass
class Times:
    tests: int = 0
    wall_s: float = 0.0
    processor_s: float = 0.0

    def add(self, wall_s: float, processor_s: float) -> None:
        self.tests += 1
        self.wall_s += wall_s
        self.processor_s += processor_s


def processor_s() -> float:
    """Of this process and its children so far."""
    return sum(os.times()[:4])


def kind_of(item: pytest.Item) -> str:
    names = {mark.name for mark in item.iter_markers()} | set(getattr(item, "fixturenames", ()))
    return next((kind for name, kind in KINDS.items() if name in names), "unit")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[began] = time.monotonic(), processor_s()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    if call.when == "teardown":
        wall, processor = item.stash[began]
        took = (kind_of(item), time.monotonic() - wall, processor_s() - processor)
        item.user_properties.append(("took", took))
    return (yield)


began = pytest.StashKey[tuple[float, float]]()


@dataclass
class Table:
    """Collects the reports of all tests."""

    by_folder: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))
    by_kind: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))
    by_test: dict[str, Times] = field(default_factory=lambda: defaultdict(Times))
    began: tuple[float, float] = field(default_factory=lambda: (time.monotonic(), processor_s()))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        file, _, test = report.nodeid.partition("::")
        folder = "/".join(file.split("/")[:2])
        for name, value in report.user_properties:
            if name == "took":
                kind, *took = value
                for times in (
                    self.by_folder[folder],
                    self.by_kind[kind],
                    self.by_test[f"{file}::{test.partition('[')[0].partition('@')[0]}"],
                ):
                    times.add(*took)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{self.text()}{END}{after}", "utf-8")

    def text(self) -> str:
        wall_s = time.monotonic() - self.began[0]
        total = Times(sum(t.tests for t in self.by_kind.values()))
        for times in self.by_kind.values():
            total.wall_s += times.wall_s
            total.processor_s += times.processor_s
        head = (
            f"{total.tests} tests in {wall_s:.0f} s on {os.cpu_count()} cores; "
            f"processor time: {total.processor_s:.0f} s in tests.\n"
        )
        longest = sorted(self.by_test.items(), key=lambda item: -item[1].processor_s)[:LONGEST]
        tables = (("kind", self.by_kind), ("folder", self.by_folder), ("test", dict(longest)))
        return head + "".join(f"\n{rows(title, times)}" for title, times in tables)


def rows(title: str, times: dict[str, Times]) -> str:
    lines = [f"| {title} | number | wall time (s) | processor time (s) |", "|---|---:|---:|---:|"]
    ordered = sorted(times.items(), key=lambda item: -item[1].processor_s)
    lines += [f"| {name} | {t.tests} | {t.wall_s:.1f} | {t.processor_s:.1f} |" for name, t in ordered]
    return "\n".join(lines) + "\n"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--durations-table", action="store_true", help=f"write the tests' times into {PAGE.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--durations-table") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Table(), "durations-table")
