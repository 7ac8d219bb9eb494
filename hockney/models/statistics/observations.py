# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The models' view of the records: one observation per case.

The computation (the visits of each launch, and the combination of launches) is private to this folder. Times
are represented by their logarithms: errors of times are relative, launches differ by factors, and the
interval of a time must stay positive.

Times read from another program's output are rounded. A time t printed with a rounding error of up to h, such
as 0.20 us with two decimals, has a relative error of up to h / t, with the same sign in all launches if they
hardly differ. Launches that print the same number may also differ by h. Uniformly distributed rounding errors
have the variance h**2 / 3, so the interval of the mean of n equal numbers is Student's with the standard
error h / sqrt(3 n) (W. F. Sheppard, Proc. London Math. Soc. 29 (1898) 353)."""

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
"""Lower and upper half widths of the intervals of log times, one entry per launch."""
MAX_LOG_WIDTH = 0.7
"""Log of the factor between the bounds of a wide interval."""


@dataclass(frozen=True)
class Observation:
    """One case of a `workload` of the catalog. The arrays have one entry per launch: the log of its typical
    time (the median of its only visit, or the centre of many), the lower and upper half widths of its 95%
    interval (logs, nan without an interval), and the quantile used for the interval. `visits` contains the
    logs of the medians of each launch's visits in order, `visits_at_s` their start times. If the visits are
    only those of the fastest mode, `unfiltered` is the observation with all visits. `imputed` describes
    launches that the case missed. There is no interval after an `unknown_change`: other cases changed in
    missed launches in which no similar case was measured."""

    case: Case
    workload: Workload
    launches: tuple[str, ...]
    log_typical: np.ndarray
    lower_widths: np.ndarray
    upper_widths: np.ndarray
    quantile: np.ndarray
    errors: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)
    visits: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    visits_at_s: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    unfiltered: Observation | None = field(default=None, repr=False, compare=False)
    imputed: ImputedLaunches | None = field(default=None, repr=False, compare=False)
    unknown_change: bool = False

    @property
    def role(self) -> str:
        return self.workload.role

    @property
    def size(self) -> float:
        """Size of the case as defined by the catalog; 0 for a workload without a size, such as a barrier."""
        return self.workload.size_of(self.case)

    @property
    def with_imputed_launches(self) -> Observation:
        """The observation with the inferred launches added."""
        return self if self.imputed is None else self.imputed.observation

    @property
    def log_center(self) -> float:
        """Log of the typical time: the robust centre of the launches' logarithms."""
        return float(center(self.with_imputed_launches.log_typical))

    @property
    def inference_half_width(self) -> float:
        """Half width of the 95% interval of `log_center` due to inferred launches; 0 without them."""
        return 0.0 if self.imputed is None else self.imputed.half_width

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log time minus its bias. The median of n times is the quantile function at a random
        position p around 1/2. If that function is curved, the mean of the median is off by half the curvature
        times the variance of p. This is the distance between the middle of the interval and the median,
        divided by z**2. It matters if a model averages over many cases. Wide intervals are not corrected,
        because they may reflect single outliers instead of curvature."""
        is_wide = ~(self.lower_widths + self.upper_widths < MAX_LOG_WIDTH)
        return self.log_typical - np.where(is_wide, 0.0, (self.upper_widths - self.lower_widths) / 2 / Z**2)

    def half_widths(self, indices: np.ndarray | slice) -> HalfWidths:
        """Lower and upper half widths of some launches, rescaled to the normal quantile."""
        quantile = self.quantile[indices]
        return self.lower_widths[indices] / quantile * Z, self.upper_widths[indices] / quantile * Z

    def indices_of(self, launches: Iterable[str]) -> np.ndarray:
        """Indices of these launches."""
        index_by_launch = {name: index for index, name in enumerate(self.launches)}
        return np.array([index_by_launch[name] for name in launches], dtype=int)

    @property
    def standard_error_within(self) -> float:
        """Standard error of `log_center` from the spread within launches alone, nan if unknown."""
        return half_width_of_mean((self.lower_widths + self.upper_widths) / 2 / self.quantile)

    @property
    def launch_spread(self) -> tuple[float | None, float | None]:
        """Standard deviation of the launches' log times, winsorised if there are enough, and the standard
        deviation predicted by the spread within launches. None with one launch, or if unknown."""
        count = len(self.log_typical)
        if count < 2:
            return None, None
        deviation = float(winsorise_if_enough(self.log_typical).std(ddof=1))
        expected_deviation = self.standard_error_within / Z * math.sqrt(count)
        return deviation, expected_deviation if math.isfinite(expected_deviation) else None

    def interval(self) -> tuple[float, float, float]:
        """(typical time, low, high) in seconds over all launches; nan for unknown bounds."""
        log_time = self.log_center
        if self.unknown_change:
            return float(np.exp(log_time)), float("nan"), float("nan")
        lower_width, upper_width = (self.imputed or self).half_widths_of_center()
        return (
            float(np.exp(log_time)),
            float(np.exp(log_time - lower_width)),
            float(np.exp(log_time + upper_width)),
        )

    def half_widths_of_center(self) -> tuple[float, float]:
        """Lower and upper half widths of the interval of `log_center`, assuming that all launches were
        measured."""
        drift_half_width = half_width_in_time(self.visits, self.visits_at_s)
        lower_width, upper_width = (
            max(float(half_width(self.log_typical, within_width)), drift_half_width, min_width)
            for within_width, min_width in zip(self.half_widths_within(), self.min_half_widths(), strict=True)
        )
        return lower_width, upper_width

    def half_widths_within(self) -> tuple[float, float]:
        """Half widths of the interval of `log_center` predicted by the spread within launches, nan if
        unknown."""
        # Together, launches determine the correlation better than one launch: t - 1.96 decreases as the
        # degrees of freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        return half_width_of_mean(self.lower_widths * shrink), half_width_of_mean(self.upper_widths * shrink)

    @property
    def rounding_half_width(self) -> float:
        """Minimum half width of the interval of `log_center` due to the rounding of printed numbers; 0 for
        other times."""
        return rounding_half_width(self.records, self.log_center)

    def min_half_widths(self) -> tuple[float, float]:
        """Lower limits of the half widths of `log_center`, due to the choice of visits in the fastest mode,
        to modes with few observed cycles, and to rounded numbers."""
        lower_width, upper_width = mode_margins(self.modes, self.visits, self.visits_at_s)
        rounding_width = self.rounding_half_width
        lower_width, upper_width = max(lower_width, rounding_width), max(upper_width, rounding_width)
        if self.unfiltered is None:
            return lower_width, upper_width
        all_visits = self.unfiltered
        choice_width = undisturbed_half_width(all_visits.visits, all_visits.visits_at_s)
        return max(lower_width, choice_width), max(upper_width, choice_width)

    @cached_property
    def modes(self) -> Modes | None:
        """The two modes of the visits, if they are clearly separate."""
        return find_modes(self.visits, self.visits_at_s)

    @property
    def fastest_mode(self) -> Observation | None:
        """The case in its fastest mode, from the launches in which it occurred; None if there are too few
        visits to detect modes, as in runs with one visit per launch."""
        complete = self.with_imputed_launches
        fast_masks = fast_visits(complete.visits)
        if fast_masks is None:
            return None
        indices = [index for index, mask in enumerate(fast_masks) if mask.any()]
        fields = launch_fields(
            [
                times_of_visits(
                    complete.visits[index][fast_masks[index]], complete.visits_at_s[index][fast_masks[index]]
                )
                for index in indices
            ]
        )
        fastest = replace(complete.select_launches(indices), unfiltered=complete, **fields)
        return fastest if self.imputed is None else self.imputed.attach_to(fastest)

    def select_launches(self, indices: Sequence[int]) -> Observation:
        """Return a copy with only the launches at these indices."""
        index_array = np.array(indices, dtype=int)
        names = tuple(self.launches[index] for index in indices)
        return replace(
            self,
            launches=names,
            log_typical=self.log_typical[index_array],
            lower_widths=self.lower_widths[index_array],
            upper_widths=self.upper_widths[index_array],
            quantile=self.quantile[index_array],
            records=tuple(record for record in self.records if record.launch in names),
            visits=tuple(self.visits[index] for index in indices),
            visits_at_s=tuple(self.visits_at_s[index] for index in indices),
        )


@dataclass(frozen=True)
class ImputedLaunches:
    """The launches that a case missed, imputed from similar cases (`missed_launches`). `observation` contains
    these launches in addition to the measured ones; in `widest`, each differs as much from the measured ones
    as the similar cases allow. `half_width_by_launch` is the half width of each imputed log time due to the
    difference of the similar cases, `ratio_half_width` that of the centre of the log ratios to them."""

    observation: Observation
    widest: Observation
    half_width_by_launch: Mapping[str, float]
    ratio_half_width: float

    @property
    def half_width(self) -> float:
        """Half width of the 95% interval of `log_center` due to the imputation. If the share f of the
        launches is imputed, the centre is the mean of the case's measured launches with the weight 1 - f, and
        depends on the ratio to the similar cases with the weight f. The interval of `observation` treats all
        launches as measured: it includes the variance of the mean of the measured launches with the factor (1
        - f) ** 2."""
        half_widths = [self.half_width_by_launch.get(launch, 0.0) for launch in self.observation.launches]
        measured_share = sum(
            launch not in self.half_width_by_launch for launch in self.observation.launches
        ) / len(half_widths)
        return math.hypot(
            math.sqrt(1 - measured_share**2) * self.ratio_half_width, sum(half_widths) / len(half_widths)
        )

    def half_widths_of_center(self) -> tuple[float, float]:
        """Lower and upper half widths of the interval of `log_center`, including the error of the
        imputation."""
        sides = zip(
            self.observation.half_widths_of_center(), self.widest.half_widths_of_center(), strict=True
        )
        lower_width, upper_width = (float(np.hypot(max(side), self.half_width)) for side in sides)
        return lower_width, upper_width

    def attach_to(self, observation: Observation) -> Observation:
        """Return the measured launches of `observation`, a subset of the same launches, with these imputed
        ones."""
        measured = [
            index
            for index, launch in enumerate(observation.launches)
            if launch not in self.half_width_by_launch
        ]
        return replace(
            observation.select_launches(measured),
            imputed=replace(self, observation=observation, widest=observation),
        )


def shared_launches(cases: Sequence[Observation]) -> list[str]:
    """Launches that measured all of these cases (at least one), in the order of the first case."""
    other_launches = [set(case.launches) for case in cases[1:]]
    return [name for name in cases[0].launches if all(name in names for names in other_launches)]


def log_ratios(
    numerator: Observation, denominator: Observation, launches: Sequence[str]
) -> tuple[np.ndarray, HalfWidths]:
    """Log ratios of two cases in these launches, which measured both, and the half widths of their
    intervals."""
    numerator_indices, denominator_indices = numerator.indices_of(launches), denominator.indices_of(launches)
    logs = numerator.log_typical[numerator_indices] - denominator.log_typical[denominator_indices]
    return logs, half_widths_of_ratio(
        numerator.half_widths(numerator_indices), denominator.half_widths(denominator_indices)
    )


def half_widths_of_ratio(numerator: HalfWidths, denominator: HalfWidths) -> HalfWidths:
    """Half widths of log ratios: the lower one combines the numerator's lower with the denominator's upper
    half width."""
    return np.hypot(numerator[0], denominator[1]), np.hypot(numerator[1], denominator[0])


def launch_fields(launch_times: Sequence[LaunchTimes]) -> dict[str, Any]:
    """Fields of an `Observation` that are computed from the times of its launches."""
    return {
        "log_typical": np.array([launch.center for launch in launch_times]),
        "lower_widths": np.array([launch.lower_width for launch in launch_times]),
        "upper_widths": np.array([launch.upper_width for launch in launch_times]),
        "quantile": np.array([launch.quantile for launch in launch_times]),
        "visits": tuple(launch.visits for launch in launch_times),
        "visits_at_s": tuple(launch.at_s for launch in launch_times),
    }


def rounding_half_width(records: Sequence[Record], log_center: float) -> float:
    """Minimum half width of the interval of the log typical time; 0 for times that were not rounded."""
    if not records or records[0].origin != "imported":
        return 0.0
    relative_error = max(record.metric(ROUNDING) or 0.0 for record in records) / math.exp(log_center)
    count = len(records)
    hidden_error = student(count - 1) * relative_error / math.sqrt(3 * count) if count > 1 else 0.0
    return math.log1p(max(relative_error, hidden_error))


def pool_launches(equivalent: Sequence[Observation]) -> Observation:
    """Pool all measured launches of a case with equivalent settings into one observation."""
    first, *others = equivalent
    if not others:
        return first
    unfiltered = [observation.unfiltered for observation in equivalent if observation.unfiltered is not None]
    return replace(
        first,
        launches=tuple(name for observation in equivalent for name in observation.launches),
        log_typical=np.concatenate([observation.log_typical for observation in equivalent]),
        lower_widths=np.concatenate([observation.lower_widths for observation in equivalent]),
        upper_widths=np.concatenate([observation.upper_widths for observation in equivalent]),
        quantile=np.concatenate([observation.quantile for observation in equivalent]),
        errors=sum(observation.errors for observation in equivalent),
        records=tuple(record for observation in equivalent for record in observation.records),
        visits=tuple(visits for observation in equivalent for visits in observation.visits),
        visits_at_s=tuple(at_s for observation in equivalent for at_s in observation.visits_at_s),
        unfiltered=pool_launches(unfiltered) if len(unfiltered) == len(equivalent) else None,
        imputed=None,
        unknown_change=any(observation.unknown_change for observation in equivalent),
    )
