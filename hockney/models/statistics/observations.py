# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The models' view of the records: one observation per case.

How it is computed (each launch's visits, and how launches are combined) is private to this folder. Times are
represented by their logarithms: errors of times are relative, launches differ by factors, and an interval of
a time must not reach below zero.

Times read from another program's output are rounded. A time printed with an error of up to h, such as 0.20 us
with two decimals, is off by up to h / t, in all launches in the same direction if they hardly differ.
Launches that print the same number may differ by h as well: as uniformly distributed errors they have the
variance h**2 / 3, so that the interval of the mean of n equal numbers is Student's with the standard error h
/ sqrt(3 n) (W. F. Sheppard, Proc. London Math. Soc. 29 (1898) 353)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Modes
from hockney.core.record import ROUNDING, Record
from hockney.models.statistics.location import (
    Z,
    center,
    half_width,
    half_width_of_mean,
    student,
    winsorise_if_enough,
)
from hockney.models.statistics.modes import fast_visits, find_modes, mode_margins, undisturbed_half_width
from hockney.models.statistics.visits import (
    LaunchTimes,
    half_width_in_time,
    times_of_visits,
)

HalfWidths = tuple[np.ndarray, np.ndarray]
"""How far the ends of each launch's interval are below and above its log time."""
WIDE = 0.7
"""The log of an interval whose ends are a factor of two apart."""


@dataclass(frozen=True)
class Observation:
    """One case of a `workload` of the catalog. The arrays have one entry per launch: log of its typical time
    (the median of its only visit, the centre of many), how far the ends of its 95% interval are below and
    above it (log as well, nan if there is no interval), and the quantile that the interval used. `visits` are
    the logs of the medians of each launch's visits, in order, `visits_at_s` their start times. `chosen_from`
    is the observation with all visits, if these are only those of the fastest mode. `inferred` are the
    launches that the case missed. It has no interval if it missed an `unknown_change`: launches in which
    other cases differed and no similar one was measured."""

    case: Case
    workload: Workload
    launches: tuple[str, ...]
    log_typical: np.ndarray
    below: np.ndarray
    above: np.ndarray
    quantile: np.ndarray
    errors: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)
    visits: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    visits_at_s: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    chosen_from: Observation | None = field(default=None, repr=False, compare=False)
    inferred: Inferred | None = field(default=None, repr=False, compare=False)
    unknown_change: bool = False

    @property
    def role(self) -> str:
        return self.workload.role

    @property
    def size(self) -> float:
        """The case's size as defined by the catalog; 0 for a workload without one, such as a barrier."""
        return self.workload.size_of(self.case)

    @property
    def all_launches(self) -> Observation:
        """The same with the inferred launches among its own."""
        return self if self.inferred is None else self.inferred.observation

    @property
    def log_center(self) -> float:
        """Log of the typical time: the robust centre of the launches' logarithms."""
        return float(center(self.all_launches.log_typical))

    @property
    def inference_half_width(self) -> float:
        """Half width of the 95% interval of `log_center` due to inferred launches; 0 without them."""
        return 0.0 if self.inferred is None else self.inferred.half_width

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log time minus its bias. The median of n times is the quantile function at a random
        position p around 1/2; if that function is curved, the mean of its value is off by half its curvature
        times the variance of p, which is the distance between the middle of the interval and the median,
        divided by z**2. It matters if a model averages over many cases. Not for intervals so wide that they
        may show single outliers instead of curvature."""
        is_wide = ~(self.below + self.above < WIDE)
        return self.log_typical - np.where(is_wide, 0.0, (self.above - self.below) / 2 / Z**2)

    def half_widths(self, at: np.ndarray | slice) -> HalfWidths:
        """`below` and `above` of some launches, rescaled to the normal quantile."""
        quantile = self.quantile[at]
        return self.below[at] / quantile * Z, self.above[at] / quantile * Z

    def indices_of(self, launches: Iterable[str]) -> np.ndarray:
        """The indices of these launches."""
        place = {name: k for k, name in enumerate(self.launches)}
        return np.array([place[name] for name in launches], dtype=int)

    @property
    def standard_error_within(self) -> float:
        """Standard error of `log_center` from the spread within launches alone, nan if unknown."""
        return half_width_of_mean((self.below + self.above) / 2 / self.quantile)

    @property
    def launch_spread(self) -> tuple[float | None, float | None]:
        """The standard deviation of the launches' log times, without outliers if there are enough to identify
        them, and that which the spread within launches predicts; None with one launch, or if unknown."""
        count = len(self.log_typical)
        if count < 2:
            return None, None
        spread = float(winsorise_if_enough(self.log_typical).std(ddof=1))
        expected = self.standard_error_within / Z * math.sqrt(count)
        return spread, expected if math.isfinite(expected) else None

    def interval(self) -> tuple[float, float, float]:
        """(typical time, low, high) in seconds over all launches; nan for unknown ends."""
        center = self.log_center
        if self.unknown_change:
            return float(np.exp(center)), float("nan"), float("nan")
        below, above = (self.inferred or self).half_widths_of_center()
        return float(np.exp(center)), float(np.exp(center - below)), float(np.exp(center + above))

    def half_widths_of_center(self) -> tuple[float, float]:
        """How far the ends of the interval of `log_center` are below and above it, if all launches were
        measured."""
        in_time = half_width_in_time(self.visits, self.visits_at_s)
        below, above = (
            max(float(half_width(self.log_typical, within)), in_time, least)
            for within, least in zip(self.half_widths_within(), self.least_half_widths(), strict=True)
        )
        return below, above

    def half_widths_within(self) -> tuple[float, float]:
        """The same as the spread within launches predicts them, nan if unknown."""
        # Several launches determine the correlation better than each alone: t - 1.96 falls as the degrees of
        # freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        return half_width_of_mean(self.below * shrink), half_width_of_mean(self.above * shrink)

    @property
    def rounding_half_width(self) -> float:
        """The least half width of the interval of `log_center` due to the rounding of printed numbers; 0 for
        other times."""
        return rounding_half_width(self.records, self.log_center)

    def least_half_widths(self) -> tuple[float, float]:
        """The least that the choice of the visits in the fastest mode implies, that of modes of which the
        machine went through a few cycles only, and that of printed numbers."""
        below, above = mode_margins(self.modes, self.visits, self.visits_at_s)
        rounding = self.rounding_half_width
        below, above = max(below, rounding), max(above, rounding)
        if self.chosen_from is None:
            return below, above
        all_visits = self.chosen_from
        choice = undisturbed_half_width(all_visits.visits, all_visits.visits_at_s)
        return max(below, choice), max(above, choice)

    @cached_property
    def modes(self) -> Modes | None:
        """The two modes of its visits, if they are clearly separate."""
        return find_modes(self.visits, self.visits_at_s)

    @property
    def undisturbed(self) -> Observation | None:
        """The case in its fastest mode, from the launches in which it occurred; None if there are too few
        visits to detect modes, as in runs with one visit per launch."""
        whole = self.all_launches
        fast = fast_visits(whole.visits)
        if fast is None:
            return None
        used = [k for k, of in enumerate(fast) if of.any()]
        times = launch_fields(
            [times_of_visits(whole.visits[k][fast[k]], whole.visits_at_s[k][fast[k]]) for k in used]
        )
        chosen = replace(whole.select_launches(used), chosen_from=whole, **times)
        return chosen if self.inferred is None else self.inferred.attach_to(chosen)

    def select_launches(self, indices: Sequence[int]) -> Observation:
        """The same with only the launches at these indices."""
        at = np.array(indices, dtype=int)
        names = tuple(self.launches[k] for k in indices)
        return replace(
            self,
            launches=names,
            log_typical=self.log_typical[at],
            below=self.below[at],
            above=self.above[at],
            quantile=self.quantile[at],
            records=tuple(record for record in self.records if record.launch in names),
            visits=tuple(self.visits[k] for k in indices),
            visits_at_s=tuple(self.visits_at_s[k] for k in indices),
        )


@dataclass(frozen=True)
class Inferred:
    """The launches that a case missed, inferred from similar cases (`missed_launches`). `observation` is its
    observation with these launches among its own; in `widest`, each is as far from its own ones as the
    similar cases allow. `apart` is the half width of the logarithm of each inferred time due to the
    difference of the similar cases, `paired` that of the centre of the ratios to them."""

    observation: Observation
    widest: Observation
    apart: Mapping[str, float]
    paired: float

    @property
    def half_width(self) -> float:
        """Half width of the 95% interval of `log_center` due to the inference. With the share f of the
        launches inferred, the centre is the mean of the case's own launches with the weight 1 - f, and
        depends on the ratio to the similar cases with the weight f. The interval of `observation` takes all
        launches for measured: for it, the variance of the mean of the case's own ones counts (1 - f) ** 2
        times."""
        apart = [self.apart.get(launch, 0.0) for launch in self.observation.launches]
        measured = sum(launch not in self.apart for launch in self.observation.launches) / len(apart)
        return math.hypot(math.sqrt(1 - measured**2) * self.paired, sum(apart) / len(apart))

    def half_widths_of_center(self) -> tuple[float, float]:
        """How far the ends of the interval of `log_center` are below and above it, as for an observation,
        including the error of the inference."""
        sides = zip(
            self.observation.half_widths_of_center(), self.widest.half_widths_of_center(), strict=True
        )
        below, above = (float(np.hypot(max(side), self.half_width)) for side in sides)
        return below, above

    def attach_to(self, observation: Observation) -> Observation:
        """The measured launches of `observation`, some of the same launches, with these inferred ones."""
        measured = [k for k, launch in enumerate(observation.launches) if launch not in self.apart]
        return replace(
            observation.select_launches(measured),
            inferred=replace(self, observation=observation, widest=observation),
        )


def shared_launches(cases: Sequence[Observation]) -> list[str]:
    """The launches that measured all of these cases (at least one), in the order of the first."""
    others = [set(case.launches) for case in cases[1:]]
    return [name for name in cases[0].launches if all(name in other for other in others)]


def log_ratios(
    numerator: Observation, denominator: Observation, launches: Sequence[str]
) -> tuple[np.ndarray, HalfWidths]:
    """The log ratio of two cases in each of these launches, which measured both, and how far the ends of its
    interval are below and above it."""
    above, below = numerator.indices_of(launches), denominator.indices_of(launches)
    logs = numerator.log_typical[above] - denominator.log_typical[below]
    return logs, half_widths_of_ratio(numerator.half_widths(above), denominator.half_widths(below))


def half_widths_of_ratio(numerator: HalfWidths, denominator: HalfWidths) -> HalfWidths:
    """Half widths of log ratios: below, a ratio has the lower end of the one and the upper end of the
    other."""
    return np.hypot(numerator[0], denominator[1]), np.hypot(numerator[1], denominator[0])


def launch_fields(launch_times: Sequence[LaunchTimes]) -> dict[str, Any]:
    """The fields of an observation that are computed from its launches' times."""
    return {
        "log_typical": np.array([launch.center for launch in launch_times]),
        "below": np.array([launch.below for launch in launch_times]),
        "above": np.array([launch.above for launch in launch_times]),
        "quantile": np.array([launch.quantile for launch in launch_times]),
        "visits": tuple(launch.visits for launch in launch_times),
        "visits_at_s": tuple(launch.at_s for launch in launch_times),
    }


