# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often 95% intervals cover the truth: `python benchmarks/coverage.py [--sets 400] [--part hockney ...]`.

Simulated runs (`simulated.py`) go through the same functions as measured ones. The truth of a median is
true(case), the median of all repetitions of the typical launch; the truth of a parameter is the one that
true() was drawn with. n_half is the size from which on everything moves at half of r_inf at least on the true
curve, r_peak its largest bandwidth at the sizes measured, n_half_peak the size from which up
to that size everything moves at half of it at least. Slopes and later intercepts are judged where the right
number of segments was found; how often that is, is in the table too. Populations take turns: tails, modes,
drift.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from simulated import POPULATIONS, Noise, repetitions, simulate

from hockney.core.case import Case
from hockney.core.fit import Estimate, Fit, Subject
from hockney.models import fit_collective, fit_hockney, fit_loggp, median_interval, observe
from hockney.models.fits.collective_forms import step_count
from hockney.models.statistics import Z, half_width
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()

SIZES = [0, *(1 << k for k in range(23))]


@dataclass
class Tally:
    """Hits and relative half widths by name."""

    hits: dict[str, list[bool]] = field(default_factory=dict)
    widths: dict[str, list[float]] = field(default_factory=dict)

    def count(self, name: str, hit: bool) -> None:
        self.hits.setdefault(name, []).append(bool(hit))

    def judge(self, name: str, estimate: Estimate | None, truth: float) -> None:
        """A parameter that the fit does not give is a miss."""
        if estimate is None:
            self.count(name, False)
            return
        low = -math.inf if estimate.low is None else estimate.low
        high = math.inf if estimate.high is None else estimate.high
        self.count(name, low <= truth <= high)
        if truth > 0 and high < math.inf:
            self.widths.setdefault(name, []).append((high - low) / 2 / truth)

    def share(self, name: str) -> float:
        return float(np.mean(self.hits[name]))

    def rows(self) -> list[str]:
        lines = ["| what | share | of | half width |", "|---|---:|---:|---:|"]
        for name, hits in self.hits.items():
            width = f"{100 * np.median(self.widths[name]):.1f}%" if self.widths.get(name) else ""
            lines.append(f"| {name} | {100 * np.mean(hits):.1f}% | {len(hits)} | {width} |")
        return lines


@dataclass(frozen=True)
class Curve:
    """A true time: segments (from size, latency, per_byte), each latency and per_byte >= 0."""

    segments: tuple[tuple[float, float, float], ...]

    def time(self, size: float) -> float:
        k = sum(size >= first for first, _, _ in self.segments) - 1
        return self.segments[k][1] + self.segments[k][2] * size

    @property
    def limit(self) -> float:
        return 1 / self.segments[-1][2]

    def half_size(self) -> float:
        return self.kept_from(self.limit / 2, math.inf)

    def kept_from(self, rate: float, last: float) -> float:
        """The size from which every message up to `last` reaches a bandwidth."""
        slow_until, beyond = 0.0, [*(first for first, _, _ in self.segments[1:]), math.inf]
        for (first, latency, per_byte), end in zip(self.segments, beyond, strict=True):
            left = 1 / rate - per_byte
            size = latency / left if left > 0 else math.inf
            if size > first < last:
                slow_until = max(slow_until, min(size, end, last))
        return slow_until


def random_curve(rng: np.random.Generator) -> Curve:
    """Latency 0.3 to 3 us; up to two protocol changes at any size (not only at powers of two): the first a
    jump by 20-100%, the second a jump by 20-50% or, as often, a kink after which a byte costs half."""
    latency = 10 ** rng.uniform(-6.5, -5.5)
    per_byte = latency / 10 ** rng.uniform(2.7, 3.7)
    segments = [(0.0, latency, per_byte)]
    if rng.random() < 0.8:
        first, slope = 10 ** rng.uniform(3, 4.2), per_byte * rng.uniform(0.3, 0.7)
        before = latency + per_byte * first
        segments.append((first, before * rng.uniform(1.2, 2.0) - slope * first, slope))
        if rng.random() < 0.7:
            first, kink = 10 ** rng.uniform(4.8, 5.4), rng.random() < 0.5
            before = segments[-1][1] + slope * first
            slope *= rng.uniform(0.35, 0.6) if kink else rng.uniform(0.4, 0.8)
            jump = 1.0 if kink else rng.uniform(1.2, 1.5)
            segments.append((first, before * jump - slope * first, slope))
    return Curve(tuple(segments))


