# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a run for barriers, by algorithm, number of ranks and way of entering; and for messages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median
from typing import Literal

from hockney.core.case import NODES, Case, parse_canonical
from hockney.core.catalog import node_count_not_usable
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fit, Subject
from hockney.core.layout import NETWORK, farthest_level_in_node
from hockney.models import LogGPOverheads, collective_time, loggp_overheads
from hockney.models.barriers import MOST_RANKS, MessageCosts, by_levels, by_messages, by_structure, predicted
from hockney.models.statistics import Observation, ratio
from hockney.pages.evidence import Evidence, StudyResults


@dataclass(frozen=True)
class EmptyMessages:
    """Measured times (s), empty messages except for `broadcast`, of one byte; see `MessageCosts`. `place` is
    the level at which the ranks met, "" if the cases do not name it."""

    one_way: Estimate
    exchange: Estimate
    broadcast: Estimate
    base: Estimate
    overheads: LogGPOverheads | None
    place: str = ""

    @property
    def costs(self) -> MessageCosts:
        overheads = self.overheads
        return MessageCosts(
            one_way_s=self.one_way.value,
            exchange_s=self.exchange.value,
            broadcast_s=self.broadcast.value,
            base_s=self.base.value,
            send_s=overheads.send.value if overheads else 0.0,
            receive_s=overheads.receive.value if overheads else 0.0,
            gap_s=overheads.gap.value if overheads else 0.0,
        )


@dataclass(frozen=True)
class LevelsOfMessages:
    """Empty messages between nodes and, if they were measured too, within a node; or the only ones."""

    between: EmptyMessages
    near: EmptyMessages | None = None

    @property
    def levels(self) -> tuple[EmptyMessages, ...]:
        return (self.between,) if self.near is None else (self.near, self.between)

    def costs(self, per_node: int) -> MessageCosts:
        """The costs on nodes with `per_node` consecutive ranks each."""
        if self.near is None:
            return self.between.costs
        return replace(self.between.costs, near=self.near.costs, per_node=per_node)


def messages_by_level(evidence: Evidence) -> LevelsOfMessages | None:
    """Within a node those of the farthest level. None if ping-pong or exchange are missing."""
    by_place = {
        part.place: messages for part in evidence.levels if (messages := empty_messages(part)) is not None
    }
    near, between = by_place.get(farthest_level_in_node(by_place)), by_place.get(NETWORK)
    if between is not None:
        return LevelsOfMessages(between, near)
    only = near or empty_messages(evidence)
    return None if only is None else LevelsOfMessages(only)


def empty_messages(evidence: Evidence) -> EmptyMessages | None:
    """The empty messages of one level; None if ping-pong or exchange are missing."""

    def typical(workload: str, **fixed: str | int) -> Estimate | None:
        measured = evidence.of(workload, ranks=2, **fixed)
        return measured[0].summary.typical if measured else None

    one_way, exchange = typical("pingpong", bytes=0), typical("pingpong_double", bytes=0)
    if one_way is None or exchange is None:
        return None
    of_a_byte = typical("pingpong", bytes=1), typical("bcast", bytes=1, sync="window") or one_way
    return EmptyMessages(
        one_way=one_way,
        exchange=exchange,
        broadcast=max((each for each in of_a_byte if each is not None), key=lambda each: each.value),
        base=typical("isend_recv", bytes=0) or one_way,
        overheads=_overheads(evidence),
        place=evidence.place,
    )


