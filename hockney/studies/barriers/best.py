# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The best barrier on a number of ranks, its margin, and the basis: a measurement, or the models.

Ranked by the time of a call in a tight loop. No difference is reported if the interval of a barrier's ratio
to the fastest includes 1 or, if that interval is unknown, if the intervals of both times overlap. On numbers
of ranks that were not measured, message-based barriers are predicted by the prediction that was closer to the
measurements, the others by their fitted cost over ranks; the error of predictions on the measured numbers is
taken as their uncertainty. On several nodes, each message costs what those of its level do, and the
hierarchical barrier what it takes on one node, and dissemination among the nodes; the uncertainty of the
latter is its own error on several nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from hockney.core.case import NODES
from hockney.core.catalog import node_count_not_usable
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Estimate, Fit
from hockney.models import collective_time
from hockney.models.barriers import MOST_RANKS, MessageCosts, by_levels, by_messages, by_structure, predicted
from hockney.pages.evidence import Evidence
from hockney.studies.barriers.results import MESSAGES, STRUCTURE, BarrierResult, BarrierResults, way_of

FITS = 1.25
"""A prediction that is typically off by more does not describe the machine."""
TOLD = 1.005
"""A smaller difference is not worth reporting, however exact both times are."""
MEASURED, FITTED, LEVELS = "measured", "fit over ranks", "within a node and between nodes"
HIERARCHICAL = "hierarchical"
"""The engine's barrier of two parts."""
ITSELF = Estimate(1.0, None, None)
"""The ratio of the best to itself."""


@dataclass(frozen=True)
class Candidate:
    """`by` is the basis of the time (seconds): "measured", or which model. Its ends are those of the typical
    time's 95% interval or, for a model's time, the model's error elsewhere. `ratio` is the time relative to
    that of the best candidate, with its 95% interval if both were measured."""

    algorithm: str
    time: Estimate
    by: str
    ratio: Estimate = ITSELF

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
    every = [result for result in run.results if result.loop is not None]
    if not every:
        raise Inconclusive(
            "the run has no back-to-back barriers",
            "barriers are ranked by their times",
            "'hockney run barriers' measures them",
            code="no-loop-of-barriers",
        )
    measured = {
        result.algorithm: Candidate(result.algorithm, result.loop, MEASURED)
        for result in every
        if (result.ranks, result.nodes) == (ranks, nodes) and result.loop is not None
    }
    if len(measured) > 1:
        failed = [
            str(case["algorithm"]) for case, _ in run.failures if (case.ranks, case.nodes) == (ranks, nodes)
        ]
        names = dict.fromkeys([*(result.algorithm for result in every), *failed])
        unknown = [name for name in names if name not in measured]
        return _choice(ranks, True, list(measured.values()), unknown, run, nodes)
    most = min(_room(run, nodes), MOST_RANKS)
    if ranks > most:
        raise Inconclusive(
            f"{ranks} ranks were not measured",
            f"the models hold for up to {most} ranks",
            f"'hockney run barriers --ranks {ranks}' measures them",
            code="ranks-beyond-models",
            ranks=ranks,
            limit=most,
        )
    return _predicted(evidence, every, ranks, nodes, measured)


def _room(run: BarrierResults, nodes: int) -> int:
    """The ranks that have their own core on so many nodes like those of the run."""
    machine = run.evidence.machine
    return max(1, machine.cores) * nodes if nodes and not machine.traits.described else run.cores


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
    alike = tuple(c.algorithm for c in rest if _alike(c, best))
    return Choice(ranks, measured, (best, *rest), alike, tuple(unknown), nodes)


def _ratio(each: Candidate, best: Candidate, ranks: int, nodes: int, run: BarrierResults | None) -> Estimate:
    value = each.seconds / best.seconds if best.seconds else math.inf
    known = None
    if run is not None and each.by == best.by == MEASURED:
        known = run.ratio(ranks, each.algorithm, best.algorithm, nodes)
    return Estimate(value, known.low, known.high) if known else Estimate(value, None, None)


