# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""ProgressReporter on stderr: a bar on a terminal, a line now and then elsewhere, nothing when quiet."""

import io

import pytest
from rich.console import Console

from hockney.cli.output.progress import ProgressReporter
from hockney.core.record import Failure
from hockney.lab import CaseBegan, CaseEnded, LaunchBegan, LaunchEnded, MeasuringBegan, Notice, Waiting

FAILURE = Failure(schema=1, launch="0.0", case="barrier ranks=2", reason="died", message="[bold]no\x1b[2J")


def talk(*, terminal: bool, quiet: bool = False) -> tuple[ProgressReporter, io.StringIO]:
    seconds = iter(range(0, 10_000, 4))
    made = ProgressReporter(quiet, clock=lambda: next(seconds))
    stream = io.StringIO()
    made.console = Console(file=stream, quiet=quiet, force_terminal=terminal, width=100, highlight=False)
    return made, stream


def tell_all(made: ProgressReporter) -> None:
    with made:
        made(MeasuringBegan(10, 12, 2, 60.0))
        made(LaunchBegan("0.0", 2, 10, 30.0))
        for k in range(10):
            made(CaseBegan("barrier ranks=2"))
            made(CaseEnded(FAILURE, 2.0 * (k + 1)))
        made(LaunchEnded("0.0", 20.0))
        made(Notice("something [red]odd[/red]"))


def test_plain_lines_where_there_is_no_terminal():
    made, stream = talk(terminal=False)
    tell_all(made)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "measuring: 10 of 12 measurements in 2 launches, at most 1m00s" or "60.0 s" in lines[0]
    progress = [line for line in lines if "/10 measured" in line]
    assert 1 < len(progress) < 6, "one every ten seconds"
    assert "1/10 measured, launch 0.0, 2 ranks, 18 s left" in progress[0]
    assert "note: something [red]odd[/red]" in lines
    assert "\x1b" not in stream.getvalue() and "[bold]no" in stream.getvalue()


def test_a_bar_on_a_terminal_obeys_nothing_from_outside():
    made, stream = talk(terminal=True)
    tell_all(made)
    assert "10/10" in stream.getvalue() and "\x1b[2Jno" not in stream.getvalue()
    assert made.progress is None, "the bar is taken away at the end"


def wait_twice(made: ProgressReporter) -> None:
    """Two waits, each told about every second."""
    with made:
        made(MeasuringBegan(6, 6, 3, 130.0, rounds=3, every_s=60.0))
        for number in (2, 3):
            for second in range(40, 0, -1):
                made(Waiting(second - 0.5, number, 3))


def test_each_wait_for_a_round_is_one_line():
    made, stream = talk(terminal=False)
    wait_twice(made)
    lines = stream.getvalue().splitlines()
    assert lines[0].endswith("in 3 launches, in 3 rounds that begin 60.0 s after one another, at most 2m10s")
    assert lines[1:] == [f"next round in 40 s, round {number} of 3" for number in (2, 3)]


def test_a_wait_is_counted_down_in_the_bar():
    made, stream = talk(terminal=True)
    with made:
        made(MeasuringBegan(6, 6, 3, 130.0, rounds=3, every_s=60.0))
        made(Waiting(12.0, 2, 3))
        assert made.progress.tasks[0].fields["text"] == "next round in 12 s, round 2 of 3"
        made(Waiting(11.0, 2, 3))
        assert made.progress.tasks[0].fields["text"] == "next round in 11 s, round 2 of 3"
    assert stream.getvalue().count("measuring:") == 1


def test_quiet():
    made, stream = talk(terminal=True, quiet=True)
    tell_all(made)
    made.say("hello")
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("done", "elapsed", "left"), [(1, 2.0, 18.0), (5, 10.0, 10.0), (1, 50.0, 10.0), (9, 70.0, 0.0)]
)
def test_time_left_is_by_the_pace_and_within_the_budget(done, elapsed, left):
    made, _ = talk(terminal=False)
    made.plan = MeasuringBegan(10, 10, 2, 60.0)
    made.done = done
    assert made._left(elapsed) == pytest.approx(left)