def _overheads(evidence: Evidence) -> LogGPOverheads | None:
    measured = (
        m for name in ("prtt", "receive_overhead", "pingpong") for m in evidence.of(name, ranks=2, bytes=0)
    )
    return loggp_overheads(evidence.observations(m.case for m in measured))


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
class BarrierResults(StudyResults):
    """All measurements of barriers in a run. Every part is computed once: predictions simulate each algorithm
    on every number of ranks."""

    @cached_property
    def results(self) -> tuple[BarrierResult, ...]:
        """The results by ranks, the fastest in the tight loop first, and barriers with only other times
        last; with predictions where each rank has a core."""
        times: dict[tuple[int, int, str], dict[Way, Estimate]] = {}
        for m in self.evidence.measured:
            if (way := way_of(m.case)) is not None:
                key = m.case.ranks, m.case.nodes, str(m.case["algorithm"])
                times.setdefault(key, {})[way] = m.summary.typical
        costs = self.costs
        results = [
            _with_predictions(
                BarrierResult(name, ranks, ways, nodes=nodes),
                costs.spread(ranks, nodes) if costs is not None and ranks <= self.evidence.cores else None,
            )
            for (ranks, nodes, name), ways in times.items()
        ]
        return tuple(sorted(results, key=_order))

    def ratio(self, ranks: int, algorithm: str, over: str, nodes: int = 0) -> Estimate | None:
        """The ratio of the times of a call of two barriers, back to back; None if one of them was not
        measured."""
        numerator, denominator = (self._loops.get((ranks, nodes, name)) for name in (algorithm, over))
        return None if numerator is None or denominator is None else ratio(numerator, denominator)

    @cached_property
    def _loops(self) -> dict[tuple[int, int, str], Observation]:
        """Observations of barriers back to back, by ranks, nodes and algorithm."""
        observations = self.evidence.observations(
            m.case for m in self.evidence.measured if way_of(m.case) == "loop"
        )
        return {
            (each.case.ranks, each.case.nodes, str(each.case["algorithm"])): each for each in observations
        }

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
    def iterations(self) -> int:
        """The number of barriers back to back that was requested; 1 if the engine chose it."""
        counts = (m.case.number("iterations", 1) for m in self.evidence.of("barrier"))
        return int(max(counts, default=1))

    @cached_property
    def failures(self) -> list[tuple[Case, str]]:
        """Barriers without a result, each once, with the last message of the engine or the launcher."""
        reasons = {each.case: f"{each.reason}: {each.message}" for each in self.evidence.run.failures}
        done = {m.case.line for m in self.evidence.measured}
        cases = [(parse_canonical(line), words) for line, words in reasons.items() if line not in done]
        return [(case, words) for case, words in cases if way_of(case) is not None]


def _order(result: BarrierResult) -> tuple[int, int, float, str]:
    loop_s = math.inf if result.loop is None else result.loop.value
    return result.ranks, result.nodes, loop_s, result.algorithm


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


MAX_PREDICTION_FACTOR = 1.25
"""A prediction that is typically off by more does not describe the machine."""
MIN_REPORTED_RATIO = 1.005
"""A smaller difference is not worth reporting, however exact both times are."""
MEASURED, FITTED, LEVELS = "measured", "fit over ranks", "within a node and between nodes"
HIERARCHICAL = "hierarchical"
"""The engine's barrier of two parts."""
RATIO_TO_ITSELF = Estimate(1.0, None, None)
"""The ratio of the best to itself."""


@dataclass(frozen=True)
class Candidate:
    """`by` is the basis of the time (seconds): "measured", or which model. Its ends are those of the typical
    time's 95% interval or, for a model's time, the model's error elsewhere. `ratio` is the time relative to
    that of the best candidate, with its 95% interval if both were measured."""

    algorithm: str
    time: Estimate
    by: str
    ratio: Estimate = RATIO_TO_ITSELF

    @property
    def seconds(self) -> float:
        return self.time.value


@dataclass(frozen=True)
class Choice:
    """`candidates` are sorted, the fastest first. `alike` may be as fast as the first; for `unknown` nothing
    is known on this many ranks. They are spread over `nodes` nodes; 0 if the launch decides."""

    ranks: int
    measured: bool
    candidates: tuple[Candidate, ...]
    alike: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    nodes: int = 0

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def next(self) -> Candidate | None:
        """The second fastest."""
        return self.candidates[1] if len(self.candidates) > 1 else None

    def of(self, algorithm: str) -> Candidate | None:
        return next((c for c in self.candidates if c.algorithm == algorithm), None)