def _alike(each: Candidate, best: Candidate) -> bool:
    if each.ratio.low is not None:
        return each.ratio.low <= TOLD
    if each.time.low is None or best.time.high is None:
        return True
    return each.time.low <= max(best.time.high, TOLD * best.seconds)


def _predicted(
    evidence: Evidence,
    every: Sequence[BarrierResult],
    ranks: int,
    nodes: int,
    measured: Mapping[str, Candidate],
) -> Choice:
    """Barriers that were not measured, predicted by the models."""
    known = BarrierResults.of(evidence).costs
    costs = known.spread(ranks, nodes) if known is not None else None
    form, off = believed(every)
    candidates, unknown = [], []
    for name in dict.fromkeys(result.algorithm for result in every):
        fit = _fit(evidence, name, nodes)
        if name in measured:
            candidates.append(measured[name])
            continue
        if predicted(name) and costs is not None:
            how = by_messages if form == MESSAGES else by_structure
            seconds, by, factor = how(name, ranks, costs), form, off
        elif (node_s := _on_a_node(every, name, ranks, nodes)) is not None and costs is not None:
            seconds, by, factor = by_levels(node_s, nodes, costs), LEVELS, _off_by_levels(every, known)
        elif fit is not None:
            fitted = sum((each.algorithm, each.nodes) == (name, nodes) for each in every)
            factor = 1 + (fit.worst or 0.0) if fitted > len(fit.parameters) else math.inf
            seconds, by = collective_time(fit, ranks, 0), FITTED
        else:
            unknown.append(name)
            continue
        ends = (seconds / factor, seconds * factor) if math.isfinite(factor) else (None, None)
        time = Estimate(seconds, *ends)
        candidates.append(Candidate(name, time, by))
    if not candidates:
        raise Inconclusive(
            f"{ranks} ranks were not measured",
            "the run has no cost of a message to predict them from",
            f"'hockney run barriers --ranks {ranks}' measures them",
            code="no-costs-for-prediction",
            ranks=ranks,
        )
    return _choice(ranks, False, candidates, unknown, BarrierResults.of(evidence), nodes)


def _on_a_node(every: Sequence[BarrierResult], name: str, ranks: int, nodes: int) -> float | None:
    """Seconds of the hierarchical barrier of one of several nodes, if it was measured; None for others."""
    if name != HIERARCHICAL or nodes < 2:
        return None
    each = ranks // nodes
    found = [x.loop.value for x in every if (x.algorithm, x.ranks, x.nodes) == (name, each, 1) and x.loop]
    return 0.0 if each == 1 else found[0] if found else None


def _off_by_levels(every: Sequence[BarrierResult], costs: MessageCosts | None) -> float:
    """The factor by which such a prediction is typically off on the layouts on which the hierarchical barrier
    was measured; infinite if there are none with several nodes."""
    off = [
        _factor(by_levels(node_s, each.nodes, costs.spread(each.ranks, each.nodes)), each.loop)
        for each in every
        if costs is not None
        and (node_s := _on_a_node(every, each.algorithm, each.ranks, each.nodes)) is not None
    ]
    return median(off) if off else math.inf


def believed(every: Sequence[BarrierResult]) -> tuple[str, float]:
    """The prediction that was closer to the measurements, on more than two ranks if possible, and the factor
    by which it was typically off; infinite if there is no evidence. By structure if neither can be compared.
    """
    with_both = [e for e in every if e.structure_s and e.messages_s and e.loop]
    telling = [e for e in with_both if e.ranks > 2] or with_both
    if not telling:
        return STRUCTURE, math.inf
    off = {
        form: median(_factor(e.predicted(form), e.loop) for e in telling) for form in (STRUCTURE, MESSAGES)
    }
    form = min(off, key=lambda name: off[name])
    return (form, off[form]) if off[form] <= FITS else (STRUCTURE, off[STRUCTURE])


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
