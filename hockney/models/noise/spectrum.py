# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Periodic detours of a core, such as timer interrupts: peaks of the periodogram that chance does not
explain.

Each observation is a series of the time lost in bins; its periodogram is |FFT|**2. If detours come at random,
each value divided by the expected one is exponentially distributed, and the mean over K observations has a
gamma distribution with shape K. The expected value is the median of the neighbouring frequencies, so that
noise in bursts, whose spectrum falls with the frequency, has no peaks. A peak exceeds the gamma quantile at
which one of all frequencies and cores would exceed it by chance with a probability of 2% (Bonferroni); the
uncertainty of the median raises this to less than 5% (tests/models)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.models.noise.observations import MIN_UNITS, Core, Observation
from hockney.models.scipy_functions import chi_square_upper_quantile

BIN_S = 1e-4
FAMILY_ERROR = 0.02
NEIGHBOURS = 301
"""Frequencies whose median is the expected power."""
FIRST_FREQUENCY = 3
"""Lower frequencies, in cycles per observation, are trends."""
MAX_WEIGHT = 10.0
"""A detour weighs at most this many times the median one: rare long ones must not mask the others."""
MAX_COMPONENTS = 5
MIN_FUNDAMENTAL = 0.1
"""Power of the fundamental frequency relative to its strongest multiple."""
MIN_SHARE = 0.005
"""Fraction of the core's lost time. Weaker components are beats of stronger ones."""
MIN_CONTRAST = 6.0
"""Power relative to the median of frequencies nearby."""
MIN_STEADY_SHARE = 0.8
"""Fraction of the launches in which a component must be present to be steady."""
ALIAS_ORDERS = (1, 2, 3)
MIN_ALIAS = 0.1
"""Frequency of an alias relative to the rate of the quanta. Lower ones are weak, since detours are seen at
most one quantum late."""
MAX_CANDIDATES = 4
MAX_EVENTS = 5_000
"""Of a core, for the refinement of a frequency."""


@dataclass(frozen=True)
class Spectrum:
    """`power` by frequency, relative to that of random detours, and the `threshold` for peaks."""

    frequency_hz: np.ndarray = field(repr=False)
    power: np.ndarray = field(repr=False)
    threshold: float


@dataclass(frozen=True)
class Component:
    """Detours that recur with a frequency. `share` is the fraction of the time that they take, `power` the
    height of the peak relative to random detours. `is_steady`: they recur in almost every launch, unlike the
    time slices of a program that competes for the core for a while."""

    frequency_hz: float
    share: float
    power: float
    is_steady: bool


def spectrum(core: Core, cores: int = 1) -> Spectrum | None:
    """The mean periodogram of a core's observations, one of `cores` that are tested. None without detours or
    if the observations are too short."""
    observations = [o for o in core.observations if len(o.start_s) >= 2]
    if not observations:
        return None
    duration_s = min(o.observed_s for o in observations)
    bins = int(duration_s / BIN_S)
    if bins < 2 * NEIGHBOURS:
        return None
    max_weight = MAX_WEIGHT * float(np.median(core.lengths_s))
    powers = np.mean([_periodogram(o, bins, max_weight) for o in observations], axis=0)[FIRST_FREQUENCY:]
    frequency = np.arange(FIRST_FREQUENCY, FIRST_FREQUENCY + len(powers)) / (bins * BIN_S)
    expected = _running_median(powers) / _quantile_of_mean(0.5, len(observations))
    relative = powers / np.maximum(expected, 1e-9 * float(np.max(powers)))
    tail = FAMILY_ERROR / (len(powers) * max(1, cores))
    threshold = _quantile_of_mean(tail, len(observations))
    return Spectrum(frequency, relative, threshold)