def choose(evidence: Evidence, ranks: int, nodes: int = 0) -> Choice:
    """The best barrier on this number of ranks, spread evenly over `nodes` nodes; 0: as the launch places
    them. Raises UsageError for fewer than two ranks and for a number of nodes that does not divide the number
    of ranks, and Inconclusive if the run has no information on this number of ranks."""
    if ranks < 2:
        raise UsageError(
            "one rank needs no barrier",
            "it waits for no other rank",
            "give --ranks 2 or more",
            code="one-rank-needs-no-barrier",
        )
    if nodes and ranks % nodes:
        raise node_count_not_usable(str(nodes), ranks)
    run = BarrierResults.of(evidence)
    results = [result for result in run.results if result.loop is not None]
    if not results:
        raise Inconclusive(
            "the run has no back-to-back barriers",
            "barriers are ranked by their times",
            "'hockney run barriers' measures them",
            code="no-loop-of-barriers",
        )
    measured = {
        result.algorithm: Candidate(result.algorithm, result.loop, MEASURED)
        for result in results
        if (result.ranks, result.nodes) == (ranks, nodes) and result.loop is not None
    }
    if len(measured) > 1:
        failed = [
            str(case["algorithm"]) for case, _ in run.failures if (case.ranks, case.nodes) == (ranks, nodes)
        ]
        names = dict.fromkeys([*(result.algorithm for result in results), *failed])
        unknown = [name for name in names if name not in measured]
        return _choice(ranks, True, list(measured.values()), unknown, run, nodes)
    most = min(_ranks_with_core(run, nodes), MOST_RANKS)
    if ranks > most:
        raise Inconclusive(
            f"{ranks} ranks were not measured",
            f"the models hold for up to {most} ranks",
            f"'hockney run barriers --ranks {ranks}' measures them",
            code="ranks-beyond-models",
            ranks=ranks,
            limit=most,
        )
    return _predicted(evidence, results, ranks, nodes, measured)


def _ranks_with_core(run: BarrierResults, nodes: int) -> int:
    """The largest number of ranks with a core each on `nodes` nodes like the run's."""
    machine = run.evidence.machine
    return max(1, machine.cores) * nodes if nodes and not machine.traits.described else run.evidence.cores


def _choice(
    ranks: int,
    measured: bool,
    candidates: Sequence[Candidate],
    unknown: Sequence[str] = (),
    run: BarrierResults | None = None,
    nodes: int = 0,
) -> Choice:
    """`run` provides the ratios of measured barriers."""
    best, *others = sorted(candidates, key=lambda c: (c.seconds, c.algorithm))
    rest = tuple(replace(c, ratio=_ratio(c, best, ranks, nodes, run)) for c in others)
    alike = tuple(c.algorithm for c in rest if _is_alike(c, best))
    return Choice(ranks, measured, (best, *rest), alike, tuple(unknown), nodes)


def _ratio(each: Candidate, best: Candidate, ranks: int, nodes: int, run: BarrierResults | None) -> Estimate:
    value = each.seconds / best.seconds if best.seconds else math.inf
    interval = None
    if run is not None and each.by == best.by == MEASURED:
        interval = run.ratio(ranks, each.algorithm, best.algorithm, nodes)
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value, None, None)


def _is_alike(each: Candidate, best: Candidate) -> bool:
    if each.ratio.low is not None:
        return each.ratio.low <= MIN_REPORTED_RATIO
    if each.time.low is None or best.time.high is None:
        return True
    return each.time.low <= max(best.time.high, MIN_REPORTED_RATIO * best.seconds)


def _predicted(
    evidence: Evidence,
    results: Sequence[BarrierResult],
    ranks: int,
    nodes: int,
    measured: Mapping[str, Candidate],
) -> Choice:
    """The choice among the measured barriers and the others, predicted by the models."""
    run = BarrierResults.of(evidence)
    predictions = _Predictions(evidence, results, ranks, nodes, run.costs)
    candidates, unknown = [], []
    for name in dict.fromkeys(result.algorithm for result in results):
        candidate = measured.get(name) or predictions.of(name)
        if candidate is None:
            unknown.append(name)
        else:
            candidates.append(candidate)
    if not candidates:
        raise Inconclusive(
            f"{ranks} ranks were not measured",
            "the run has no cost of a message to predict them from",
            f"'hockney run barriers --ranks {ranks}' measures them",
            code="no-costs-for-prediction",
            ranks=ranks,
        )
    return _choice(ranks, False, candidates, unknown, run, nodes)


@dataclass(frozen=True)
class _Prediction:
    """`by` is the model; `factor` is that by which it is typically off, infinite if that is unknown."""

    seconds: float
    by: str
    factor: float


