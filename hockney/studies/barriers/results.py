# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run's results for barriers, by algorithm, number of ranks and way of entering; and for empty messages."""

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
from hockney.models.barriers import (
    MAX_RANKS,
    MessageCosts,
    hierarchical_time,
    is_predictable,
    sequential_time,
    structural_time,
)
from hockney.models.statistics import Observation, ratio
from hockney.pages.evidence import Evidence, StudyResults


@dataclass(frozen=True)
class EmptyMessages:
    """Measured times (s) of empty messages; those of `broadcast` have one byte (see `MessageCosts`). `place`
    is the level at which the ranks met ("": unspecified)."""

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
class MessageLevels:
    """Empty messages between nodes and, if measured, within a node; or those of the only measured level."""

    between_nodes: EmptyMessages
    within_node: EmptyMessages | None = None

    @property
    def levels(self) -> tuple[EmptyMessages, ...]:
        return (self.between_nodes,) if self.within_node is None else (self.within_node, self.between_nodes)

    def costs(self, per_node: int) -> MessageCosts:
        """The costs on nodes with `per_node` consecutive ranks each."""
        if self.within_node is None:
            return self.between_nodes.costs
        return replace(self.between_nodes.costs, near=self.within_node.costs, per_node=per_node)


def messages_by_level(evidence: Evidence) -> MessageLevels | None:
    """The empty messages by level. Within a node, the farthest level is used. None if the ping-pong or the
    exchange is missing."""
    by_place = {
        part.place: messages for part in evidence.levels if (messages := empty_messages(part)) is not None
    }
    within_node, between_nodes = by_place.get(farthest_level_in_node(by_place)), by_place.get(NETWORK)
    if between_nodes is not None:
        return MessageLevels(between_nodes, within_node)
    only_level = within_node or empty_messages(evidence)
    return None if only_level is None else MessageLevels(only_level)


def empty_messages(evidence: Evidence) -> EmptyMessages | None:
    """The empty messages of one level; None if the ping-pong or the exchange is missing."""

    def typical(workload: str, **values: str | int) -> Estimate | None:
        measured = evidence.of(workload, ranks=2, **values)
        return measured[0].summary.typical if measured else None

    one_way, exchange = typical("pingpong", bytes=0), typical("pingpong_double", bytes=0)
    if one_way is None or exchange is None:
        return None
    one_byte_times = typical("pingpong", bytes=1), typical("bcast", bytes=1, sync="window") or one_way
    return EmptyMessages(
        one_way=one_way,
        exchange=exchange,
        broadcast=max((time for time in one_byte_times if time is not None), key=lambda time: time.value),
        base=typical("isend_recv", bytes=0) or one_way,
        overheads=_overheads(evidence),
        place=evidence.place,
    )


def _overheads(evidence: Evidence) -> LogGPOverheads | None:
    measured = (
        m for name in ("prtt", "receive_overhead", "pingpong") for m in evidence.of(name, ranks=2, bytes=0)
    )
    return loggp_overheads(evidence.observations(m.case for m in measured))


EntryMode = Literal["loop", "alone", "late", "skew"]
ENTRY_MODES_BY_WORKLOAD: dict[str, EntryMode] = {"barrier_staggered": "late", "barrier_skew": "skew"}
BARRIERS = ("barrier", *ENTRY_MODES_BY_WORKLOAD)
STRUCTURE, MESSAGES = "structure", "messages"
"""The names of the two predictions."""


@dataclass(frozen=True)
class BarrierResult:
    """One algorithm on `ranks` ranks: seconds of one call by way of entering, and two predictions of the
    tight loop, by the algorithm's structure and by its number of messages (None: not predicted). The ranks
    are on `nodes` nodes (0: the launch decided)."""

    algorithm: str
    ranks: int
    times: dict[EntryMode, Estimate]
    structure_s: float | None = None
    messages_s: float | None = None
    nodes: int = 0

    @property
    def loop(self) -> Estimate | None:
        return self.times.get("loop")

    def predicted(self, form: str) -> float | None:
        """The prediction by structure or by messages."""
        return self.messages_s if form == MESSAGES else self.structure_s

    def error(self, prediction: float | None) -> float | None:
        """The relative error of a prediction of the tight loop."""
        if prediction is None or self.loop is None or self.loop.value <= 0:
            return None
        return prediction / self.loop.value - 1


