# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The known costs of computing while messages are on their way, in the fake world.

A message up to the eager limit travels by itself. A longer one, and every collective, proceeds only inside
MPI: without a call of MPI_Test nothing of it is hidden, with n of them n / (n + 1). MPI's progress thread, if
the launch has one, hides everything, but slows computing even while nothing is sent, and more while something
is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload

OVERLAP = "overlap"
AVAILABILITY = "availability"
"""The roles of these workloads."""
PROGRESS = "MPICH_ASYNC_PROGRESS"
"""The variable that gives a launch a progress thread: MPICH's."""


@dataclass(frozen=True)
class FakeOverlap:
    """The true costs (s): of starting a communication, of a call of MPI_Test, of answering a message, of a
    step of the computation. By which share computing slows: `interrupts` while all of a communication
    proceeds in the background, `thread` then if a thread makes it do so, `idle_thread` always."""

    eager_bytes: int = 16384
    posting_s: float = 0.05e-6
    test_s: float = 0.04e-6
    answer_s: float = 0.25e-6
    step_s: float = 1e-9
    interrupts: float = 0.02
    thread: float = 0.10
    idle_thread: float = 0.05
    progress_thread: bool = False

    def under(self, variables: Mapping[str, str]) -> bool:
        """Whether a launch with these variables has a progress thread."""
        return variables.get(PROGRESS, "0") not in ("", "0")

    def proceeds(self, case: Case) -> float:
        """The share of a communication that does so while this rank computes."""
        if self.progress_thread or ("pattern" in case and case.bytes <= self.eager_bytes):
            return 1.0
        tests = case.number("tests", 0)
        return tests / (tests + 1)

    @property
    def slowdown(self) -> float:
        """The slowdown of computing without communication."""
        return 1 + self.idle_thread * self.progress_thread

    def stolen(self, proceeding: float) -> float:
        return proceeding * (self.thread if self.progress_thread else self.interrupts)

    def overlapped(self, case: Case, pure_s: float) -> dict[str, float]:
        """Seconds of each part of a run, whose communication alone takes `pure_s`."""
        alone = self.alone(case, pure_s)
        posting = min(self.posting_s, pure_s)
        proceeding = self.proceeds(case)
        return {
            "posting": posting,
            "computing": alone * (1 + self.stolen(proceeding)),
            "testing": case.number("tests") * self.test_s,
            "waiting": pure_s - posting - proceeding * min(pure_s - posting, alone),
        }

    def polled(self, case: Case, message_s: float) -> dict[str, float]:
        """The like of COMB's polling, if a message alone takes `message_s`."""
        return {
            "posting": case.number("window") * self.posting_s,
            "computing": self.alone(case, 0.0) * (1 + self.stolen(1.0)),
            "testing": case.number("polls") * self.test_s + self.messages(case, message_s) * self.answer_s,
            "waiting": self.posting_s,
        }

    def messages(self, case: Case, message_s: float) -> float:
        """The messages that arrive during the work: all of a queue between two polls, unless the interval is
        too short for them; half as many where a message needs a poll to proceed and another to be found."""
        arriving = min(case.number("window"), case.number("interval") / message_s)
        needs_two = case.bytes > self.eager_bytes and not self.progress_thread
        return case.number("polls") * arriving / (2 if needs_two else 1)

    def work(self, case: Case, pure_s: float) -> float:
        """Preset seconds."""
        if "polls" in case:
            return case.number("interval") * (case.number("polls") + 1)
        return case.number("duration") or case.number("computing") * pure_s

    def alone(self, case: Case, pure_s: float) -> float:
        """Seconds of computing without communication."""
        return self.work(case, pure_s) * self.slowdown

    def parts(self, workload: Workload, case: Case, pure_s: float) -> dict[str, float] | None:
        """The seconds whose sum is a run's; None for other workloads."""
        if workload.role == OVERLAP:
            return self.overlapped(case, pure_s)
        return self.polled(case, pure_s) if workload.role == AVAILABILITY else None

    def values(
        self, metric: Metric, workload: Workload, case: Case, pure_s: float, times: np.ndarray
    ) -> np.ndarray | None:
        """The values of a metric, for repetitions that took `times`. The computation alone, just before, met
        the same noise as the repetition; `pure_s` none."""
        parts = self.parts(workload, case, pure_s)
        if parts is None:
            return None
        noise = times / sum(parts.values())
        cpu = self.alone(case, pure_s) * noise
        shorter = np.minimum(pure_s, cpu)
        hidden = np.clip(pure_s + cpu - times, 0.0, shorter)
        received = self.messages(case, pure_s) if "polls" in case else 0.0
        values = {name: seconds * noise for name, seconds in parts.items()} | {
            "cpu": cpu,
            "alone": cpu,
            "step": self.step_s * self.slowdown * noise,
            "availability": 100 * cpu / times,
            "stolen": np.full(len(times), 100 * (parts["computing"] / self.alone(case, pure_s) - 1)),
            "overlap": 100 * hidden / shorter,
            "hidden": hidden,
            "pure": np.full(len(times), pure_s),
            "ratio": times / (pure_s + cpu),
            "messages": np.full(len(times), received),
            "bandwidth": received * case.bytes / times,
            "work": np.array([self.work(case, pure_s)]),
        }
        return values.get(metric.name)