def rounding_half_width(records: Sequence[Record], log_center: float) -> float:
    """The least half width of the interval of the log of the typical time; 0 for times that were not
    rounded."""
    if not records or records[0].origin != "imported":
        return 0.0
    error = max(record.metric(ROUNDING) or 0.0 for record in records) / math.exp(log_center)
    count = len(records)
    hidden = student(count - 1) * error / math.sqrt(3 * count) if count > 1 else 0.0
    return math.log1p(max(error, hidden))


def pool_launches(equivalent: Sequence[Observation]) -> Observation:
    """All measured launches of a case with equivalent settings, as one observation."""
    first, *others = equivalent
    if not others:
        return first
    chosen = [seen.chosen_from for seen in equivalent if seen.chosen_from is not None]
    return replace(
        first,
        launches=tuple(name for seen in equivalent for name in seen.launches),
        log_typical=np.concatenate([seen.log_typical for seen in equivalent]),
        below=np.concatenate([seen.below for seen in equivalent]),
        above=np.concatenate([seen.above for seen in equivalent]),
        quantile=np.concatenate([seen.quantile for seen in equivalent]),
        errors=sum(seen.errors for seen in equivalent),
        records=tuple(record for seen in equivalent for record in seen.records),
        visits=tuple(visits for seen in equivalent for visits in seen.visits),
        visits_at_s=tuple(at_s for seen in equivalent for at_s in seen.visits_at_s),
        chosen_from=pool_launches(chosen) if len(chosen) == len(equivalent) else None,
        inferred=None,
        unknown_change=any(seen.unknown_change for seen in equivalent),
    )
