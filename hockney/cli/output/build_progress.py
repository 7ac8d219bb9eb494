# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How many of how many steps are done, on stderr: a bar on a terminal, plain lines now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from hockney.cli.output.progress import SECONDS_BETWEEN_LINES, Talk
from hockney.core.units import format_seconds

FIRST_STEPS = 5
"""With fewer done, the pace says little of the rest."""


class Counting:
    """Use as a context manager; call it with how many are done, and of how many."""

    def __init__(self, talk: Talk, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.talk = talk
        self.what = what
        self.clock = clock
        self.began: float | None = None
        self.next_line = 0.0
        self.progress: Progress | None = None
        self.task = TaskID(0)

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def __call__(self, done: int, total: int) -> None:
        if self.talk.quiet:
            return
        now = self.clock()
        if self.began is None:
            self.began, self.next_line = now, now + SECONDS_BETWEEN_LINES
        left = ""
        if done >= FIRST_STEPS:
            seconds = (now - self.began) / done * (total - done)
            left = f"{format_seconds(seconds, digits=2)} left" if seconds >= 1 else "under 1 s left"
        if self.talk.console.is_terminal:
            self._draw(done, total, left)
        elif now >= self.next_line:
            self.next_line = now + SECONDS_BETWEEN_LINES
            self.talk.say(f"{done}/{total} {self.what}" + (f", {left}" if left else ""))
        if done == total:
            self._stop()

    def _draw(self, done: int, total: int, left: str) -> None:
        if self.progress is None:
            self.progress = Progress(
                BarColumn(bar_width=30),
                TextColumn("{task.completed:.0f}/{task.total:.0f} {task.description}", markup=False),
                TextColumn("{task.fields[left]}", style="bold", markup=False),
                console=self.talk.console,
                transient=True,
            )
            self.task = self.progress.add_task(self.what, total=total, left=left)
            self.progress.start()
        self.progress.update(self.task, completed=done, total=total, left=left)

    def _stop(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None
