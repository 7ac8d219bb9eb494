# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which set-up to take on a number of ranks, and what each costs in quality.

The times of a run are compared, which has the same number of steps in every set-up. A set-up that finds
significantly worse energies than the reference does not count, unless it certainly reaches the target energy
sooner. If there is such a set-up, or if a target was given, the times to the target are compared.

Energies are compared over the seeds that all set-ups ran with: at equal numbers of steps, at equal times, and
as the time until a target energy is reached."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.significance import Verdict, stricter, verdict, widened
from hockney.models.statistics import (
    Attempts,
    BySeed,
    by_seed,
    common,
    difference,
    expected_time,
    ratio_of_expected_times,
)
from hockney.suites.annealing.models.runs import Course
from hockney.suites.annealing.studies.annealing.plan import TARGET
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults

Basis = Literal["time", "target"]
Outcome = Literal["best", "alike", "undecided"]
"""best: all others are notably slower; alike: certainly none of the rivals is; undecided: neither."""


@dataclass(frozen=True)
class SetupChoice:
    """`fastest` by the estimates, without those `left_out` because of their energies. `rivals` are those that
    are not certainly slower, `fastest` among them. `take` is None if it is undecided: also if it is the
    fastest one, but too few seeds show whether its energies are worse (`unknown_quality`). Of rivals that are
    alike it is the reference, otherwise the fastest whose runs repeat with the same seed, without a progress
    thread if there is one."""

    ranks: int
    basis: Basis
    outcome: Outcome
    take: AnnealingPoint | None
    fastest: AnnealingPoint
    rivals: tuple[AnnealingPoint, ...]
    undecided: tuple[Estimate, ...] = ()
    unknown_quality: bool = False
    left_out: bool = False


SMALL_SAVING = 0.1
"""Of the time, relative to the reference: not worth waiting for a decision."""


@dataclass(frozen=True)
class Meanwhile:
    """What to take until the choice is decided, if the others save at most `saving` of its time (95%)."""

    take: AnnealingPoint
    saving: float


def until_decided(run: AnnealingResults, found: SetupChoice) -> Meanwhile | None:
    """The reference, if what the others may save is certainly small."""
    over = run.reference(found.ranks)
    if found.take is not None or found.basis != "time" or over is None or over not in found.rivals:
        return None
    lows = [run.ratio(p, over).low for p in found.rivals if p is not over]
    known = [low for low in lows if low is not None]
    saving = 1 - min(known, default=1.0)
    return Meanwhile(over, saving) if len(known) == len(lows) and 0 < saving <= SMALL_SAVING else None


def choice(run: AnnealingResults, ranks: int) -> SetupChoice | None:
    """The set-up to take; None with fewer than two set-ups, or if none has a known cost."""
    found = quality(run, ranks)
    points = list(run.on(ranks))
    if len(points) < 2:
        return None
    worse = {each.point for each in found.losses if each.worse}
    sooner = any(each.worse and each.worth == "faster" for each in found.losses)
    basis: Basis = "target" if sooner or found.given_target is not None else "time"
    if basis == "time":
        points = [p for p in points if p not in worse]
    costs = {p: _cost(found, p, basis) for p in points}
    points = [p for p in points if costs[p] is not None]
    if not points:
        return None
    fastest = min(points, key=lambda p: costs[p] or 0.0)
    others = [p for p in points if p is not fastest]
    among = stricter(len(others))
    ratios = {p: widened(_cost_ratio(found, p, fastest, basis), among) for p in others}
    verdicts = {key: verdict(value) for key, value in ratios.items()}
    rivals = tuple(p for p in points if p is fastest or verdicts[p] != "slower")
    still_open = tuple(
        value for key, value in ratios.items() if verdicts[key] in ("undecided", "unknown") and value
    )
    alike = all(verdicts[p] == "alike" for p in rivals if p is not fastest)
    if not alike:
        return SetupChoice(ranks, basis, "undecided", None, fastest, rivals, still_open)
    take = fastest if len(rivals) == 1 else _preferred(found, fastest, rivals, costs)
    if basis == "time" and take is not found.reference and not _quality_known(found, take):
        return SetupChoice(ranks, basis, "undecided", None, fastest, rivals, unknown_quality=True)
    outcome: Outcome = "best" if len(rivals) == 1 else "alike"
    left_out = basis == "time" and bool(worse)
    return SetupChoice(ranks, basis, outcome, take, fastest, rivals, left_out=left_out)


def _quality_known(found: Quality, point: AnnealingPoint) -> bool:
    loss = found.loss(point)
    return loss is not None and loss.equal_steps is not None and loss.equal_steps.low is not None