def hockney(tally: Tally, noise: Noise, rng: np.random.Generator) -> None:
    """Medians and the piecewise model over 24 sizes from 0 B to 4 MiB."""
    curve = random_curve(rng)
    cases = [Case.of("pingpong", 2, bytes=size) for size in SIZES]
    seen = observe(simulate(lambda case: curve.time(case["bytes"]), cases, noise, rng), CATALOG)
    for each in seen:
        tally.judge(f"median ({noise.population})", Estimate(*each.interval()), curve.time(each.size))
    fit = fit_hockney(seen, Subject.parse("pingpong"))
    peak, at = max((size / curve.time(size), size) for size in SIZES)
    truths = {
        "t_0": curve.segments[0][1],
        "r_inf": curve.limit,
        "n_half": curve.half_size(),
        "r_peak": peak,
        "n_half_peak": curve.kept_from(peak / 2, at),
    }
    for symbol, truth in truths.items():
        _parameter(tally, fit, symbol, truth)
    for point in fit.curve:
        if point.x in SIZES:
            tally.count("curve's band at the sizes measured", point.low <= curve.time(point.x) <= point.high)
    _segments(tally, fit, curve)


def _segments(tally: Tally, fit: Fit, curve: Curve) -> None:
    places = [first for first, _, _ in curve.segments[1:]]
    for place in places:
        near = [c for c in fit.change_points if abs(math.log2(c.value / place)) <= 1]
        tally.count("change points found within an octave", bool(near))
        if near:
            tally.count("change points' intervals", near[0].low <= place <= near[0].high)
    tally.count("right number of segments", len(fit.segments) == len(curve.segments))
    if len(fit.segments) != len(curve.segments):
        return
    last = len(curve.segments) - 1
    for k, (found, (_, latency, per_byte)) in enumerate(zip(fit.segments, curve.segments, strict=True)):
        name = "first" if k == 0 else "last" if k == last else "middle"
        tally.judge(f"per_byte, {name} segment", found.per_byte, per_byte)
        if k:
            tally.judge("latency, later segments", found.latency, latency)


def loggp(tally: Tally, noise: Noise, rng: np.random.Generator) -> None:
    """Five sizes from 1 B to 16 KiB, trains of 16 messages, delays of 20 us."""
    latency, send, receive, gap = 10 ** rng.uniform((-6.3, -7, -7, -6.8), (-5.7, -6.3, -6.3, -6.2))
    per_byte, send_byte, receive_byte = 10 ** rng.uniform((-10.3, -11, -11), (-9.3, -10, -10))
    sizes = (1, 64, 512, 4096, 16384)

    def true(case: Case) -> float:
        size = case["bytes"]
        if case.workload == "receive_overhead":
            return receive + receive_byte * (size - 1)
        more, delay = case["messages"] - 1, case["delay"]
        both = send + receive + (send_byte + receive_byte + per_byte) * (size - 1)
        step = max(send + send_byte * (size - 1) + delay, gap + per_byte * (size - 1))
        return 2 * (latency + both) + more * (step - delay)

    trains = ((1, 0.0), (16, 0.0), (16, 2e-5))
    cases = [Case.of("prtt", 2, bytes=s, messages=n, delay=d) for s in sizes for n, d in trains]
    cases += [Case.of("receive_overhead", 2, bytes=s, delay=1e-4) for s in sizes]
    # While nothing but the sender works a train is limited by the larger of gap and overhead.
    if gap < send or per_byte < send_byte:
        return loggp(tally, noise, rng)
    fit = fit_loggp(observe(simulate(true, cases, noise, rng), CATALOG), Subject.parse("prtt"))
    truths = {
        "L": latency, "o_s": send, "o_r": receive, "g": gap,
        "G": per_byte, "O_s": send_byte, "O_r": receive_byte,
    }  # fmt: skip
    for symbol, truth in truths.items():
        _parameter(tally, fit, symbol, truth)


