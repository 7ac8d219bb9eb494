# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A line on a terminal that moves while something takes long and has no steps to count."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hockney.core.errors import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

SECONDS_TO_SPINNER = 0.5
"""What takes less is not worth importing what shows it; where that was done already, it is shown at once."""
REFRESHES_PER_SECOND = 2
"""Enough to see that something goes on. Drawing takes time from ranks that have no core to spare."""


class Spinner:
    """`console` is asked for when there is something to show."""

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
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self.lock:
            if threading.current_thread() is not self.timer:
                return
            self.shown = Progress(
                SpinnerColumn("line"),
                TextColumn("{task.description}", markup=False),
                TimeElapsedColumn(),
                console=self.console(),
                transient=True,
                refresh_per_second=REFRESHES_PER_SECOND,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self.shown.add_task(one_line(text), total=None)
            self.shown.start()
