# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The recommended set-up for a number of ranks, and the loss of quality of each.

The times of a run are compared, which has the same number of steps in every set-up. A set-up with
significantly worse energies than the reference is excluded, unless it certainly reaches the target energy
sooner. If there is such a set-up, or if a target was given, the times to the target are compared.

Energies are compared over the seeds that all set-ups have in common: at equal numbers of steps, at equal
times, and as the time to reach a target energy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.significance import Verdict, interval_stretch, verdict, widen
from hockney.models.statistics import (
    Attempts,
    ValuesBySeed,
    common_keys,
    expected_time,
    mean_by_seed,
    mean_difference,
    ratio_of_expected_times,
)
from hockney.suites.annealing.models.runs import Course
from hockney.suites.annealing.studies.annealing.plan import TARGET
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults

Basis = Literal["time", "target"]
Outcome = Literal["best", "alike", "undecided"]
"""best: all others are notably slower; alike: certainly no rival is; undecided: neither is certain."""


@dataclass(frozen=True)
class SetupChoice:
    """The choice of a set-up. `fastest_point` is the fastest by the estimates, among set-ups whose energies
    do not exclude them. `rivals` are those that are not certainly slower, including `fastest_point`.

    `recommendation` is None if the choice is undecided. This includes the case that the fastest has too
    few seeds to show whether its energies are worse (`has_unknown_quality`). Among rivals that are alike,
    the recommendation is the reference, or else the fastest whose runs are repeatable, preferably without
    a progress thread."""

    ranks: int
    basis: Basis
    outcome: Outcome
    recommendation: AnnealingPoint | None
    fastest_point: AnnealingPoint
    rivals: tuple[AnnealingPoint, ...]
    undecided_ratios: tuple[Estimate, ...] = ()
    has_unknown_quality: bool = False
    excludes_worse: bool = False


MAX_SMALL_SAVING = 0.1
"""Maximum saving of time relative to the reference that is not worth waiting for a decision."""


@dataclass(frozen=True)
class InterimChoice:
    """The set-up recommended until the choice is decided. The others save at most `saving` of its time
    (95%)."""

    recommendation: AnnealingPoint
    saving: float


def interim_choice(run: AnnealingResults, choice: SetupChoice) -> InterimChoice | None:
    """Returns the reference if the others certainly save little; otherwise None."""
    reference = run.reference(choice.ranks)
    if (
        choice.recommendation is not None
        or choice.basis != "time"
        or reference is None
        or reference not in choice.rivals
    ):
        return None
    low_bounds = [run.ratio(p, reference).low for p in choice.rivals if p is not reference]
    known_bounds = [low for low in low_bounds if low is not None]
    saving = 1 - min(known_bounds, default=1.0)
    return (
        InterimChoice(reference, saving)
        if len(known_bounds) == len(low_bounds) and 0 < saving <= MAX_SMALL_SAVING
        else None
    )


def choose_setup(run: AnnealingResults, ranks: int) -> SetupChoice | None:
    """Chooses a set-up. Returns None with fewer than two set-ups, or if none has a known cost."""
    quality = quality_on(run, ranks)
    points = list(run.points_on(ranks))
    if len(points) < 2:
        return None
    worse_points = {loss.point for loss in quality.losses if loss.is_worse}
    is_loss_worth_it = any(loss.is_worse and loss.target_verdict == "faster" for loss in quality.losses)
    basis: Basis = "target" if is_loss_worth_it or quality.given_target is not None else "time"
    if basis == "time":
        points = [p for p in points if p not in worse_points]
    costs = {p: _setup_cost(quality, p, basis) for p in points}
    points = [p for p in points if costs[p] is not None]
    if not points:
        return None
    fastest_point = min(points, key=lambda p: costs[p] or 0.0)
    other_points = [p for p in points if p is not fastest_point]
    widening = interval_stretch(len(other_points))
    ratios = {p: widen(_cost_ratio(quality, p, fastest_point, basis), widening) for p in other_points}
    verdicts = {key: verdict(value) for key, value in ratios.items()}
    rivals = tuple(p for p in points if p is fastest_point or verdicts[p] != "slower")
    undecided_ratios = tuple(
        value for key, value in ratios.items() if verdicts[key] in ("undecided", "unknown") and value
    )
    are_alike = all(verdicts[p] == "alike" for p in rivals if p is not fastest_point)
    if not are_alike:
        return SetupChoice(ranks, basis, "undecided", None, fastest_point, rivals, undecided_ratios)
    recommendation = (
        fastest_point if len(rivals) == 1 else _preferred_rival(quality, fastest_point, rivals, costs)
    )
    if (
        basis == "time"
        and recommendation is not quality.reference
        and not _has_known_quality(quality, recommendation)
    ):
        return SetupChoice(ranks, basis, "undecided", None, fastest_point, rivals, has_unknown_quality=True)
    outcome: Outcome = "best" if len(rivals) == 1 else "alike"
    excludes_worse = basis == "time" and bool(worse_points)
    return SetupChoice(
        ranks, basis, outcome, recommendation, fastest_point, rivals, excludes_worse=excludes_worse
    )