@dataclass(frozen=True)
class BarrierResults(StudyResults):
    """All measurements of barriers in a run. They are computed once, since predictions simulate each
    algorithm on every number of ranks."""

    @cached_property
    def results(self) -> tuple[BarrierResult, ...]:
        """The results by ranks, the fastest in the tight loop first, and barriers with only other times last.
        Layouts with a core for each rank have predictions."""
        times: dict[tuple[int, int, str], dict[EntryMode, Estimate]] = {}
        for result in self.evidence.measured:
            if (mode := entry_mode(result.case)) is not None:
                key = result.case.ranks, result.case.nodes, str(result.case["algorithm"])
                times.setdefault(key, {})[mode] = result.summary.typical
        costs = self.costs
        results = [
            _with_predictions(
                BarrierResult(name, ranks, times_by_mode, nodes=nodes),
                costs.spread(ranks, nodes) if costs is not None and ranks <= self.evidence.cores else None,
            )
            for (ranks, nodes, name), times_by_mode in times.items()
        ]
        return tuple(sorted(results, key=_sort_key))

    def ratio(self, ranks: int, algorithm: str, base: str, nodes: int = 0) -> Estimate | None:
        """The ratio of the back-to-back times of two barriers; None if one of them was not measured."""
        numerator, denominator = (self._back_to_back.get((ranks, nodes, name)) for name in (algorithm, base))
        return None if numerator is None or denominator is None else ratio(numerator, denominator)

    @cached_property
    def _back_to_back(self) -> dict[tuple[int, int, str], Observation]:
        """Observations of back-to-back barriers, by ranks, nodes and algorithm."""
        observations = self.evidence.observations(
            m.case for m in self.evidence.measured if entry_mode(m.case) == "loop"
        )
        return {
            (each.case.ranks, each.case.nodes, str(each.case["algorithm"])): each for each in observations
        }

    @cached_property
    def messages(self) -> MessageLevels | None:
        return messages_by_level(self.evidence)

    @property
    def costs(self) -> MessageCosts | None:
        """The costs of messages on nodes that are filled as in the run; None if they were not measured."""
        machine = self.evidence.machine
        per_node = machine.ranks_per_node or max(1, machine.cores)
        return self.messages.costs(per_node) if self.messages is not None else None

    @cached_property
    def requested_iterations(self) -> int:
        """The requested number of back-to-back barriers; 1 if the engine chose it."""
        counts = (m.case.number("iterations", 1) for m in self.evidence.of("barrier"))
        return int(max(counts, default=1))

    @cached_property
    def failures(self) -> list[tuple[Case, str]]:
        """Barriers without a result, without duplicates, with the last message of the engine or the
        launcher."""
        reasons = {each.case: f"{each.reason}: {each.message}" for each in self.evidence.run.failures}
        measured_lines = {result.case.line for result in self.evidence.measured}
        cases = [
            (parse_canonical(line), reason) for line, reason in reasons.items() if line not in measured_lines
        ]
        return [(case, reason) for case, reason in cases if entry_mode(case) is not None]


def _sort_key(result: BarrierResult) -> tuple[int, int, float, str]:
    loop_s = math.inf if result.loop is None else result.loop.value
    return result.ranks, result.nodes, loop_s, result.algorithm


def _with_predictions(each: BarrierResult, costs: MessageCosts | None) -> BarrierResult:
    if costs is None or each.ranks < 2 or not is_predictable(each.algorithm):
        return each
    structure = structural_time(each.algorithm, each.ranks, costs)
    return replace(each, structure_s=structure, messages_s=sequential_time(each.algorithm, each.ranks, costs))


