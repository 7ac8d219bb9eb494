# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a run for barriers, by algorithm, number of ranks and way of entering; and for messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal

from hockney.core.case import Case, parse_canonical
from hockney.core.fit import Estimate, Subject
from hockney.models.barriers import MessageCosts, by_messages, by_structure, predicted
from hockney.models.statistics import Observation, ratio
from hockney.pages.evidence import Evidence

Way = Literal["loop", "alone", "late", "skew"]
WAYS: dict[str, Way] = {"barrier_staggered": "late", "barrier_skew": "skew"}
BARRIERS = ("barrier", *WAYS)
STRUCTURE, MESSAGES = "structure", "messages"
"""The two predictions."""
GAP_COVERS = 1.05
"""A delay that does not exceed the gap by this factor hides the overhead (Hoefler, Lichei and Rehm 2007)."""


@dataclass(frozen=True)
class BarrierResult:
    """One algorithm on `ranks` ranks: seconds of one call in each measured way, and both predictions of the
    tight loop, by the algorithm's structure and by its number of messages; None if there is none."""

    algorithm: str
    ranks: int
    times: dict[Way, Estimate]
    structure_s: float | None = None
    messages_s: float | None = None

    @property
    def loop(self) -> Estimate | None:
        return self.times.get("loop")

    def predicted(self, form: str) -> float | None:
        """The prediction by structure, or by messages."""
        return self.messages_s if form == MESSAGES else self.structure_s

    def error(self, prediction: float | None) -> float | None:
        """Relative error of a prediction of the tight loop."""
        if prediction is None or self.loop is None or self.loop.value <= 0:
            return None
        return prediction / self.loop.value - 1


@dataclass(frozen=True)
class BarrierResults:
    """All measurements of barriers in a run. Every part is computed once: predictions simulate each algorithm
    on every number of ranks."""

    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> BarrierResults:
        """The same object for the same evidence, however often a page requests it."""
        return evidence.cached(cls)

    @cached_property
    def results(self) -> tuple[BarrierResult, ...]:
        """By ranks, the fastest in the tight loop first; barriers with only other times come last."""
        return barrier_results(self.evidence, self.costs, self.cores)

    def ratio(self, ranks: int, algorithm: str, over: str) -> Estimate | None:
        """The ratio of the times of a call of two barriers, back to back; None if one of them was not
        measured."""
        of, base = (self._loops.get((ranks, name)) for name in (algorithm, over))
        return None if of is None or base is None else ratio(of, base)

    @cached_property
    def _loops(self) -> dict[tuple[int, str], Observation]:
        """Observations of barriers back to back, by ranks and algorithm."""
        seen = self.evidence.observed(m.case for m in self.evidence.measured if way_of(m.case) == "loop")
        return {(each.case.ranks, str(each.case["algorithm"])): each for each in seen}

    @cached_property
    def costs(self) -> MessageCosts | None:
        return message_costs(self.evidence)

    @cached_property
    def cores(self) -> int:
        return cores(self.evidence)

    @cached_property
    def iterations(self) -> int:
        return iterations(self.evidence)

    @cached_property
    def failures(self) -> list[tuple[Case, str]]:
        return failures(self.evidence)


def barrier_results(evidence: Evidence, costs: MessageCosts | None, most: int) -> tuple[BarrierResult, ...]:
    """With predictions from `costs` on up to `most` ranks."""
    times: dict[tuple[int, str], dict[Way, Estimate]] = {}
    for m in evidence.measured:
        if (way := way_of(m.case)) is not None:
            key = m.case.ranks, str(m.case["algorithm"])
            times.setdefault(key, {})[way] = m.summary.typical
    every = [
        _with_predictions(BarrierResult(name, ranks, times[ranks, name]), costs if ranks <= most else None)
        for ranks, name in times
    ]
    return tuple(
        sorted(every, key=lambda f: (f.ranks, f.loop.value if f.loop else float("inf"), f.algorithm))
    )