def _has_known_quality(quality: Quality, point: AnnealingPoint) -> bool:
    loss = quality.loss(point)
    return (
        loss is not None and loss.loss_at_equal_steps is not None and loss.loss_at_equal_steps.low is not None
    )


def _preferred_rival(
    quality: Quality,
    fastest_point: AnnealingPoint,
    rivals: Sequence[AnnealingPoint],
    costs: Mapping[AnnealingPoint, float | None],
) -> AnnealingPoint:
    if (reference := quality.reference) in rivals and reference is not None:
        return reference
    repeatable_rivals = [p for p in rivals if quality.is_repeatable(p)]
    return min(
        repeatable_rivals, key=lambda p: (p.uses_progress_thread, costs[p] or 0.0), default=fastest_point
    )


def _setup_cost(quality: Quality, point: AnnealingPoint, basis: Basis) -> float | None:
    return point.time.value if basis == "time" else quality.target_time(point)


def _cost_ratio(
    quality: Quality, point: AnnealingPoint, reference: AnnealingPoint, basis: Basis
) -> Estimate | None:
    if basis == "time":
        return quality.run.ratio(point, reference)
    return quality.target_ratio(point, reference)


TARGET_SHARE = 0.9
"""The default target is reached by this share of the runs of the reference."""
MIN_ATTEMPTS = 5
"""Minimum number of seeds for which a set-up that never reached the target counts as slower than one that
did."""
MIN_SEEDS = 10


@dataclass(frozen=True)
class Loss:
    """The loss of a set-up against the reference. `loss_at_equal_steps` and `loss_at_equal_time` are the
    relative differences of the lowest energies, after the same steps and at the end of the fastest set-up.
    `target_ratio` is the ratio of the times to the target. `seed_count` is the number of common seeds. The
    verdicts use the same intervals, which account for all comparisons."""

    point: AnnealingPoint
    reference: AnnealingPoint
    seed_count: int
    loss_at_equal_steps: Estimate | None
    loss_at_equal_time: Estimate | None
    target_ratio: Estimate | None
    target_verdict: Verdict

    @property
    def is_worse(self) -> bool:
        """Whether it finds significantly higher energies with the same number of steps."""
        loss = self.loss_at_equal_steps
        return loss is not None and loss.low is not None and loss.low > 0

    @property
    def is_better(self) -> bool:
        loss = self.loss_at_equal_steps
        return loss is not None and loss.high is not None and loss.high < 0


