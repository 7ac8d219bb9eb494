# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case on two sides whose launches took turns, and the geometric mean of such
ratios over several cases.

A launch of one side and the launch of the other that ran next to it are a pair; in the observations here,
both have the same name. What changes slowly affects both launches of a pair, so it cancels in their ratio.
The ratio is the robust centre of the pairs' log ratios (`pair_center`), and its interval that of this centre.
The order inside the pairs is random and balanced, so that what is left of a change of the machine has either
sign with the same probability, and the pairs are independent values.

Cases of one pair share what happens to it. The error of their mean is that of the sums of their errors in
each pair. As far as several interleaved comparisons differ more than their pairs explain, they are the
independent values (`pooled_runs`). Launches without a counterpart do not count, unless there are hardly any
pairs: then the launches count as independent (`independent`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.models.statistics.independent import ENOUGH_FREEDOM, independent_ratio
from hockney.models.statistics.jackknife import undisturbed_half_width
from hockney.models.statistics.location import blended, of_mean, student
from hockney.models.statistics.observations import Observation
from hockney.models.statistics.pair_center import PairCenter, pair_center
from hockney.models.statistics.pooled_runs import PooledCase, RunCenter, RunsOfSide, RunsOfSides
from hockney.models.statistics.ratio_estimate import RatioEstimate
from hockney.models.statistics.ratios import FEWEST_PAIRS


def shared_launches(of: PooledCase, over: PooledCase) -> int:
    """The number of pairs."""
    return len(set(of.whole.launches) & set(over.whole.launches))


def that_count(of: PooledCase, over: PooledCase) -> tuple[Observation, Observation]:
    """Both observations with only the launches of pairs that have a weight, so that their typical times agree
    with the ratio. With too few pairs, all their launches."""
    if shared_launches(of, over) < FEWEST_PAIRS:
        return of.whole, over.whole
    paired = _Paired.of(of.whole, over.whole)
    names = [name for name, outlier in zip(paired.names, paired.center.outliers, strict=True) if not outlier]
    a, b = (
        replace(seen, inferred=None).of_launches(seen.places(names).tolist())
        for seen in (of.whole, over.whole)
    )
    return a, b


def paired_ratio(of: Sequence[PooledCase], over: Sequence[PooledCase]) -> RatioEstimate:
    """The geometric mean, over one or more cases, of the typical time in the launches `of` divided by that in
    the launches `over`, with the same names. Cases that have too few pairs count only if none has more."""
    both = [(a, b) for a, b in zip(of, over, strict=True) if shared_launches(a, b) >= FEWEST_PAIRS]
    if not both:
        return independent_ratio(of, over)
    cases = [_Paired.of(a.whole, b.whole) for a, b in both]
    log = float(np.mean([case.center.log for case in cases]))
    errors = _errors(cases)
    variance = sum(error**2 for error in errors.values())
    freedom = float(np.mean([case.center.freedom for case in cases]))
    few = len(cases) == 1 and len(errors) <= ENOUGH_FREEDOM
    within = cases[0].within if few else (math.nan, math.nan)
    choice = float(np.mean([case.choice for case in cases]))  # they may all be wrong in the same direction
    runs = _runs(both, cases)
    below, above = (max(runs.half_width(float(blended(variance, freedom, side))), choice) for side in within)
    freedom, excluded = runs.together(freedom), _excluded(cases)
    return RatioEstimate.of(log, log, below, above, freedom, pairs=_pairs(cases), excluded=excluded)


def common_pairs(cases: Sequence[tuple[PooledCase, PooledCase]]) -> list[str]:
    """The names of the pairs of launches that measured all these cases, on both sides, in their order."""
    sides = [side.whole.launches for case in cases for side in case]
    shared = set(sides[0]).intersection(*sides[1:])
    return [name for name in sides[0] if name in shared]


def ratio_of_pairs(logs: np.ndarray) -> RatioEstimate:
    """The typical ratio of at least two pairs with these log ratios."""
    found = pair_center(logs)
    half_width = student(found.freedom) * math.sqrt(found.variance)
    pairs = tuple(map(float, logs)) if found.many_outliers else ()
    return RatioEstimate.of(found.log, found.log, half_width, half_width, found.freedom, pairs=pairs)


@dataclass(frozen=True)
class _Paired:
    """A case: the log ratios of its pairs by `names`, their centre, and its half widths below and above as
    the spread within launches predicts them; and that which the choice of the visits in the fastest mode
    implies, 0 if they were not chosen."""

    names: Sequence[str]
    logs: np.ndarray
    center: PairCenter
    within: tuple[float, float]
    choice: float

    @staticmethod
    def of(of: Observation, over: Observation) -> _Paired:
        there = set(over.launches)
        names = [name for name in of.launches if name in there]
        a, b = of.places(names), over.places(names)
        logs = of.log_typical[a] - over.log_typical[b]
        of_widths, over_widths = of.half_widths(a), over.half_widths(b)
        below, above = np.hypot(of_widths[0], over_widths[1]), np.hypot(of_widths[1], over_widths[0])
        choice = math.hypot(_choice(of), _choice(over))
        return _Paired(names, logs, pair_center(logs), (of_mean(below), of_mean(above)), choice)


def _choice(seen: Observation) -> float:
    every = seen.chosen_from
    return 0.0 if every is None else undisturbed_half_width(every.visits, every.visits_at_s)


def _pairs(cases: Sequence[_Paired]) -> tuple[float, ...]:
    """The log ratio of each pair, in the median of the cases; none if there are few outliers."""
    if 2 * sum(case.center.many_outliers for case in cases) < len(cases):
        return ()
    found: dict[str, list[float]] = {}
    for case in cases:
        for name, log in zip(case.names, case.logs, strict=True):
            found.setdefault(name, []).append(float(log))
    return tuple(float(np.median(logs)) for logs in found.values())


def _excluded(cases: Sequence[_Paired]) -> tuple[int, int]:
    """The pairs without a weight in most of the cases, by the direction of the outlier."""
    found: dict[str, list[int]] = {}
    for case in cases:
        for name, direction in zip(case.names, case.center.outliers, strict=True):
            found.setdefault(name, []).append(int(direction))
    above, below = (sum(2 * of.count(direction) > len(of) for of in found.values()) for direction in (1, -1))
    return above, below


def _errors(cases: Sequence[_Paired]) -> dict[str, float]:
    """The contribution of each pair to the error of the mean of the cases' centres."""
    errors: dict[str, float] = {}
    for case in cases:
        for name, error in zip(case.names, case.center.errors, strict=True):
            errors[name] = errors.get(name, 0.0) + float(error) / len(cases)
    return errors


def _runs(both: Sequence[tuple[PooledCase, PooledCase]], cases: Sequence[_Paired]) -> RunsOfSides:
    """What the differences of several interleaved comparisons imply. One counts with the cases of which it
    measured enough pairs, relative to their centres over all."""
    by_run: dict[int, list[tuple[float, _Paired]]] = {}
    for (of, over), case in zip(both, cases, strict=True):
        for number in of.runs.keys() & over.runs.keys() if len(of.runs) > 1 else ():
            a, b = of.runs[number], over.runs[number]
            if len(set(a.launches) & set(b.launches)) >= FEWEST_PAIRS:
                paired = _Paired.of(a, b)
                by_run.setdefault(number, []).append((paired.center.log - case.center.log, paired))
    return RunsOfSides.of([RunsOfSide.of([_run(of) for of in by_run.values()])] if by_run else [])


def _run(cases: Sequence[tuple[float, _Paired]]) -> RunCenter:
    deviations, paired = zip(*cases, strict=True)
    explained = sum(error**2 for error in _errors(paired).values())
    return RunCenter(float(np.mean(deviations)), explained, sum(len(each.names) for each in paired))