def components(core: Core, found: Spectrum | None) -> tuple[Component, ...]:
    """The periodic detours of a core, without multiples of their frequencies, strongest first."""
    if found is None:
        return ()
    frequency, power = found.frequency_hz, found.power
    step_hz = float(frequency[1] - frequency[0])
    peaks = [
        int(k)
        for k in np.flatnonzero(power > found.threshold)
        if power[k] == np.max(power[max(0, k - 2) : k + 3])
    ]
    peaks.sort(key=lambda k: -power[k])
    result: list[Component] = []
    for _ in range(MAX_COMPONENTS):
        if not peaks:
            break
        strongest = peaks[0]
        fundamental, refined = _fundamental(core.observations, found, peaks)
        share = coherent_share(core.observations, refined)
        if share >= MIN_SHARE * core.share.value:
            result.append(Component(refined, share, float(power[fundamental]), _is_steady(core, refined)))
        peaks = [
            k
            for k in peaks
            if k != strongest
            and not _is_multiple(frequency[k], refined, step_hz)
            and not _is_alias(frequency[k], refined, core.quanta_hz, step_hz)
        ]
    return tuple(c for c in result if not any(follows(c, other, core, step_hz) for other in result))


def follows(component: Component, other: Component, core: Core, step_hz: float) -> bool:
    """Whether a component is a multiple or an alias of a stronger one. Its peak may be higher, relative to
    the frequencies nearby."""
    frequency, fundamental = component.frequency_hz, other.frequency_hz
    return component.share < other.share and (
        _is_multiple(frequency, fundamental, step_hz)
        or _is_alias(frequency, fundamental, core.quanta_hz, step_hz)
    )


def _is_steady(core: Core, frequency: float) -> bool:
    """Whether the frequency is present in almost every launch, or in almost every observation of fewer than
    MIN_UNITS launches. With fewer observations this is unknown."""
    units = [core.in_launches([launch]).observations for launch in core.launches]
    if len(units) < MIN_UNITS:
        units = [(observation,) for observation in core.observations]
    present = [
        any(len(o.start_s) for o in observations) and coherent_share(observations, frequency) > 0
        for observations in units
    ]
    return len(units) >= MIN_UNITS and sum(present) >= MIN_STEADY_SHARE * len(units)


def _is_alias(frequency: float, fundamental: float, quanta_hz: float, step_hz: float) -> bool:
    """Whether a frequency differs from a multiple of another one by a multiple of the rate of the quanta:
    detours are only seen at the end of a quantum, which samples their train."""
    if frequency < MIN_ALIAS * quanta_hz or not quanta_hz:
        return False
    shifted = [abs(frequency + sign * order * quanta_hz) for order in ALIAS_ORDERS for sign in (-1, 1)]
    return any(abs(each - round(each / fundamental) * fundamental) <= 1.5 * step_hz for each in shifted)


def _fundamental(
    observations: Sequence[Observation], found: Spectrum, peaks: Sequence[int]
) -> tuple[int, float]:
    """The lowest strong peak of which the strongest one, the first, is a multiple, and its frequency."""
    frequency, power = found.frequency_hz, found.power
    strongest = peaks[0]
    step_hz = float(frequency[1] - frequency[0])
    lower = [k for k in peaks if k < strongest and power[k] >= MIN_FUNDAMENTAL * power[strongest]]
    candidates = [k for k in sorted(lower) if _may_be_multiple(frequency[strongest], frequency[k], step_hz)]
    for k in [*candidates[:MAX_CANDIDATES], strongest]:
        refined = refined_frequency(observations, float(frequency[k]), step_hz, float(frequency[-1]))
        if k == strongest or _is_multiple(float(frequency[strongest]), refined, step_hz):
            return k, refined
    raise AssertionError("the strongest peak is a multiple of itself")


def _quantile_of_mean(tail: float, count: int) -> float:
    """Value that the mean of `count` exponential variables with mean 1 exceeds with probability `tail`."""
    return chi_square_upper_quantile(2 * count, tail) / (2 * count)