def _preferred(
    found: Quality,
    fastest: AnnealingPoint,
    rivals: Sequence[AnnealingPoint],
    costs: Mapping[AnnealingPoint, float | None],
) -> AnnealingPoint:
    if (first := found.reference) in rivals and first is not None:
        return first
    repeating = [p for p in rivals if found.repeats(p)]
    return min(repeating, key=lambda p: (p.with_thread, costs[p] or 0.0), default=fastest)


def _cost(found: Quality, point: AnnealingPoint, basis: Basis) -> float | None:
    return point.time.value if basis == "time" else found.target_time(point)


def _cost_ratio(found: Quality, of: AnnealingPoint, over: AnnealingPoint, basis: Basis) -> Estimate | None:
    if basis == "time":
        return found.run.ratio(of, over)
    return found.target_ratio(of, over)


REACHED = 0.9
"""The target is what this share of the runs of the reference reach, unless one is given."""
ENOUGH_TRIES = 5
"""Seeds: a set-up that never reached the target with so many is slower than one that did."""
ENOUGH_SEEDS = 10


@dataclass(frozen=True)
class Loss:
    """How much worse a set-up is than the reference: the difference of the lowest energies relative to the
    size of the reference's, at `equal_steps` and at `equal_time` (when the faster of all ends); and the
    `target` time over that of the reference. `seeds` are common to both. The intervals are those that the
    verdicts use, among all set-ups."""

    point: AnnealingPoint
    over: AnnealingPoint
    seeds: int
    equal_steps: Estimate | None
    equal_time: Estimate | None
    target: Estimate | None
    worth: Verdict

    @property
    def worse(self) -> bool:
        """Whether it finds significantly higher energies with as many steps."""
        loss = self.equal_steps
        return loss is not None and loss.low is not None and loss.low > 0

    @property
    def better(self) -> bool:
        loss = self.equal_steps
        return loss is not None and loss.high is not None and loss.high < 0