def collective(tally: Tally, noise: Noise, rng: np.random.Generator) -> None:
    """2, 3, 4 and 8 ranks, eight sizes from 8 B to 32 KiB, either form."""
    form = ("logarithmic", "linear")[int(rng.integers(2))]
    a, b = 10 ** rng.uniform(-6.5, -5.5, 2)
    c = b / 10 ** rng.uniform(2.5, 4)
    cases = [Case.of("bcast", p, bytes=8 * 4**k) for p in (2, 3, 4, 8) for k in range(7)]

    def true(case: Case) -> float:
        return a + (b + c * case["bytes"]) * step_count(form, case.ranks)

    fits = fit_collective(observe(simulate(true, cases, noise, rng), CATALOG), Subject.parse("bcast"))
    fit = next(f for f in fits if f.model == form)
    for symbol, truth in {"a": a, "b": b, "c": c}.items():
        _parameter(tally, fit, symbol, truth)
    tally.count("right form preferred", fit.preferred)


def blend(tally: Tally, noise: Noise, rng: np.random.Generator) -> None:
    """combine.half_width on normal values: what its rule promises whatever the ratio of the spreads."""
    for launches in (2, 3, 5):
        for ratio in (0.0, 0.5, 1.0, 2.0, 5.0):
            values = math.sqrt(1 + ratio**2) * rng.standard_normal((50, launches))
            half = half_width(values, Z / math.sqrt(launches))
            for hit in np.abs(values.mean(axis=1)) <= half:
                tally.count(f"{launches} launches, between / within {ratio:g}", hit)


def stopping(tally: Tally, noise: Noise, rng: np.random.Generator) -> None:
    """The interval at which the engine stops (engine/measure/measure.cpp), in one launch: it looks whenever
    half as many more repetitions were made, until there are 300 and the interval is within 2%."""
    times = repetitions(noise.population, 20000, rng)
    done = 30
    while True:
        median, low, high = median_interval(times[:done])
        if (done >= 300 and (high - low) / 2 / median <= 0.02) or done == len(times):
            break
        done = min(len(times), done + done // 2 + 1)
    tally.judge(f"median where the engine stops ({noise.population})", Estimate(median, low, high), 1.0)


def _parameter(tally: Tally, fit: Fit, symbol: str, truth: float) -> None:
    found = fit.parameter(symbol)
    tally.judge(symbol, None if found is None else found.estimate, truth)


PARTS: dict[str, Callable[[Tally, Noise, np.random.Generator], None]] = {
    "hockney": hockney,
    "loggp": loggp,
    "collective": collective,
    "blend": blend,
    "stopping": stopping,
}


def study(part: str, sets: int, noise: Noise, seed: int = 1) -> Tally:
    """`sets` data sets of one part, the populations taking turns; `noise.population` is not used."""
    tally, rng = Tally(), np.random.default_rng(seed)
    for k in range(sets):
        PARTS[part](tally, replace(noise, population=POPULATIONS[k % len(POPULATIONS)]), rng)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the models' 95% intervals on simulated runs.")
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument(
        "--shared", type=float, default=0.01, help="relative spread of launches, all cases alike"
    )
    parser.add_argument("--own", type=float, default=0.003, help="relative spread of launches, case by case")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    noise = Noise("", asked.launches, asked.repetitions, asked.shared, asked.own)
    for part in asked.part or PARTS:
        begin = time.perf_counter()
        tally = study(part, asked.sets, noise, asked.seed)
        print(f"\n### {part}: {asked.sets} data sets, {time.perf_counter() - begin:.0f} s\n")
        print("\n".join(tally.rows()), flush=True)


if __name__ == "__main__":
    main()
