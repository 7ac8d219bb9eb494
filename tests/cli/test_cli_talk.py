# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""ProgressReporter on stderr: a bar on a terminal, an occasional line elsewhere, nothing when quiet."""

import io
import re

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
        made(Notice("something [red]odd[/red]", "odd"))


def test_plain_lines_where_there_is_no_terminal(golden):
    made, stream = talk(terminal=False)
    tell_all(made)
    lines = stream.getvalue().splitlines()
    golden("progress_lines.txt", stream.getvalue())
    progress = [line for line in lines if "/10 measured" in line]
    assert 1 < len(progress) < 6, "one every ten seconds"
    assert "\x1b" not in stream.getvalue() and "[bold]no" in stream.getvalue()


def test_a_bar_on_a_terminal_obeys_nothing_from_outside():
    made, stream = talk(terminal=True)
    tell_all(made)
    assert "10/10" in stream.getvalue() and "\x1b[2Jno" not in stream.getvalue()
    assert made.progress is None, "the bar is taken away at the end"


def wait_twice(made: ProgressReporter) -> None:
    """Two waits, each reported about every second."""
    with made:
        made(MeasuringBegan(6, 6, 3, 130.0, rounds=3, every_s=60.0))
        for number in (2, 3):
            for second in range(40, 0, -1):
                made(Waiting(second - 0.5, number, 3))


def test_each_wait_for_a_round_is_one_line(golden):
    made, stream = talk(terminal=False)
    wait_twice(made)
    golden("rounds_waited_for.txt", stream.getvalue())


def test_a_wait_is_counted_down_in_the_bar():
    made, stream = talk(terminal=True)
    with made:
        made(MeasuringBegan(6, 6, 3, 130.0, rounds=3, every_s=60.0))
        made(Waiting(12.0, 2, 3))
        assert re.findall(r"\d+", made.progress.tasks[0].fields["text"]) == ["12", "2", "3"]
        made(Waiting(11.0, 2, 3))
        assert re.findall(r"\d+", made.progress.tasks[0].fields["text"]) == ["11", "2", "3"]
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