@dataclass(frozen=True)
class Quality:
    """The quality of the set-ups on one number of ranks."""

    run: AnnealingResults
    ranks: int

    @property
    def points(self) -> Sequence[AnnealingPoint]:
        return [p for p in self.run.on(self.ranks) if p.runs]

    @property
    def reference(self) -> AnnealingPoint | None:
        return next(iter(self.points), None)

    @cached_property
    def given_target(self) -> float | None:
        """The target energy that the cases have; None without one."""
        found = {p.measured.case.number(TARGET.name) for p in self.points}
        return found.pop() if len(found) == 1 and found != {0.0} else None

    @cached_property
    def target(self) -> float | None:
        """The given one, or the energy that REACHED of the runs of the reference reach."""
        over = self.reference
        if self.given_target is not None or over is None or not over.courses:
            return self.given_target
        return float(np.quantile([c.best[-1] for c in over.courses], REACHED, method="higher"))

    @cached_property
    def equal_s(self) -> float | None:
        """The time at which the fastest set-up ends (s)."""
        return min((p.time.value for p in self.points if p.courses), default=None)

    def energies(self, point: AnnealingPoint) -> BySeed:
        return by_seed((run.seed for run in point.runs), (run.best for run in point.runs))

    def mean_energy(self, point: AnnealingPoint) -> float:
        return float(np.mean(list(self.energies(point).values())))

    def courses(self, point: AnnealingPoint) -> Sequence[Course]:
        """The courses, each as long as a typical run: when an energy is reached depends on the seed; how long
        the steps until then take depends on the machine, as all repetitions show and not only the last
        ones."""
        return [course.lasting(point.time.value) for course in point.courses]

    def energies_at(self, point: AnnealingPoint, seconds: float) -> BySeed:
        known = [
            (course.seed, best)
            for course in self.courses(point)
            if (best := course.best_at(seconds)) is not None
        ]
        return by_seed((seed for seed, _ in known), (best for _, best in known))

    def attempts(self, point: AnnealingPoint) -> dict[Hashable, Attempts]:
        """To reach the target: of all runs if it was given, otherwise of those whose course is known."""
        if self.given_target is not None:
            typical = point.time.value
            parts = [(run.seed, run.target_s, run.seconds) for run in point.runs if run.seconds > 0]
            return _attempts(
                (seed, None if until is None else until / whole * typical, typical)
                for seed, until, whole in parts
            )
        target = self.target
        if target is None:
            return {}
        return _attempts((c.seed, c.reaches(target), c.seconds) for c in self.courses(point))

    def target_time(self, point: AnnealingPoint) -> float | None:
        """The expected time until the target is reached (s); None if it never was."""
        attempts = self.attempts(point)
        return expected_time(attempts) if attempts else None

    def reached(self, point: AnnealingPoint) -> float:
        """The share of the runs that reached the target."""
        attempts = self.attempts(point)
        count = len(point.courses if self.given_target is None else point.runs)
        return sum(each.reached for each in attempts.values()) / count if count else 0.0

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each set-up except the reference."""
        over = self.reference
        if over is None:
            return ()
        return tuple(self._loss(p, over) for p in self.points if p is not over)

    def loss(self, point: AnnealingPoint) -> Loss | None:
        return next((each for each in self.losses if each.point is point), None)

    def _loss(self, point: AnnealingPoint, over: AnnealingPoint) -> Loss:
        a, b = self.energies(point), self.energies(over)
        size = abs(self.mean_energy(over)) or 1.0
        among = stricter(len(self.points) - 1)
        target = widened(self.target_ratio(point, over), among)
        return Loss(
            point,
            over,
            len(common(a, b)),
            _relative(difference(a, b), size, among),
            self._at_equal_time(point, over, size, among),
            target,
            self._worth(point, over, target),
        )

    def _worth(self, point: AnnealingPoint, over: AnnealingPoint, target: Estimate | None) -> Verdict:
        """The verdict on the times to the target."""
        tries = self.attempts(point)
        if len(tries) >= ENOUGH_TRIES and not any(each.reached for each in tries.values()):
            return "slower" if self.reached(over) else "unknown"
        return verdict(target)

    def target_ratio(self, of: AnnealingPoint, over: AnnealingPoint) -> Estimate | None:
        """The ratio of the expected times to the target. Its interval includes the errors of both typical
        times, which all runs share, and the error over the seeds."""
        return _with_error_of(
            ratio_of_expected_times(self.attempts(of), self.attempts(over)), self.run.ratio(of, over)
        )

    def _at_equal_time(
        self, point: AnnealingPoint, over: AnnealingPoint, size: float, among: float
    ) -> Estimate | None:
        if self.equal_s is None:
            return None
        a, b = (self.energies_at(each, self.equal_s) for each in (point, over))
        return _relative(difference(a, b), size, among) if a and b else None

    @property
    def fewest_seeds(self) -> int:
        return min((len(self.energies(p)) for p in self.points), default=0)

    def unlike(self, point: AnnealingPoint) -> int:
        """Seeds of which two runs found different energies."""
        found: dict[float, set[float]] = {}
        for run in point.runs:
            found.setdefault(run.seed, set()).add(run.best)
        return sum(len(energies) > 1 for energies in found.values())

    def repeats(self, point: AnnealingPoint) -> bool | None:
        """Whether runs with one seed found the same energy; None if no seed ran twice."""
        twice = any(count > 1 for count in Counter(run.seed for run in point.runs).values())
        return self.unlike(point) == 0 if twice else None


def _attempts(known: Iterable[tuple[float, float | None, float]]) -> dict[Hashable, Attempts]:
    """The attempts by seed, from seeds, times until the target (None: not reached) and total times."""
    found: dict[Hashable, Attempts] = {}
    for seed, reached_s, seconds in known:
        before = found.get(seed, Attempts(0.0, 0))
        spent = seconds if reached_s is None else reached_s
        found[seed] = Attempts(before.spent + spent, before.reached + (reached_s is not None))
    return found


def _with_error_of(ratio: Estimate | None, by: Estimate) -> Estimate | None:
    """The ratio with the relative error of another one in addition."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return ratio
    if by.low is None or by.high is None or by.low <= 0:
        return Estimate(ratio.value, None, None)
    below = math.hypot(math.log(ratio.value / ratio.low), math.log(by.value / by.low))
    above = math.hypot(math.log(ratio.high / ratio.value), math.log(by.high / by.value))
    return Estimate(ratio.value, ratio.value * math.exp(-below), ratio.value * math.exp(above))


def _relative(difference: Estimate, size: float, stricter: float) -> Estimate:
    """To a size, with its interval `stricter` times as wide."""
    value, low, high = difference.value, difference.low, difference.high
    return Estimate(
        value / size,
        None if low is None else (value + stricter * (low - value)) / size,
        None if high is None else (value + stricter * (high - value)) / size,
    )


def quality(run: AnnealingResults, ranks: int) -> Quality:
    """Computed once for each number of ranks."""
    known = run.evidence.cached(_empty)
    if ranks not in known:
        known[ranks] = Quality(run, ranks)
    return known[ranks]


def _empty(evidence: object) -> dict[int, Quality]:
    return {}