def _with_predictions(each: BarrierResult, costs: MessageCosts | None) -> BarrierResult:
    if costs is None or each.ranks < 2 or not predicted(each.algorithm):
        return each
    structure = by_structure(each.algorithm, each.ranks, costs)
    return BarrierResult(
        each.algorithm, each.ranks, each.times, structure, by_messages(each.algorithm, each.ranks, costs)
    )


def way_of(case: Case | Subject) -> Way | None:
    """How a case, or all cases of a fit, enter their barriers; None for a case of anything else."""
    values = case.values
    if "algorithm" not in values or case.workload not in BARRIERS:
        return None
    if case.workload in WAYS:
        return WAYS[case.workload]
    iterations = values.get("iterations", 1)
    if values.get("sync") == "loop" or (not isinstance(iterations, str) and iterations > 1):
        return "loop"
    return "alone" if values.get("sync") == "window" else None


def iterations(evidence: Evidence) -> int:
    """The number of barriers back to back that was requested; 1 if the engine chose it."""
    counts = (m.case.number("iterations", 1) for m in evidence.of("barrier"))
    return int(max(counts, default=1))


def cores(evidence: Evidence) -> int:
    """The processors of all hosts of the run, assuming that they are alike: with more ranks than these, the
    scheduler decides."""
    return evidence.run.cores(evidence.machine)


def failures(evidence: Evidence) -> list[tuple[Case, str]]:
    """Barriers without a result, each once, with the last message of the engine or the launcher."""
    reasons: dict[str, str] = {}
    for failure in evidence.run.failures:
        reasons[failure.case] = f"{failure.reason}: {failure.message}"
    done = {m.case.line for m in evidence.measured}
    cases = [(parse_canonical(line), words) for line, words in reasons.items() if line not in done]
    return [(case, words) for case, words in cases if way_of(case) is not None]


def message_costs(evidence: Evidence) -> MessageCosts | None:
    """Costs of messages between two ranks in this run; None if ping-pong or exchange are missing.

    Uses the median of the launches' medians, not their mean: all predictions depend on these few cases, and
    one disturbed launch would spoil them.
    """
    times = _middle_launch(evidence)

    def seconds(workload: str, **fixed: str | int) -> float | None:
        measured = evidence.of(workload, ranks=2, **fixed)
        return times.get(measured[0].case.line) if measured else None

    one_way, exchange = seconds("pingpong", bytes=0), seconds("pingpong_double", bytes=0)
    if not one_way or not exchange:
        return None
    send_s, gap_s = _train(evidence, times)
    return MessageCosts(
        one_way_s=one_way,
        exchange_s=exchange,
        broadcast_s=max(
            seconds("pingpong", bytes=1) or 0.0, seconds("bcast", bytes=1, sync="window") or one_way
        ),
        base_s=seconds("isend_recv", bytes=0) or one_way,
        send_s=send_s,
        receive_s=seconds("receive_overhead", bytes=0) or 0.0,
        gap_s=gap_s,
    )


def _middle_launch(evidence: Evidence) -> dict[str, float]:
    """By case."""
    return {
        line: median(median(record.times_s) for record in records if record.times_s)
        for line, records in evidence.run.by_case().items()
        if any(record.times_s for record in records)
    }


def _train(evidence: Evidence, times: dict[str, float]) -> tuple[float, float]:
    """o_s and g by the parametrised round trip of empty messages, as in `models.fits.loggp`."""
    trips = {
        (int(m.case.number("messages")), m.case.number("delay")): times[m.case.line]
        for m in evidence.of("prtt", ranks=2, bytes=0)
        if m.case.line in times
    }
    single = trips.get((1, 0))
    most = max((messages for messages, _ in trips), default=1)
    if single is None or most < 2:
        return 0.0, 0.0
    per_message = {
        delay: max(0.0, (time - single) / (most - 1))
        for (messages, delay), time in trips.items()
        if messages == most
    }
    gap = per_message.pop(0, 0.0)
    sends = [each - delay for delay, each in per_message.items() if each > GAP_COVERS * gap]
    return max(0.0, min(sends, default=gap)), gap