@dataclass(frozen=True)
class _Predictions:
    """Predictions for barriers on `ranks` ranks on `nodes` nodes. `costs` are those of messages on nodes that
    are filled like those of the run."""

    evidence: Evidence
    results: Sequence[BarrierResult]
    ranks: int
    nodes: int
    costs: MessageCosts | None

    def of(self, name: str) -> Candidate | None:
        """By the first model that can predict this barrier; None if none can."""
        found = self._from_messages(name) or self._from_levels(name) or self._from_fit(name)
        if found is None:
            return None
        known = math.isfinite(found.factor)
        ends = (found.seconds / found.factor, found.seconds * found.factor) if known else (None, None)
        return Candidate(name, Estimate(found.seconds, *ends), found.by)

    @cached_property
    def _costs_here(self) -> MessageCosts | None:
        return None if self.costs is None else self.costs.spread(self.ranks, self.nodes)

    @cached_property
    def _form(self) -> tuple[str, float]:
        return choose_prediction(self.results)

    def _from_messages(self, name: str) -> _Prediction | None:
        if self._costs_here is None or not predicted(name):
            return None
        form, factor = self._form
        by_form = by_messages if form == MESSAGES else by_structure
        return _Prediction(by_form(name, self.ranks, self._costs_here), form, factor)

    def _from_levels(self, name: str) -> _Prediction | None:
        node_s = _node_seconds(self.results, name, self.ranks, self.nodes)
        if self._costs_here is None or node_s is None:
            return None
        factor = _level_prediction_factor(self.results, self.costs)
        return _Prediction(by_levels(node_s, self.nodes, self._costs_here), LEVELS, factor)

    def _from_fit(self, name: str) -> _Prediction | None:
        fit = _fit(self.evidence, name, self.nodes)
        if fit is None:
            return None
        fitted = sum((each.algorithm, each.nodes) == (name, self.nodes) for each in self.results)
        factor = 1 + (fit.worst or 0.0) if fitted > len(fit.parameters) else math.inf
        return _Prediction(collective_time(fit, self.ranks, 0), FITTED, factor)


def _node_seconds(results: Sequence[BarrierResult], name: str, ranks: int, nodes: int) -> float | None:
    """Seconds of the hierarchical barrier of one of several nodes, if it was measured; None for others."""
    if name != HIERARCHICAL or nodes < 2:
        return None
    each = ranks // nodes
    loops_s = [x.loop.value for x in results if (x.algorithm, x.ranks, x.nodes) == (name, each, 1) and x.loop]
    return 0.0 if each == 1 else loops_s[0] if loops_s else None


def _level_prediction_factor(results: Sequence[BarrierResult], costs: MessageCosts | None) -> float:
    """The factor by which such a prediction is typically off on the layouts on which the hierarchical barrier
    was measured; infinite if there are none with several nodes."""
    off = [
        _factor(by_levels(node_s, each.nodes, costs.spread(each.ranks, each.nodes)), each.loop)
        for each in results
        if costs is not None
        and (node_s := _node_seconds(results, each.algorithm, each.ranks, each.nodes)) is not None
    ]
    return median(off) if off else math.inf


def choose_prediction(results: Sequence[BarrierResult]) -> tuple[str, float]:
    """The prediction that was closer to the measurements, on more than two ranks if possible, and the factor
    by which it was typically off; infinite if there is no evidence. By structure if neither can be compared.
    """
    with_both = [e for e in results if e.structure_s and e.messages_s and e.loop]
    telling = [e for e in with_both if e.ranks > 2] or with_both
    if not telling:
        return STRUCTURE, math.inf
    off = {
        form: median(_factor(e.predicted(form), e.loop) for e in telling) for form in (STRUCTURE, MESSAGES)
    }
    form = min(off, key=lambda name: off[name])
    return (form, off[form]) if off[form] <= MAX_PREDICTION_FACTOR else (STRUCTURE, off[STRUCTURE])


def _factor(prediction: float | None, loop: Estimate | None) -> float:
    if not prediction or loop is None or loop.value <= 0:
        return math.inf
    return math.exp(abs(math.log(prediction / loop.value)))


def _fit(evidence: Evidence, algorithm: str, nodes: int) -> Fit | None:
    """The cost over ranks of a barrier back to back, by the form that describes it better."""
    fits = [
        fit
        for fit in evidence.fits.fits
        if fit.model in ("logarithmic", "linear")
        and fit.verdict != "refused"
        and fit.parameters
        and way_of(fit.subject) == "loop"
        and fit.subject.matches(algorithm=algorithm)
        and fit.subject.get(NODES, 0) == nodes
    ]
    return min(fits, key=lambda fit: (not fit.preferred, fit.error or 0.0), default=None)
