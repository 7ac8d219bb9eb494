# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The spinner on a terminal while there is no progress to count: it appears, is sanitised and is removed."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from hockney.cli.output import progress
from hockney.cli.output.progress import ProgressReporter
from hockney.measurement import MeasuringBegan, Status, Working

GUARD_S = 60.0


@pytest.fixture
def reporter(monkeypatch):
    """On a terminal, whose text is in `reporter.stream`; spinners appear at once."""
    monkeypatch.setattr(progress, "SECONDS_TO_SPINNER", 0.0)
    made = ProgressReporter(False)
    made.stream = io.StringIO()
    made.console = Console(file=made.stream, force_terminal=True, width=100)
    return made


def appears(made: ProgressReporter) -> str:
    end = time.monotonic() + GUARD_S
    while made.spinner.shown is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    with made.spinner.lock:  # it has been drawn
        return made.stream.getvalue()


def test_what_is_done_is_shown_and_taken_away(reporter):
    with reporter.show_step("reading [bold]x[/bold]\x1b[2J"):
        text = appears(reporter)
    assert "reading [bold]x[/bold]\\x1b[2J" in text
    assert reporter.spinner.shown is None and reporter.spinner.timer is None


def test_the_last_seconds_are_shown(reporter):
    """The bar is removed for the output that follows measuring."""
    with reporter:
        reporter(MeasuringBegan(4, 4, 2, 60.0))
        assert reporter.progress is not None and reporter.spinner.shown is None
        reporter(Working("fitting"))
        assert reporter.progress is None and "fitting" in appears(reporter)
        reporter(Working(""))
        assert reporter.spinner.shown is None


def test_preparing_moves_until_measuring_begins(reporter):
    with reporter:
        appears(reporter)
        reporter(Status("compiling"))
        assert reporter.spinner.shown is not None
        reporter(MeasuringBegan(4, 4, 2, 60.0))
        assert reporter.spinner.shown is None


def test_an_error_takes_it_away(reporter):
    with pytest.raises(KeyboardInterrupt), reporter.show_step("x"):
        appears(reporter)
        raise KeyboardInterrupt
    assert reporter.spinner.shown is None


@pytest.mark.parametrize("quiet", [False, True])
def test_pipes_and_the_quiet_get_none(quiet):
    made = ProgressReporter(quiet)
    made.stream = io.StringIO()
    with made, made.show_step("reading"):
        assert made.spinner.timer is None
    assert made.stream.getvalue() == ""
