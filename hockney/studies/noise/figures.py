# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detours over time, their distribution and spectrum, the cores compared, and the cost by number of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Estimate
from hockney.draw.figure import Axis, Figure, Series
from hockney.pages.format import precise_share, precise_share_interval, quantity
from hockney.pages.series import estimates
from hockney.studies.noise.results import GRAIN_S, CoreResult, NoiseResults

MAX_CURVES = 4
MAX_POINTS = 600
MAX_INTERVALS = 300
MAX_CORES = 128


def _shown(run: NoiseResults) -> Sequence[CoreResult]:
    """The noisiest cores that have detours."""
    return [result for result in run.cores if len(result.core.lengths_s)][:MAX_CURVES]


def cores_figure(run: NoiseResults) -> Figure | None:
    """The time lost on each core, in the order of ranks."""
    if len(run.cores) < 2:
        return None
    shown = {result.core.name for result in run.cores[:MAX_CORES]}
    results = [result for result in run.cores_by_rank if result.core.name in shown]
    names = tuple(result.core.name for result in results)

    def series(name: str, is_noisy: bool) -> Series:
        rows = [(k, r.core.share) for k, r in enumerate(results) if r.is_noisy == is_noisy]
        return estimates(name, [(float(k), share, _share_text(share)) for k, share in rows])

    ends = [result.core.share.high for result in results if result.core.share.high is not None]
    all_series = (series("like the others", False), series("noisier", True))
    selection = f"The {MAX_CORES} noisiest cores of {len(run.cores)}. " if len(run.cores) > MAX_CORES else ""
    return Figure(
        "noise-cores",
        "Time lost on each core",
        Axis("", "", "linear", names=names),
        Axis("fraction of the time", "share", "linear", include=(0.0, *ends)),
        tuple(each for each in all_series if each.x),
        f"{selection}By fixed work quanta, with 95% intervals.",
    )


def timeline_figure(run: NoiseResults) -> Figure | None:
    """The longest detours of the noisiest cores in equal intervals of their observations."""
    series = []
    for result in _shown(run):
        begins = np.cumsum([0.0, *(o.observed_s for o in result.core.observations)])[:-1]
        starts = np.concatenate(
            [begin + o.start_s for begin, o in zip(begins, result.core.observations, strict=True)]
        )
        lengths = result.core.lengths_s
        longest = _longest(starts, lengths, result.core.observed_s)
        series.append(
            Series(result.core.name, tuple(starts[longest].tolist()), tuple(lengths[longest].tolist()))
        )
    if not series:
        return None
    return Figure(
        "noise-timeline",
        "Detours over time",
        Axis("time observed", "s", "linear", include=(0.0,)),
        Axis("length of the detour", "s"),
        tuple(series),
        f"The longest detour in each of {MAX_INTERVALS} equal intervals; observations follow one another.",
    )


def distribution_figure(run: NoiseResults) -> Figure | None:
    """How often detours are longer than a length."""
    series = []
    for result in _shown(run):
        lengths = np.sort(result.core.lengths_s)
        rates = np.arange(len(lengths), 0, -1) / result.core.observed_s
        chosen = np.unique(np.geomspace(1, len(lengths), min(MAX_POINTS, len(lengths))).astype(int))
        index = len(lengths) - chosen[::-1]
        series.append(
            Series(
                result.core.name,
                tuple(lengths[index].tolist()),
                tuple(rates[index].tolist()),
                kind="line",
            )
        )
    if not series:
        return None
    return Figure(
        "noise-distribution",
        "Distribution of detours",
        Axis("length of the detour", "s"),
        Axis("longer detours a second", "1/s"),
        tuple(series),
        "A vertical drop: many detours of one length, such as timer interrupts.",
    )


def spectrum_figure(run: NoiseResults) -> Figure | None:
    """The spectra of the noisiest cores, with the threshold."""
    series = []
    threshold = 0.0
    for result in _shown(run):
        if result.spectrum is None:
            continue
        frequency, power = _peaks(result.spectrum.frequency_hz, result.spectrum.power)
        series.append(Series(result.core.name, frequency, power, kind="line"))
        threshold = max(threshold, result.spectrum.threshold)
    if not series:
        return None
    frequencies = series[0].x
    limit = Series(
        "threshold", (frequencies[0], frequencies[-1]), (threshold, threshold), kind="line", tone="neutral"
    )
    return Figure(
        "noise-spectrum",
        "Spectrum of detours",
        Axis("frequency", "Hz"),
        Axis("power / random detours", "times"),
        (*series, limit),
        "Peaks above the threshold are periodic detours; these also have peaks at multiples of their rate.",
    )


def costs_figure(run: NoiseResults) -> Figure | None:
    """The barrier with and without noise by number of ranks."""
    costs = [cost for cost in run.costs if cost.grain_s == GRAIN_S]
    if not costs:
        return None
    quiet = Series(
        "without noise",
        tuple(float(cost.ranks) for cost in costs),
        tuple(cost.quiet_barrier_s for cost in costs),
        kind="line",
    )
    noisy = estimates(
        "with noise",
        [(float(cost.ranks), cost.barrier_s, str(quantity(cost.barrier_s.value, "s"))) for cost in costs],
    )
    return Figure(
        "noise-barrier",
        "Predicted barrier",
        Axis("ranks", "", include=tuple(float(cost.ranks) for cost in costs)),
        Axis("time", "s"),
        (noisy, quiet),
        "Of ranks on cores like the observed ones, with 95% intervals over the launches.",
    )


def _longest(starts: np.ndarray, lengths: np.ndarray, observed_s: float) -> np.ndarray:
    """The index of the longest detour in each of MAX_INTERVALS intervals."""
    interval = (starts / observed_s * MAX_INTERVALS).astype(int)
    order = np.lexsort((lengths, interval))
    return order[np.append(np.diff(interval[order]) > 0, True)]


def _peaks(frequency: np.ndarray, power: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The largest power in each of MAX_POINTS intervals of the logarithm of the frequency."""
    bounds = np.unique(np.geomspace(1, len(power), MAX_POINTS).astype(int)) - 1
    highest = [
        first + int(np.argmax(power[first:last]))
        for first, last in zip(bounds, [*bounds[1:].tolist(), len(power)], strict=True)
    ]
    smallest = float(np.max(power)) * 1e-9
    return (
        tuple(frequency[highest].tolist()),
        tuple(np.maximum(power[highest], max(smallest, 1e-6)).tolist()),
    )


def _share_text(share: Estimate) -> str:
    return f"{precise_share(share.value)} ({precise_share_interval(share)})"