@dataclass(frozen=True)
class Quality:
    """The quality of the set-ups on one number of ranks."""

    run: AnnealingResults
    ranks: int

    @property
    def points(self) -> Sequence[AnnealingPoint]:
        return [p for p in self.run.points_on(self.ranks) if p.runs]

    @property
    def reference(self) -> AnnealingPoint | None:
        return next(iter(self.points), None)

    @cached_property
    def given_target(self) -> float | None:
        """The target energy of the cases; None without one."""
        targets = {p.measurement.case.number(TARGET.name) for p in self.points}
        return targets.pop() if len(targets) == 1 and targets != {0.0} else None

    @cached_property
    def target(self) -> float | None:
        """The given target, or the energy reached by a share TARGET_SHARE of the runs of the reference."""
        reference = self.reference
        if self.given_target is not None or reference is None or not reference.courses:
            return self.given_target
        return float(
            np.quantile(
                [course.best_energies[-1] for course in reference.courses], TARGET_SHARE, method="higher"
            )
        )

    @cached_property
    def comparison_time_s(self) -> float | None:
        """The time at which the fastest set-up ends (s)."""
        return min((p.time.value for p in self.points if p.courses), default=None)

    def energies(self, point: AnnealingPoint) -> ValuesBySeed:
        return mean_by_seed((run.seed for run in point.runs), (run.best_energy for run in point.runs))

    def mean_energy(self, point: AnnealingPoint) -> float:
        return float(np.mean(list(self.energies(point).values())))

    def courses(self, point: AnnealingPoint) -> Sequence[Course]:
        """Returns the courses, scaled to the duration of a typical run. The round in which an energy is
        reached depends on the seed. The time until then depends on the machine, and all repetitions
        determine it better than the last ones."""
        return [course.with_duration(point.time.value) for course in point.courses]

    def energies_at(self, point: AnnealingPoint, seconds: float) -> ValuesBySeed:
        energies_by_seed = [
            (course.seed, best_energy)
            for course in self.courses(point)
            if (best_energy := course.best_at(seconds)) is not None
        ]
        return mean_by_seed(
            (seed for seed, _ in energies_by_seed), (best_energy for _, best_energy in energies_by_seed)
        )

    def attempts(self, point: AnnealingPoint) -> dict[Hashable, Attempts]:
        """Returns the attempts to reach the target: all runs if it was given, otherwise the runs with a
        known course."""
        if self.given_target is not None:
            typical_s = point.time.value
            runs = [(run.seed, run.target_s, run.seconds) for run in point.runs if run.seconds > 0]
            return _attempts(
                (seed, None if target_s is None else target_s / total_s * typical_s, typical_s)
                for seed, target_s, total_s in runs
            )
        target = self.target
        if target is None:
            return {}
        return _attempts(
            (course.seed, course.time_to_reach(target), course.seconds) for course in self.courses(point)
        )

    def target_time(self, point: AnnealingPoint) -> float | None:
        """Returns the expected time to reach the target (s); None if it was never reached."""
        attempts = self.attempts(point)
        return expected_time(attempts) if attempts else None

    def reached_share(self, point: AnnealingPoint) -> float:
        """Returns the share of the runs that reached the target."""
        attempts = self.attempts(point)
        count = len(point.courses if self.given_target is None else point.runs)
        return (
            sum(seed_attempts.success_count for seed_attempts in attempts.values()) / count if count else 0.0
        )

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """The loss of each set-up except the reference."""
        reference = self.reference
        if reference is None:
            return ()
        return tuple(self._compute_loss(p, reference) for p in self.points if p is not reference)

    def loss(self, point: AnnealingPoint) -> Loss | None:
        return next((loss for loss in self.losses if loss.point is point), None)

    def _compute_loss(self, point: AnnealingPoint, reference: AnnealingPoint) -> Loss:
        energies, reference_energies = self.energies(point), self.energies(reference)
        scale = abs(self.mean_energy(reference)) or 1.0
        widening = interval_stretch(len(self.points) - 1)
        target_ratio = widen(self.target_ratio(point, reference), widening)
        return Loss(
            point,
            reference,
            len(common_keys(energies, reference_energies)),
            _relative_difference(mean_difference(energies, reference_energies), scale, widening),
            self._loss_at_equal_time(point, reference, scale, widening),
            target_ratio,
            self._target_verdict(point, reference, target_ratio),
        )

    def _target_verdict(
        self, point: AnnealingPoint, reference: AnnealingPoint, target_ratio: Estimate | None
    ) -> Verdict:
        """Returns the verdict on the times to the target."""
        attempts = self.attempts(point)
        if len(attempts) >= MIN_ATTEMPTS and not any(
            seed_attempts.success_count for seed_attempts in attempts.values()
        ):
            return "slower" if self.reached_share(reference) else "unknown"
        return verdict(target_ratio)

    def target_ratio(self, point: AnnealingPoint, reference: AnnealingPoint) -> Estimate | None:
        """Returns the ratio of the expected times to the target. Its interval includes the errors of both
        typical times, which all runs share, and the error over the seeds."""
        return _add_relative_error(
            ratio_of_expected_times(self.attempts(point), self.attempts(reference)),
            self.run.ratio(point, reference),
        )

    def _loss_at_equal_time(
        self, point: AnnealingPoint, reference: AnnealingPoint, scale: float, widening: float
    ) -> Estimate | None:
        if self.comparison_time_s is None:
            return None
        energies, reference_energies = (
            self.energies_at(setup, self.comparison_time_s) for setup in (point, reference)
        )
        return (
            _relative_difference(mean_difference(energies, reference_energies), scale, widening)
            if energies and reference_energies
            else None
        )

    @property
    def min_seed_count(self) -> int:
        return min((len(self.energies(p)) for p in self.points), default=0)

    def count_inconsistent_seeds(self, point: AnnealingPoint) -> int:
        """Returns the number of seeds for which two runs found different energies."""
        energies_by_seed: dict[float, set[float]] = {}
        for run in point.runs:
            energies_by_seed.setdefault(run.seed, set()).add(run.best_energy)
        return sum(len(energies) > 1 for energies in energies_by_seed.values())

    def is_repeatable(self, point: AnnealingPoint) -> bool | None:
        """Returns whether runs with the same seed found the same energy; None if no seed ran twice."""
        has_repeated_seed = any(count > 1 for count in Counter(run.seed for run in point.runs).values())
        return self.count_inconsistent_seeds(point) == 0 if has_repeated_seed else None