def _may_be_multiple(frequency: float, fundamental: float, step_hz: float) -> bool:
    """Whether a frequency may be a multiple of another one, of which each is known to half a step."""
    multiple = round(frequency / fundamental)
    return abs(frequency - multiple * fundamental) <= (multiple + 1) * step_hz / 2


def _is_multiple(frequency: float, fundamental: float, step_hz: float) -> bool:
    multiple = round(frequency / fundamental)
    tolerance = max(1.5 * step_hz, 1e-3 * frequency)
    return multiple >= 1 and abs(frequency - multiple * fundamental) <= tolerance


def _periodogram(observation: Observation, bins: int, max_weight: float) -> np.ndarray:
    centers = observation.start_s + observation.length_s / 2
    weights = np.minimum(observation.length_s, max_weight)
    index = (centers / BIN_S).astype(int)
    inside = index < bins
    series = np.bincount(index[inside], weights[inside], bins)
    return np.asarray(np.abs(np.fft.rfft(series - series.mean())) ** 2)


def _running_median(values: np.ndarray) -> np.ndarray:
    half = NEIGHBOURS // 2
    padded = np.pad(values, half, mode="reflect")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, NEIGHBOURS), axis=1))


def refined_frequency(
    observations: Sequence[Observation], frequency: float, step_hz: float, max_hz: float
) -> float:
    """The frequency near `frequency` at which the detours and their multiples are most in phase. Multiples
    resolve the frequency more finely: each one doubles the resolution of the one before."""
    events = _Events.of(observations, MAX_EVENTS)
    multiple, width = 1, step_hz
    while True:
        candidates = frequency + np.linspace(-width, width, 33)
        frequency = float(candidates[int(np.argmax(events.power(multiple * candidates).sum(axis=0)))])
        if 2 * multiple * frequency > max_hz or multiple >= 32:
            return frequency
        multiple, width = 2 * multiple, width / 4


def coherent_share(observations: Sequence[Observation], frequency: float) -> float:
    """The fraction of the time in detours that recur with this frequency: the amplitude of the lost time,
    less that at frequencies nearby, which other detours explain; 0 if it is hardly larger. Aliases, which the
    bins of a periodogram show, have no amplitude."""
    events = _Events.of(observations, MAX_EVENTS)
    offsets = np.arange(5, 15) / float(np.min(events.observed_s))
    power = events.power(np.concatenate((frequency - offsets, frequency + offsets, [frequency])))
    power = np.mean(power / events.observed_s[:, None] ** 2, axis=0)
    nearby = float(np.median(power[:-1]))
    return float(np.sqrt(power[-1] - nearby)) if power[-1] > MIN_CONTRAST * nearby else 0.0


@dataclass(frozen=True)
class _Events:
    """The detours of observations with detours, one observation after the other, from `first` on."""

    centers_s: np.ndarray
    lengths_s: np.ndarray
    first: np.ndarray
    observed_s: np.ndarray

    @classmethod
    def of(cls, observations: Sequence[Observation], max_count: int) -> _Events:
        """Of the first observations, with about `max_count` detours."""
        chosen: list[Observation] = []
        count = 0
        for observation in observations:
            if len(observation.start_s) and (count < max_count or not chosen):
                chosen.append(observation)
                count += len(observation.start_s)
        counts = [len(o.start_s) for o in chosen]
        return cls(
            np.concatenate([o.start_s + o.length_s / 2 for o in chosen]),
            np.concatenate([o.length_s for o in chosen]),
            np.cumsum([0, *counts[:-1]]),
            np.array([o.observed_s for o in chosen]),
        )

    def power(self, frequencies: np.ndarray) -> np.ndarray:
        """The squared amplitude of the lost time for each observation (rows) and frequency (columns)."""
        waves = self.lengths_s[:, None] * np.exp(-2j * np.pi * np.outer(self.centers_s, frequencies))
        return np.asarray(np.abs(np.add.reduceat(waves, self.first, axis=0)) ** 2)
