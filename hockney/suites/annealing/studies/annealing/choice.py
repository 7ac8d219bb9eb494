# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which set-up to take on a number of ranks.

The times of a run are compared, which has the same number of steps in every set-up. One that finds
significantly worse energies than the reference does not count, unless it certainly reaches the target energy
sooner. If there is such a one, or if a target was given, the times to the target are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hockney.core.fit import Estimate
from hockney.models.significance import stricter, verdict, widened
from hockney.suites.annealing.studies.annealing.quality import Quality, quality
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults

Basis = Literal["time", "target"]
Outcome = Literal["best", "alike", "undecided"]
"""best: all others are notably slower; alike: certainly none of the rivals is; undecided: neither."""


@dataclass(frozen=True)
class SetupChoice:
    """`fastest` by the estimates, without those `left_out` because of their energies. `rivals` are those that
    are not certainly slower, `fastest` among them.
    `take` is None if it is undecided: also if it is the fastest one, but too few seeds show whether its
    energies are worse (`unknown_quality`). Of rivals that are alike it is the reference, otherwise the
    fastest whose runs repeat with the same seed, without a progress thread if there is one."""

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
    ratios = {p: widened(_ratio(found, p, fastest, basis), among) for p in others}
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


def _ratio(found: Quality, of: AnnealingPoint, over: AnnealingPoint, basis: Basis) -> Estimate | None:
    if basis == "time":
        return found.run.ratio(of, over)
    return found.target_ratio(of, over)