def _attempts(runs: Iterable[tuple[float, float | None, float]]) -> dict[Hashable, Attempts]:
    """Returns the attempts by seed, from seeds, times until the target (None: not reached) and total
    times."""
    attempts: dict[Hashable, Attempts] = {}
    for seed, target_s, seconds in runs:
        previous = attempts.get(seed, Attempts(0.0, 0))
        attempt_s = seconds if target_s is None else target_s
        attempts[seed] = Attempts(
            previous.spent_s + attempt_s, previous.success_count + (target_s is not None)
        )
    return attempts


def _add_relative_error(ratio: Estimate | None, factor: Estimate) -> Estimate | None:
    """Returns the ratio with the relative error of `factor` added to its own."""
    if ratio is None or ratio.low is None or ratio.high is None:
        return ratio
    if factor.low is None or factor.high is None or factor.low <= 0:
        return Estimate(ratio.value, None, None)
    low_error = math.hypot(math.log(ratio.value / ratio.low), math.log(factor.value / factor.low))
    high_error = math.hypot(math.log(ratio.high / ratio.value), math.log(factor.high / factor.value))
    return Estimate(ratio.value, ratio.value * math.exp(-low_error), ratio.value * math.exp(high_error))


def _relative_difference(mean_difference: Estimate, scale: float, widening: float) -> Estimate:
    """Returns the difference relative to `scale`, with its interval `widening` times as wide."""
    value, low, high = mean_difference.value, mean_difference.low, mean_difference.high
    return Estimate(
        value / scale,
        None if low is None else (value + widening * (low - value)) / scale,
        None if high is None else (value + widening * (high - value)) / scale,
    )


def quality_on(run: AnnealingResults, ranks: int) -> Quality:
    """Returns the quality on this number of ranks, computed once."""
    return run.evidence.cached(_quality_cache).setdefault(ranks, Quality(run, ranks))


def _quality_cache(evidence: object) -> dict[int, Quality]:
    return {}
