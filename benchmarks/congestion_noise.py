# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How often operations next to a load, and noisy cores, are named, and how often clean ones:
`python benchmarks/congestion_noise.py`.
What the noise of a run costs 1024 ranks, predicted and simulated:
`python benchmarks/congestion_noise.py --replay RUN`.

For congestion, the log of the median of each case in a launch is drawn, normal or with the long tails of
Student's t for 3 degrees of freedom. For noise, detours come at random, and one core loses more time.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hockney import api
from hockney.api.noise_trace import save_noise_trace
from hockney.cli.start import guarded
from hockney.launch import smpi
from hockney.measurement.rounds import RECOMPARE_FACTOR, RESERVED_SHARE
from hockney.models.noise.noisy_cores import compare_cores
from hockney.models.noise.observations import Core, Observation, mean_over_launches
from hockney.models.significance import NOTABLE, UNDECIDED_VERDICTS, verdict
from hockney.models.statistics import smallest_detectable_ratio
from hockney.models.statistics.quantile_ratios import ratio_of_launches
from hockney.studies.congestion.results import EARLY_LOOKS
from hockney.studies.noise.results import GRAIN_S, MANY_RANKS, NoiseResults

RATIOS = 9
"""Three operations next to three loads, medians."""
OPERATIONS, PLANNED_CASES = 3, 12
MAX_EXTENSION = 10
"""Launches of a run with extensions, at most, relative to the planned ones."""
CONGESTION = ((5, 0.02), (5, 0.05), (10, 0.02), (10, 0.05), (20, 0.05), (20, 0.1), (50, 0.1))
"""Launches, and the standard deviation of the log of a median in a launch."""
CORES = ((4, 12), (64, 12), (64, 40))
"""Cores, and observations of each."""
DETOURS_HZ, DETOUR_S = 100.0, 20e-6
REPLAYED_REPETITIONS = 3
"""In a simulated launch, because barriers of 1024 ranks take long to simulate."""
MACHINE = """
name = "noisy"
title = "Nodes with the observed noise"
[network]
nodes = [{{count = {ranks}}}]
[[segments]]
send_s = {part_s}
latency_s = {flight_s}
receive_s = {part_s}
[noise]
relative = 0
seed = {seed}
[[detours]]
trace = "noise.toml"
"""
PROGRAM = """
scaling = "weak"
[[phase]]
work = "1ms"
[[phase]]
barrier = true
algorithm = "dissemination"
"""


def judged(logs: np.ndarray) -> tuple[bool, float]:
    """Whether the ratio of medians is named, and the ratio that would be, from its log by launch."""
    estimated = ratio_of_launches(logs, RATIOS)
    smallest = smallest_detectable_ratio(estimated.ratio, estimated.freedom, RATIOS, NOTABLE)
    return verdict(estimated.ratio) == "slower", smallest or 1e6


def extended(logs: np.ndarray, launches: int) -> list[np.ndarray]:
    """The log ratios of each pair that a run of a budget measures: those of the planned launches, and then of
    undecided pairs, while the time of the planned launches' budget lasts."""
    counts = np.full(len(logs), launches)
    remaining = launches * PLANNED_CASES * RESERVED_SHARE / (1 - RESERVED_SHARE)
    compared = total = launches
    is_open = np.array([_is_open(each[:launches]) for each in logs])
    while is_open.any() and (cost := is_open.sum() + math.ceil(is_open.sum() / OPERATIONS)) <= remaining:
        remaining -= cost
        counts += is_open
        total += 1
        if total >= RECOMPARE_FACTOR * compared:
            compared = total
            is_open = np.array([_is_open(each[:count]) for each, count in zip(logs, counts, strict=True)])
    return [each[:count] for each, count in zip(logs, counts, strict=True)]


def _is_open(logs: np.ndarray) -> bool:
    return verdict(ratio_of_launches(logs, EARLY_LOOKS * RATIOS).ratio) in UNDECIDED_VERDICTS


def count_congestion(
    launches: int, noise: float, has_tails: bool, factor: float, runs: int, seed: int, extends: bool
) -> str:
    random = np.random.default_rng(seed)
    found = found_at_limit = false_runs = 0
    limits = []
    for _ in range(runs):
        shape = (2, RATIOS, launches * (MAX_EXTENSION if extends else 1))
        cases = noise * (random.standard_t(3, shape) if has_tails else random.standard_normal(shape))
        clean_logs = cases[0] - cases[1]
        slow_logs = clean_logs + math.log(factor) * (np.arange(RATIOS) == 0)[:, None]
        if extends:
            clean, slow = extended(clean_logs, launches), extended(slow_logs, launches)
        else:
            clean, slow = list(clean_logs), list(slow_logs)
        judgements = [judged(each) for each in clean]
        false_runs += any(is_named for is_named, _ in judgements)
        found += judged(slow[0])[0]
        limits.append(max(limit for _, limit in judgements))
        found_at_limit += judged(clean[0] + math.log(limits[-1]))[0]
    return (
        f"| {launches}{' and more' if extends else ''} | {noise:.0%} "
        f"| {'long tails' if has_tails else 'normal'} | {found / runs:.1%} "
        f"| {np.median(limits):.2f} | {found_at_limit / runs:.1%} | {false_runs / runs:.1%} |"
    )