def entry_mode(case: Case | Subject) -> EntryMode | None:
    """How a case, or all cases of a fit, enter their barriers; None for cases of other workloads."""
    values = case.values
    if "algorithm" not in values or case.workload not in BARRIERS:
        return None
    if case.workload in ENTRY_MODES_BY_WORKLOAD:
        return ENTRY_MODES_BY_WORKLOAD[case.workload]
    iterations = values.get("iterations", 1)
    if values.get("sync") == "loop" or (not isinstance(iterations, str) and iterations > 1):
        return "loop"
    return "alone" if values.get("sync") == "window" else None


MAX_PREDICTION_FACTOR = 1.25
"""A prediction with a larger typical error factor does not describe the machine."""
MIN_REPORTED_RATIO = 1.005
"""Smaller differences are not reported, however exact both times are."""
MEASURED_BASIS, FITTED_BASIS, LEVELS_BASIS = "measured", "fit over ranks", "within a node and between nodes"
HIERARCHICAL = "hierarchical"
"""The engine's barrier with two levels."""
RATIO_TO_ITSELF = Estimate(1.0, None, None)
"""The ratio of the best candidate."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm with its time (seconds). `basis` is "measured" or the model's name. The interval is that
    of the typical time (95%) or, for a model, its error in other cases. `ratio` is the time relative to that
    of the best candidate, with its 95% interval if both were measured."""

    algorithm: str
    time: Estimate
    basis: str
    ratio: Estimate = RATIO_TO_ITSELF

    @property
    def seconds(self) -> float:
        return self.time.value


@dataclass(frozen=True)
class Choice:
    """`candidates` are sorted, the fastest first. Those in `equally_fast` may be as fast as the first. For
    algorithms in `without_result`, nothing is known on this number of ranks. The ranks are on `nodes` nodes
    (0: the launch decides)."""

    ranks: int
    is_measured: bool
    candidates: tuple[Candidate, ...]
    equally_fast: tuple[str, ...]
    without_result: tuple[str, ...] = ()
    nodes: int = 0

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def second_best(self) -> Candidate | None:
        """The second-fastest candidate."""
        return self.candidates[1] if len(self.candidates) > 1 else None

    def candidate(self, algorithm: str) -> Candidate | None:
        return next((c for c in self.candidates if c.algorithm == algorithm), None)


def choose(evidence: Evidence, ranks: int, nodes: int = 0) -> Choice:
    """The best barrier on this number of ranks, distributed evenly over `nodes` nodes (0: as the launch
    places them). Raises UsageError for fewer than two ranks and for a number of nodes that does not divide
    the number of ranks, and Inconclusive if the run has no information on this number of ranks."""
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
    measured_candidates = {
        result.algorithm: Candidate(result.algorithm, result.loop, MEASURED_BASIS)
        for result in results
        if (result.ranks, result.nodes) == (ranks, nodes) and result.loop is not None
    }
    if len(measured_candidates) > 1:
        failed = [
            str(case["algorithm"]) for case, _ in run.failures if (case.ranks, case.nodes) == (ranks, nodes)
        ]
        names = dict.fromkeys([*(result.algorithm for result in results), *failed])
        without_result = [name for name in names if name not in measured_candidates]
        return _make_choice(ranks, True, list(measured_candidates.values()), without_result, run, nodes)
    max_ranks = min(_ranks_with_core(run, nodes), MAX_RANKS)
    if ranks > max_ranks:
        raise Inconclusive(
            f"{ranks} ranks were not measured",
            f"the models hold for up to {max_ranks} ranks",
            f"'hockney run barriers --ranks {ranks}' measures them",
            code="ranks-beyond-models",
            ranks=ranks,
            limit=max_ranks,
        )
    return _choose_with_predictions(evidence, results, ranks, nodes, measured_candidates)


