# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a run for barriers, by algorithm, number of ranks and way of entering; and for messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from hockney.core.case import Case, parse_canonical
from hockney.core.fit import Estimate, Subject
from hockney.models.barriers import MessageCosts, by_messages, by_structure, predicted
from hockney.models.statistics import Observation, ratio
from hockney.pages.evidence import Evidence
from hockney.studies.barriers.empty_messages import LevelsOfMessages, messages_by_level

Way = Literal["loop", "alone", "late", "skew"]
WAYS: dict[str, Way] = {"barrier_staggered": "late", "barrier_skew": "skew"}
BARRIERS = ("barrier", *WAYS)
STRUCTURE, MESSAGES = "structure", "messages"
"""The two predictions."""


@dataclass(frozen=True)
class BarrierResult:
    """One algorithm on `ranks` ranks: seconds of one call in each measured way, and both predictions of the
    tight loop, by the algorithm's structure and by its number of messages; None if there is none. The ranks
    are spread over `nodes` nodes; 0 if the launch decided."""

    algorithm: str
    ranks: int
    times: dict[Way, Estimate]
    structure_s: float | None = None
    messages_s: float | None = None
    nodes: int = 0

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
        """The results by ranks, the fastest in the tight loop first, and barriers with only other times
        last."""
        return barrier_results(self.evidence, self.costs, self.cores)

    def ratio(self, ranks: int, algorithm: str, over: str, nodes: int = 0) -> Estimate | None:
        """The ratio of the times of a call of two barriers, back to back; None if one of them was not
        measured."""
        of, base = (self._loops.get((ranks, nodes, name)) for name in (algorithm, over))
        return None if of is None or base is None else ratio(of, base)

    @cached_property
    def _loops(self) -> dict[tuple[int, int, str], Observation]:
        """Observations of barriers back to back, by ranks, nodes and algorithm."""
        seen = self.evidence.observed(m.case for m in self.evidence.measured if way_of(m.case) == "loop")
        return {(each.case.ranks, each.case.nodes, str(each.case["algorithm"])): each for each in seen}

    @cached_property
    def messages(self) -> LevelsOfMessages | None:
        return messages_by_level(self.evidence)

    @property
    def costs(self) -> MessageCosts | None:
        """The costs of messages on nodes that are filled like those of the run; None if they were not
        measured."""
        machine = self.evidence.machine
        per_node = machine.ranks_per_node or max(1, machine.cores)
        return self.messages.costs(per_node) if self.messages is not None else None

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
    """The results, with predictions from `costs` on up to `most` ranks."""
    times: dict[tuple[int, int, str], dict[Way, Estimate]] = {}
    for m in evidence.measured:
        if (way := way_of(m.case)) is not None:
            key = m.case.ranks, m.case.nodes, str(m.case["algorithm"])
            times.setdefault(key, {})[way] = m.summary.typical
    every = [
        _with_predictions(
            BarrierResult(name, ranks, ways, nodes=nodes),
            costs.spread(ranks, nodes) if costs is not None and ranks <= most else None,
        )
        for (ranks, nodes, name), ways in times.items()
    ]
    return tuple(
        sorted(every, key=lambda f: (f.ranks, f.nodes, f.loop.value if f.loop else float("inf"), f.algorithm))
    )


def _with_predictions(each: BarrierResult, costs: MessageCosts | None) -> BarrierResult:
    if costs is None or each.ranks < 2 or not predicted(each.algorithm):
        return each
    structure = by_structure(each.algorithm, each.ranks, costs)
    return replace(each, structure_s=structure, messages_s=by_messages(each.algorithm, each.ranks, costs))


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