def observed_core(name: str, excess: float, count: int, random: np.random.Generator) -> Core:
    made = []
    for k in range(count):
        lost_s = float(random.exponential(DETOUR_S, random.poisson(DETOURS_HZ)).sum()) + excess
        nothing = np.zeros(0)
        made.append(Observation(k, float(k), 1.0, lost_s, 1e-5, nothing, nothing))
    return Core(name, tuple(made))


def count_noise(cores: int, observations: int, runs: int, seed: int) -> str:
    random = np.random.default_rng(seed)
    found = false_clean = false_names = 0
    limits = []
    for _ in range(runs):
        quiet = [observed_core(str(k), 0.0, observations, random) for k in range(cores)]
        clean = compare_cores(quiet)
        false_clean += any(each.is_noisy for each in clean)
        limits.append(max(each.detectable for each in clean))
        noisy = observed_core("noisy", limits[-1], observations, random)
        names = {each.core for each in compare_cores([noisy, *quiet[1:]]) if each.is_noisy}
        found += "noisy" in names
        false_names += bool(names - {"noisy"})
    return (
        f"| {cores} | {observations} | {np.median(limits):.2%} | {found / runs:.1%} "
        f"| {false_names / runs:.1%} | {false_clean / runs:.1%} |"
    )


def replay(run: str, launches: int, seed: int) -> Iterator[str]:
    """The predicted cost of a run's noise, and that of SimGrid with the run's noise trace."""
    evidence = api.load(run).evidence
    results = NoiseResults.of(evidence)
    cost = next(each for each in results.costs if (each.ranks, each.grain_s) == (MANY_RANKS, GRAIN_S))
    quiet_s = GRAIN_S + cost.quiet_barrier_s
    smpi.NOISY_REPETITIONS = REPLAYED_REPETITIONS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_noise_trace(evidence, folder / "noise.toml")
        machine, program = folder / "machine.toml", folder / "program.toml"
        part_s = results.message.total_s / 4
        machine.write_text(MACHINE.format(ranks=MANY_RANKS, part_s=part_s, flight_s=2 * part_s, seed=seed))
        program.write_text(PROGRAM)
        options = ("--machine", f"sim:{machine}", "--ranks", str(MANY_RANKS), "--launches", str(launches))
        for what, words, predicted, unit_s in (
            ("barrier (s)", ["barrier algorithm=dissemination sync=window"], cost.barrier_s, 1.0),
            ("step / quiet step", [str(program), "predict=no"], cost.slowdown, quiet_s),
        ):
            out = str(folder / what.split()[0])
            with contextlib.redirect_stdout(sys.stderr):
                guarded(["run", *words, *options, "--budget", "1h", "--out", out, "-q"])
            records = [r for r in api.load(out).evidence.run.records if r.parse_case().ranks == MANY_RANKS]
            simulated = mean_over_launches([[time_s / unit_s for time_s in r.times_s] for r in records])
            count = sum(len(r.times_s) for r in records) * int(records[0].parse_case().number("iterations"))
            cells = [f"{e.value:.4g} | {e.low:.4g} to {e.high:.4g}" for e in (predicted, simulated)]
            yield f"| {what} | {' | '.join(cells)} | {len(records)} | {count} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--factor", type=float, default=1.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", metavar="RUN", help="a run of 'hockney run noise'")
    parser.add_argument("--launches", type=int, default=3)
    given = parser.parse_args()
    if given.replay:
        print("| 1024 ranks | predicted | 95% | simulated | 95% | launches | operations |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for row in replay(given.replay, given.launches, given.seed):
            print(row, flush=True)
        return
    print("| launches | spread | kind | named | from | named then | clean |\n|---|---|---|---|---|---|---|")
    for launches, noise in CONGESTION:
        for has_tails in (False, True):
            for extends in (False, True):
                print(
                    count_congestion(
                        launches, noise, has_tails, given.factor, given.runs, given.seed, extends
                    ),
                    flush=True,
                )
    print("\n| cores | observations | from | named then | false | clean |\n|---|---|---|---|---|---|")
    for cores, observations in CORES:
        print(count_noise(cores, observations, max(100, given.runs // cores), given.seed), flush=True)


if __name__ == "__main__":
    main()