def _ranks_with_core(run: BarrierResults, nodes: int) -> int:
    """The largest number of ranks with a core each on `nodes` nodes like the run's."""
    machine = run.evidence.machine
    return max(1, machine.cores) * nodes if nodes and not machine.traits.described else run.evidence.cores


def _make_choice(
    ranks: int,
    is_measured: bool,
    candidates: Sequence[Candidate],
    without_result: Sequence[str] = (),
    run: BarrierResults | None = None,
    nodes: int = 0,
) -> Choice:
    """The choice among the candidates. `run` provides the ratios of measured barriers."""
    best, *slower_candidates = sorted(
        candidates, key=lambda candidate: (candidate.seconds, candidate.algorithm)
    )
    compared_candidates = tuple(
        replace(candidate, ratio=_ratio_to_best(candidate, best, ranks, nodes, run))
        for candidate in slower_candidates
    )
    equally_fast = tuple(
        candidate.algorithm for candidate in compared_candidates if _is_as_fast(candidate, best)
    )
    return Choice(
        ranks, is_measured, (best, *compared_candidates), equally_fast, tuple(without_result), nodes
    )


def _ratio_to_best(
    each: Candidate, best: Candidate, ranks: int, nodes: int, run: BarrierResults | None
) -> Estimate:
    value = each.seconds / best.seconds if best.seconds else math.inf
    interval = None
    if run is not None and each.basis == best.basis == MEASURED_BASIS:
        interval = run.ratio(ranks, each.algorithm, best.algorithm, nodes)
    return Estimate(value, interval.low, interval.high) if interval else Estimate(value, None, None)


def _is_as_fast(each: Candidate, best: Candidate) -> bool:
    if each.ratio.low is not None:
        return each.ratio.low <= MIN_REPORTED_RATIO
    if each.time.low is None or best.time.high is None:
        return True
    return each.time.low <= max(best.time.high, MIN_REPORTED_RATIO * best.seconds)


def _choose_with_predictions(
    evidence: Evidence,
    results: Sequence[BarrierResult],
    ranks: int,
    nodes: int,
    measured_candidates: Mapping[str, Candidate],
) -> Choice:
    """The choice among the measured barriers and the predicted ones."""
    run = BarrierResults.of(evidence)
    predictions = _Predictions(evidence, results, ranks, nodes, run.costs)
    candidates, without_result = [], []
    for name in dict.fromkeys(result.algorithm for result in results):
        candidate = measured_candidates.get(name) or predictions.predict(name)
        if candidate is None:
            without_result.append(name)
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
    return _make_choice(ranks, False, candidates, without_result, run, nodes)


@dataclass(frozen=True)
class _PredictedTime:
    """A predicted time. `basis` is the model; `error_factor` is its typical error factor, infinite if
    unknown."""

    seconds: float
    basis: str
    error_factor: float


@dataclass(frozen=True)
class _Predictions:
    """Predictions for barriers on `ranks` ranks on `nodes` nodes. `costs` apply to nodes that are filled as
    in the run."""

    evidence: Evidence
    results: Sequence[BarrierResult]
    ranks: int
    nodes: int
    costs: MessageCosts | None

    def predict(self, name: str) -> Candidate | None:
        """The prediction of the first model that can predict this barrier; None if none can."""
        prediction = (
            self._predict_from_messages(name)
            or self._predict_from_levels(name)
            or self._predict_from_fit(name)
        )
        if prediction is None:
            return None
        has_known_error = math.isfinite(prediction.error_factor)
        bounds = (
            (prediction.seconds / prediction.error_factor, prediction.seconds * prediction.error_factor)
            if has_known_error
            else (None, None)
        )
        return Candidate(name, Estimate(prediction.seconds, *bounds), prediction.basis)

    @cached_property
    def _layout_costs(self) -> MessageCosts | None:
        return None if self.costs is None else self.costs.spread(self.ranks, self.nodes)

    @cached_property
    def _form_and_factor(self) -> tuple[str, float]:
        return choose_prediction(self.results)

    def _predict_from_messages(self, name: str) -> _PredictedTime | None:
        if self._layout_costs is None or not is_predictable(name):
            return None
        form, factor = self._form_and_factor
        by_form = sequential_time if form == MESSAGES else structural_time
        return _PredictedTime(by_form(name, self.ranks, self._layout_costs), form, factor)

    def _predict_from_levels(self, name: str) -> _PredictedTime | None:
        node_s = _node_seconds(self.results, name, self.ranks, self.nodes)
        if self._layout_costs is None or node_s is None:
            return None
        factor = _level_prediction_factor(self.results, self.costs)
        return _PredictedTime(hierarchical_time(node_s, self.nodes, self._layout_costs), LEVELS_BASIS, factor)

    def _predict_from_fit(self, name: str) -> _PredictedTime | None:
        fit = _best_fit(self.evidence, name, self.nodes)
        if fit is None:
            return None
        fitted = sum((each.algorithm, each.nodes) == (name, self.nodes) for each in self.results)
        factor = 1 + (fit.worst or 0.0) if fitted > len(fit.parameters) else math.inf
        return _PredictedTime(collective_time(fit, self.ranks, 0), FITTED_BASIS, factor)


