# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Notices and progress on stderr: a moving bar on a terminal, occasional plain lines elsewhere."""

from __future__ import annotations

import contextlib
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from hockney import api
from hockney.core.case import ALGORITHM
from hockney.core.errors import one_line, printable
from hockney.core.fit import Cost
from hockney.core.record import Failure, Record
from hockney.core.units import format_seconds
from hockney.core.wording import plural
from hockney.measurement import (
    CaseEnded,
    Event,
    LaunchBegan,
    MeasurementsAdded,
    MeasuringBegan,
    Notice,
    Status,
    StepDone,
    Waiting,
    Working,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, TaskID

    from hockney.api import Run

SECONDS_BETWEEN_LINES = 10.0
BAR_WIDTH = 20
MARGIN = 8
"""Columns for what moves, for gaps, and for the ^C that a terminal echoes behind the bar: with no room left
it would begin a line, and the bar would not be taken away."""
FIRST_STEPS = 5
"""With fewer steps done, the pace does not predict the rest."""


class ProgressReporter:
    """A listener for the events of a measurement. As a context manager, it removes its bar at the end.
    `notices` contains all notices received, printed or not."""

    def __init__(self, quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self.quiet = quiet
        self.stream = sys.stderr
        self.clock = clock
        self.progress: Progress | None = None
        self.task: TaskID
        self.plan = MeasuringBegan(0, 0, 0, 0.0)
        self.done = 0
        self.total = 0
        self.printed = 0
        self.launches = 0
        self.next_line = 0.0
        self.awaited = 0
        self.began: float | None = None
        self.notices: list[Notice] = []
        self.spinner = Spinner(lambda: self.console)

    @cached_property
    def console(self) -> Console:
        from rich.console import Console  # a sixth of a verb's start, and many print nothing here

        return Console(file=self.stream, quiet=self.quiet, highlight=False)

    def __enter__(self) -> ProgressReporter:
        self._spin("preparing")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.spinner.hide()
        self._stop()

    @property
    def on_terminal(self) -> bool:
        """Whether the output is a terminal, determined without loading rich but with the same result."""
        return ("console" in vars(self) and self.console.is_terminal) or self.stream.isatty()

    def say(self, text: str) -> None:
        """Print one line, wrapped between words on a terminal. Markup and control characters have no
        effect."""
        from rich.text import Text

        self.console.print(Text(one_line(text)), soft_wrap=not self.console.is_terminal)

    @contextlib.contextmanager
    def show_step(self, text: str) -> Iterator[None]:
        """Show a moving description of a step that takes more than a moment, if on a terminal."""
        self._spin(text)
        try:
            yield
        finally:
            self.spinner.hide()

    @contextlib.contextmanager
    def make_room(self) -> Iterator[None]:
        """Remove the bar for lines on stdout if both are on one terminal."""
        self.spinner.hide()
        bar = self.progress if sys.stdout.isatty() else None
        if bar is not None:
            bar.stop()
        try:
            yield
        finally:
            if bar is not None:
                bar.start()

    def _spin(self, text: str) -> None:
        self._stop()
        self.spinner.hide()
        if text and not self.quiet and self.on_terminal:
            self.spinner.show(text)

    def __call__(self, event: Event) -> None:
        if isinstance(event, Notice):
            self.notices.append(event)
        if self.quiet:
            return
        if isinstance(event, MeasuringBegan):
            self._on_measuring_began(event)
        elif isinstance(event, MeasurementsAdded):
            self.total += event.measurements
        elif isinstance(event, LaunchBegan):
            self.launches += 1
            if self.progress is not None:
                self.progress.update(
                    self.task, text=f"launch {self.launches}: starting {plural(event.ranks, 'rank')}"
                )
        elif isinstance(event, CaseEnded):
            self._on_case_ended(event)
        elif isinstance(event, Waiting):
            self._on_waiting(event)
        elif isinstance(event, Notice):
            self.say(f"note: {event.text}")
        elif isinstance(event, Status):
            self.say(event.text)
        elif isinstance(event, Working):
            self._report_all()
            self._spin(event.text)
        elif isinstance(event, StepDone):
            self._on_counted(event)

    def _on_measuring_began(self, event: MeasuringBegan) -> None:
        self.spinner.hide()
        self.plan, self.done, self.awaited, self.next_line = event, 0, 0, 0.0
        self.total, self.printed = event.measurements, 0
        if not event.measurements:
            self.say(f"all {event.planned} measurements are already complete")
            return
        total_text = f" of {event.planned}" if event.measurements != event.planned else ""
        self.say(
            f"measuring: {event.measurements}{total_text} "
            f"{'measurement' if event.measurements == 1 and not total_text else 'measurements'} in "
            f"{plural(event.launches, 'launch', 'launches')}, "
            f"{_rounds_text(event)}{_budget_text(event.budget_s)}"
        )
        if self.console.is_terminal:
            self._draw_measured(0.0, "")

    def _on_waiting(self, event: Waiting) -> None:
        """Count down in the bar, or print one line per round without a terminal."""
        text = next_round_text(format_seconds(event.seconds, 2), event.round, event.rounds)
        if self.progress is not None:
            self.progress.update(self.task, text=text)
        elif not self.console.is_terminal and event.round != self.awaited:
            self.say(text)
        self.awaited = event.round

    def _on_case_ended(self, event: CaseEnded) -> None:
        self.done += 1
        if isinstance(event.result, Failure):
            self.say(f"note: {event.result.case} gave no result: {event.result.message}")
        if self.progress is not None:
            self._draw_measured(
                event.elapsed_s, None if _is_empty(event.result) else _result_text(event.result)
            )
        elif not self.console.is_terminal and not _is_empty(event.result) and self.clock() >= self.next_line:
            self.next_line = self.clock() + SECONDS_BETWEEN_LINES
            latest_text = "" if isinstance(event.result, Failure) else f"; {_result_text(event.result)}"
            self.printed = self.done
            self.say(f"{self._count()} measured, {self._eta(event.elapsed_s)} left{latest_text}")

    def _report_all(self) -> None:
        """Print the final number of measurements unless a line already contains it; not on a terminal."""
        if self.done > self.printed and not self.console.is_terminal:
            self.printed = self.done
            self.say(f"{self._count()} measured")

    def _count(self) -> str:
        """Number of measurements so far, with the total if it is certain."""
        return str(self.done) if self.plan.extend else f"{self.done}/{max(self.total, self.done)}"

    def _eta(self, elapsed_s: float) -> str:
        left_s = self._seconds_left(elapsed_s)
        eta = format_seconds(left_s, digits=2) if left_s >= 1 else "under 1 s"
        return f"at most {eta}" if self.plan.extend and left_s >= 1 else eta

    def _draw_measured(self, elapsed_s: float, text: str | None) -> None:
        """Draw the bar. It shows the time if further measurements follow while the budget lasts."""
        left = f"{self._eta(elapsed_s)} left"
        if self.plan.extend:
            self._draw(min(elapsed_s, self.plan.budget_s), self.plan.budget_s, left, text, str(self.done))
        else:
            self._draw(self.done, max(self.total, self.done), left, text)

    def _on_counted(self, event: StepDone) -> None:
        now_s = self.clock()
        if self.began is None:
            self.began, self.next_line = now_s, now_s + SECONDS_BETWEEN_LINES
        left_text = ""
        if event.done >= FIRST_STEPS:
            left_s = (now_s - self.began) / event.done * (event.total - event.done)
            left_text = f"{format_seconds(left_s, digits=2)} left" if left_s >= 1 else "under 1 s left"
        if self.console.is_terminal:
            self._draw(event.done, event.total, left_text, event.what)
        elif now_s >= self.next_line:
            self.next_line = now_s + SECONDS_BETWEEN_LINES
            self.say(f"{event.done}/{event.total} {event.what}" + (f", {left_text}" if left_text else ""))
        if event.done == event.total:
            self._stop()
            self.began = None

    def _draw(
        self, done: float, total: float, left: str, text: str | None = None, count: str | None = None
    ) -> None:
        """Move the bar, which appears with the first call. Without `text`, its text is kept."""
        count = f"{done:.0f}/{total:.0f}" if count is None else count
        if self.progress is None:
            from rich.progress import BarColumn, TextColumn

            self.spinner.hide()
            self.progress = _moving_line(
                self.console,
                BarColumn(bar_width=BAR_WIDTH),
                TextColumn("{task.fields[count]}", markup=False),
                TextColumn("{task.fields[left]}", style="bold", markup=False),
                TextColumn("{task.fields[text]}", markup=False),
            )
            self.task = self.progress.add_task("", total=total, left=left, text=text or "", count=count)
            self.progress.start()
        self.progress.update(self.task, completed=done, total=total, left=left, count=count)
        if text is not None:
            numbers = len(f"{count} {left} ")
            self.progress.update(
                self.task, text=_truncate(text, self.console.width - BAR_WIDTH - numbers - MARGIN)
            )

    def _stop(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _seconds_left(self, elapsed: float) -> float:
        """Estimated remaining seconds at the current pace, at most the rest of the budget. If further
        measurements follow, the whole budget is used."""
        budget_left_s = max(0.0, self.plan.budget_s - elapsed)
        if self.plan.extend or not self.done:
            return budget_left_s
        return min(elapsed / self.done * max(0, self.total - self.done), budget_left_s)


def _truncate(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


def _result_text(result: Record | Failure) -> str:
    """Text of the latest measurement: "451 ns pingpong bytes=8 ranks=2 buffers=hot". The end may be cut off,
    as few cases differ there."""
    workload, *parameters = result.case.split()
    parameters.sort(key=lambda word: not word.partition("=")[2][:1].isdigit())
    case = one_line(" ".join([workload, *parameters]))
    if isinstance(result, Failure) or not result.times_s:
        return case
    return f"{format_seconds(statistics.median(result.times_s))} {case}"


def _is_empty(result: Record | Failure) -> bool:
    """Whether it is a collective without data, from which some MPIs return immediately."""
    words = result.case.split()
    return "bytes=0" in words and any(word.startswith(f"{ALGORITHM}=") for word in words)


def _budget_text(seconds: float) -> str:
    """Text of the budget; "" if the check has used it up, as each case is still measured once."""
    return f"at most {format_seconds(seconds)}" if seconds > 0 else "each as briefly as possible"


def _rounds_text(event: MeasuringBegan) -> str:
    if not event.every_s:
        return ""
    return f"in {event.rounds} rounds that start {format_seconds(event.every_s)} apart, "


def next_round_text(wait: str, number: int, rounds: int) -> str:
    return f"next round in {wait}, round {number} of {rounds}"


SECONDS_TO_SPINNER = 0.5
"""What takes less is not worth importing what shows it; where that was done already, it is shown at once."""
REFRESHES_PER_SECOND = 2
"""Enough to see that something goes on. Drawing takes time from ranks that have no core to spare."""


def _moving_line(console: Console, *columns: ProgressColumn) -> Progress:
    """A line with a spinner and the `columns`, which is removed at the end."""
    from rich.progress import Progress, SpinnerColumn

    return Progress(
        SpinnerColumn("line"),
        *columns,
        console=console,
        transient=True,
        refresh_per_second=REFRESHES_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class Spinner:
    """A spinner. `console` is called when there is something to show."""

    def __init__(self, console: Callable[[], Console]) -> None:
        self.console = console
        self.lock = threading.Lock()
        self.timer: threading.Timer | None = None
        self.shown: Progress | None = None

    def show(self, text: str) -> None:
        self.hide()
        delay = 0.0 if "rich.progress" in sys.modules else SECONDS_TO_SPINNER
        with self.lock:
            self.timer = threading.Timer(delay, self._appear, (text,))
            self.timer.daemon = True
            self.timer.start()

    def hide(self) -> None:
        with self.lock:
            if self.timer is not None:
                self.timer.cancel()
            if self.shown is not None:
                self.shown.stop()
            self.timer = self.shown = None

    def _appear(self, text: str) -> None:
        from rich.progress import TextColumn, TimeElapsedColumn

        with self.lock:
            if threading.current_thread() is not self.timer:
                return
            text_column = TextColumn("{task.description}", markup=False)
            self.shown = _moving_line(self.console(), text_column, TimeElapsedColumn())
            self.shown.add_task(one_line(text), total=None)
            self.shown.start()


def load_and_note(run: Path | Run, cost: Cost = "typical", *, quiet: bool, fits_models: bool = False) -> Run:
    """Load a run from a folder, with its models if needed, and print the notices of reading it unless
    `quiet`."""
    reporter = ProgressReporter(quiet)
    run = api.load(run, cost)
    with reporter.show_step(f"reading {printable(str(run.path))}"):
        notices = run.reading.notices
        if fits_models:
            _ = run.fits
    for notice in notices:
        reporter(notice)
    return run
