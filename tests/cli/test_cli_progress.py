# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Progress on stderr: a bar or a spinner on a terminal, an occasional line elsewhere, nothing when quiet."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Sequence

import pytest
from made_up import record
from rich.console import Console

from hockney import measurement
from hockney.cli.output import progress
from hockney.cli.output.progress import ProgressReporter
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.core.record import Failure
from hockney.measurement import (
    CaseBegan,
    CaseEnded,
    Event,
    LaunchBegan,
    LaunchEnded,
    MeasurementsAdded,
    MeasuringBegan,
    Notice,
    Status,
    Waiting,
    Working,
)

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
    made.plan, made.total = MeasuringBegan(10, 10, 2, 60.0), 10
    made.done = done
    assert made._seconds_left(elapsed) == pytest.approx(left)


def progress_of(began: MeasuringBegan, events: Sequence[Event], terminal: bool = False) -> list[str]:
    made, stream = talk(terminal=terminal)
    with made:
        for event in (began, *events, Working("fitting"), Working("")):
            made(event)
    return [line for line in stream.getvalue().splitlines() if "measured" in line]


def ended(count: int, seconds: float = 2.0) -> list[CaseEnded]:
    return [CaseEnded(FAILURE, seconds * (k + 1)) for k in range(count)]


def test_the_last_line_has_the_number_of_all_measurements():
    lines = progress_of(MeasuringBegan(11, 11, 2, 60.0), ended(11))
    assert lines[-1].split()[0] == "11/11" and "left" not in lines[-1]
    assert len(lines) == len(set(lines))


def test_added_sizes_count_from_the_moment_they_are_added():
    lines = progress_of(MeasuringBegan(6, 6, 2, 60.0), [*ended(3), MeasurementsAdded(14), *ended(17)])
    totals = [line.split()[0].partition("/")[2] for line in lines]
    assert totals[0] == "6" and set(totals[1:]) == {"20"} and lines[-1].startswith("20/20")


def test_no_total_is_promised_if_more_launches_follow_while_time_is_left():
    """What is left is time: the number of measurements depends on how precise they are."""
    lines = progress_of(MeasuringBegan(6, 6, 2, 60.0, extend=True), ended(20))
    counts = [line.split()[0] for line in lines]
    assert all(count.isdigit() for count in counts) and counts[-1] == "20"
    left = [float(seconds) for line in lines for seconds in re.findall(r"([\d.]+) s left", line)]
    assert left == [60.0 - 2.0 * int(count) for count in counts[:-1]]


@pytest.mark.parametrize("terminal", [False, True])
def test_a_call_that_moves_nothing_is_not_shown_as_a_result(terminal):
    empty = CaseEnded(record("gather algorithm=mpi buffers=hot bytes=0 ranks=2 root=0", [3e-9]), 1.0)
    made, stream = talk(terminal=terminal)
    with made:
        made(MeasuringBegan(3, 3, 1, 60.0))
        made(empty)
        made(CaseEnded(record("pingpong buffers=hot bytes=0 ranks=2", [104e-9]), 2.0))
        shown = stream.getvalue() if made.progress is None else made.progress.tasks[0].fields["text"]
    assert "gather" not in shown and "104 ns pingpong" in shown


def test_without_time_none_is_promised():
    made, stream = talk(terminal=False)
    with made:
        made(MeasuringBegan(1, 9, 1, 0.0))
    assert re.findall(r"\d+", stream.getvalue()) == ["1", "9", "1"]


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


FOUND = Mpi(
    family="smpi", version="4.1", prefix="/c/simgrid-4.1", mpicxx="/c/x", mpiexec="/c/r", source="cache"
)


@pytest.fixture
def asked(monkeypatch) -> list[bool]:
    """Whether each build was requested to start over."""
    heard: list[bool] = []

    def bring(again, tell, progress):
        heard.append(again)
        tell("fetching")
        progress(3, 3)
        return FOUND

    monkeypatch.setattr(measurement, "provide_simgrid", bring)
    return heard


def test_the_folder_is_data_and_the_rest_talk(hockney, asked):
    done = hockney("build", "--simgrid")
    assert (done.code, done.out, done.err) == (0, "/c/simgrid-4.1\n", "fetching\n")
    quiet = hockney("build", "--simgrid", "--force", "-q", "--json")
    assert json.loads(quiet.out)["simgrid"]["mpiexec"] == "/c/r" and quiet.err == ""
    assert asked == [False, True]


def test_what_cannot_be_is_one_line_and_3(hockney, monkeypatch):
    def bring(*_):
        raise EnvironmentProblem("there is no C compiler here", "why", "install one", code="no-compiler")

    monkeypatch.setattr(measurement, "provide_simgrid", bring)
    done = hockney("build", "--simgrid")
    assert (done.code, done.out, done.error.code) == (3, "", "no-compiler")
    assert done.err.count("\n") == 1
    assert hockney("build", "--force").error.code == "force-without-simgrid"