def _node_seconds(results: Sequence[BarrierResult], name: str, ranks: int, nodes: int) -> float | None:
    """The measured seconds of the hierarchical barrier on one of several nodes; None for other barriers."""
    if name != HIERARCHICAL or nodes < 2:
        return None
    ranks_per_node = ranks // nodes
    loops_s = [
        result.loop.value
        for result in results
        if (result.algorithm, result.ranks, result.nodes) == (name, ranks_per_node, 1) and result.loop
    ]
    return 0.0 if ranks_per_node == 1 else loops_s[0] if loops_s else None


def _level_prediction_factor(results: Sequence[BarrierResult], costs: MessageCosts | None) -> float:
    """The typical error factor of such a prediction on the layouts with measured hierarchical barriers;
    infinite if there are none with several nodes."""
    factors = [
        _error_factor(hierarchical_time(node_s, each.nodes, costs.spread(each.ranks, each.nodes)), each.loop)
        for each in results
        if costs is not None
        and (node_s := _node_seconds(results, each.algorithm, each.ranks, each.nodes)) is not None
    ]
    return median(factors) if factors else math.inf


def choose_prediction(results: Sequence[BarrierResult]) -> tuple[str, float]:
    """The prediction with the smaller error, on more than two ranks if possible, and its typical error
    factor, which is infinite without evidence. The prediction by structure if none can be compared."""
    with_both = [result for result in results if result.structure_s and result.messages_s and result.loop]
    decisive = [result for result in with_both if result.ranks > 2] or with_both
    if not decisive:
        return STRUCTURE, math.inf
    typical_factors = {
        form: median(_error_factor(result.predicted(form), result.loop) for result in decisive)
        for form in (STRUCTURE, MESSAGES)
    }
    form = min(typical_factors, key=lambda name: typical_factors[name])
    return (
        (form, typical_factors[form])
        if typical_factors[form] <= MAX_PREDICTION_FACTOR
        else (STRUCTURE, typical_factors[STRUCTURE])
    )


def _error_factor(prediction: float | None, loop: Estimate | None) -> float:
    if not prediction or loop is None or loop.value <= 0:
        return math.inf
    return math.exp(abs(math.log(prediction / loop.value)))


def _best_fit(evidence: Evidence, algorithm: str, nodes: int) -> Fit | None:
    """The cost of a back-to-back barrier as a function of the ranks, by the model that describes it
    better."""
    fits = [
        fit
        for fit in evidence.fits.fits
        if fit.model in ("logarithmic", "linear")
        and fit.verdict != "refused"
        and fit.parameters
        and entry_mode(fit.subject) == "loop"
        and fit.subject.matches(algorithm=algorithm)
        and fit.subject.get(NODES, 0) == nodes
    ]
    return min(fits, key=lambda fit: (not fit.preferred, fit.error or 0.0), default=None)
