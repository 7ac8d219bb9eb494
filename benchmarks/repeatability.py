# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How repeatable surveys are, compared with a peer's method and with what the machine allows.

    python benchmarks/repeatability.py trace   [--minutes 10] [--busy]
    python benchmarks/repeatability.py surveys [--surveys 10] [--budget 60] [--busy] [--out FILE]
                                               [--keep FOLDER]
    python benchmarks/repeatability.py kept FOLDER

`trace` measures a few operations alternately, about every 20 ms, for minutes. It prints how much each
candidate for the centre differs between neighboring windows of the trace: the repeatability of an ideal
observer, who sees every moment of a survey of that length.

`surveys` alternates surveys with the peer's method for the same time (one launch, one long loop for each
case, its mean) and with an ideal observer, who only measures the few operations for that time. It prints how
much two of them differ (typically, and in one of ten pairs), how wide the intervals are, how often intervals
of ratios cover 1, and for the few operations the spread of surveys over that of the observer, which is the
machine's own. With --busy, four processes come and go meanwhile.

`kept` prints how often the intervals of ratios cover 1, for both costs of all cases of surveys that were
kept, so that another rule for intervals needs no new surveys."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from hockney import api, build
from hockney.core.case import Case
from hockney.core.fit import Cost, Estimate, Summary
from hockney.core.record import Record
from hockney.discovery.cpu import processors
from hockney.discovery.find import find_mpi
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.models.statistics import center, fast_visits

WATCHED = (
    "pingpong bytes=8",
    "pingpong bytes=4KiB",
    "barrier",
    "allreduce bytes=8",
)
WINDOWS_S = (20.0, 60.0)
VISIT_S = 0.005
SMALL = 4096
"""Bytes: larger messages are not looked at."""
CANDIDATES: dict[str, Callable[[np.ndarray], float]] = {
    "median": lambda v: float(np.median(v)),
    "mean of logs": lambda v: float(np.mean(v)),
    "10% trimmed": lambda v: trimmed(v, 0.1),
    "25% trimmed": lambda v: trimmed(v, 0.25),
    "10% quantile": lambda v: float(np.quantile(v, 0.1)),
    "robust mean": lambda v: float(center(v)),
    "undisturbed": lambda v: float(center(v[fast_visits([v])[0]])),
}
BUSY = """
import random, time
while True:
    end = time.monotonic() + random.uniform(0.2, 4)
    while time.monotonic() < end: pass
    time.sleep(random.uniform(0.2, 6))
"""


def trimmed(values: np.ndarray, share: float) -> float:
    cut = int(share * len(values))
    return float(np.sort(values)[cut : len(values) - cut].mean())


@contextlib.contextmanager
def others(busy: bool) -> Iterator[None]:
    """Four processes that compute for seconds and sleep for seconds, or none."""
    running = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(4 if busy else 0)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def bench() -> tuple[MpiLauncher, build.Engine]:
    mpi = find_mpi("openmpi")
    engine = build.engine(mpi)
    return MpiLauncher(mpi, engine.path, processors().cores), engine


def watch(seconds: float) -> Iterator[tuple[Record, np.ndarray, np.ndarray]]:
    """Of each watched operation the record, the logarithms of its visits' medians and when they began (s)."""
    launcher, engine = bench()
    cases = [engine.catalog.case(line, 2) for line in WATCHED]
    visits = int(seconds / VISIT_S)  # more than there is time for
    options = LaunchOptions("T", 0, seconds, precision=1e-9, max_repetitions=20 * visits, visits=visits)
    for record in launcher.run(cases, 2, options):
        if isinstance(record, Record):
            values = np.log([np.median(part) for part in record.times_by_visit])
            yield record, values, np.array(record.visits.after_s)


def trace(minutes: float) -> None:
    for record, values, at_s in watch(60 * minutes):
        low, middle, high = np.exp(np.quantile(values, (0.01, 0.5, 0.99))) * 1e6
        watched = f"{len(values)} visits in {np.ptp(at_s):.0f} s"
        print(f"\n{record.case}: {watched}, 1% {low:.3g}, median {middle:.3g}, 99% {high:.3g} us")
        for width in WINDOWS_S:
            window = ((at_s - at_s[0]) // width).astype(int)
            parts = [values[window == k] for k in range(window.max() + 1)]
            parts = [part for part in parts if len(part) > 0.5 * len(values) / len(parts)]
            for name, estimate in CANDIDATES.items():
                print(f"  {width:3.0f} s  {name:14}", factors([estimate(part) for part in parts]))


def factors(logs: Sequence[float]) -> str:
    """By what factor two differ: typically, and in one of ten pairs."""
    apart = [abs(a - b) for a, b in itertools.combinations(logs, 2)]
    if not apart:
        return "one only"
    return "typically {:.3f}, 90%: {:.3f}".format(*np.exp(np.quantile(apart, (0.5, 0.9))))


def surveys(count: int, budget_s: float, keep: Path | None) -> str:
    launcher, _ = bench()
    hockney: list[dict[str, object]] = []
    peer: list[dict[str, float]] = []
    ideal: list[dict[str, float]] = []
    for k in range(count):
        with tempfile.TemporaryDirectory() as folder:
            options = api.RunOptions(budget=budget_s, seed=random.randrange(2**31))
            run = api.survey(options, out=(keep or Path(folder)) / f"survey-{k}")
            hockney.append({s.case: s for s in run.fits.summaries})
            cases = [case for case in run.folder.plan().cases if case.ranks == 2]
            megabytes = (run.folder.path / "records.jsonl").stat().st_size / 1e6
            print(f"survey {k}: {len(run.reading.run.launches)} launches, {megabytes:.1f} MB", flush=True)
        peer.append(long_loops(launcher, cases, budget_s))
        ideal.append({record.case: float(center(values)) for record, values, _ in watch(budget_s)})
    small = [case for case in cases if looked_at(case)]
    load = f"load average at the end {os.getloadavg()[0]:.1f}"
    return "\n".join([*table(small, hockney, peer), "", *limits(hockney, peer, ideal), "", load])


def limits(hockney, peer, ideal) -> list[str]:
    """Spreads as logarithms, since factors of nearly 1 have no ratio."""
    rows = ["| typical logarithm of the ratio of two | observer | surveys | the peer | surveys / observer |"]
    rows.append("|---|---|---|---|---|")
    apart: dict[str, list[list[float]]] = {}
    for case in ideal[0]:
        logs = [seen[case] for seen in ideal], [np.log(s[case].typical.value) for s in hockney]
        apart[case] = [pairs(of) for of in (*logs, [seen[case] for seen in peer])]
    apart["all"] = [list(itertools.chain(*kind)) for kind in zip(*apart.values(), strict=True)]
    for case, kinds in apart.items():
        observer, surveyed, loops = (float(np.median(kind)) for kind in kinds)
        row = f"| {case} | {observer:.3f} | {surveyed:.3f} | {loops:.3f} | {surveyed / observer:.2f} |"
        rows.append(row)
    return rows


def kept(folder: Path) -> str:
    runs = [api.load(path) for path in sorted(folder.iterdir()) if (path / "records.jsonl").exists()]
    summaries = [{s.case: s for s in run.summaries} for run in runs]
    rows = ["| cost | pairs covered | disjoint intervals, median | most | of cases | half width |"]
    rows.append("|---|---|---|---|---|---|")
    for cost in get_args(Cost):
        known = [{case: logs(s.cost(cost)) for case, s in of.items() if bounded(s, cost)} for of in summaries]
        covered, disjoint, cases = [], [], []
        for first, second in itertools.combinations(known, 2):
            both = [case for case in first if case in second]
            a, x, b, y = np.array([[*first[case], *second[case]] for case in both]).T
            covered += list(np.abs(a - b) <= np.hypot(x, y))
            disjoint.append(np.count_nonzero(np.abs(a - b) > x + y))
            cases.append(len(both))
        half = np.expm1(np.median([half for of in known for _, half in of.values()]))
        rows.append(
            f"| {cost} | {np.mean(covered):.1%} | {np.median(disjoint):.0f} | {max(disjoint)} "
            f"| {np.median(cases):.0f} | {half:.1%} |"
        )
    return "\n".join(rows)


def bounded(summary: Summary, cost: Cost) -> bool:
    found = summary.undisturbed.cost if cost == "undisturbed" and summary.undisturbed else summary.typical
    return (cost == "typical" or summary.undisturbed is not None) and found.low is not None


def logs(cost: Estimate) -> tuple[float, float]:
    """The log of a time, and the half width of its interval."""
    return float(np.log(cost.value)), float(np.log(cost.high / cost.low) / 2)


def looked_at(case: Case) -> bool:
    small_sum = case.workload == "allreduce" and case.bytes == 8
    return case.bytes <= SMALL and (case.workload in ("pingpong", "barrier") or small_sum)


def long_loops(launcher: MpiLauncher, cases: Sequence[Case], budget_s: float) -> dict[str, float]:
    """The mean of one long loop for each case, in one launch."""
    options = LaunchOptions("P", 0, budget_s, precision=1e-9, max_repetitions=10**8)
    records = (line for line in launcher.run(list(cases), 2, options) if isinstance(line, Record))
    return {record.case: float(np.log(np.mean(record.times_s))) for record in records}


def table(cases: Sequence[Case], hockney, peer) -> list[str]:
    typical, low_mode, loops = [], [], []
    covers: dict[str, list[float]] = {"typical": [], "undisturbed": []}
    widths: dict[str, list[float]] = {"typical": [], "undisturbed": []}
    for case in cases:
        found = [survey[case.line] for survey in hockney]
        centers = [np.log(s.typical.value) for s in found]
        typical += pairs(centers)
        low_mode += pairs([np.log(s.undisturbed.cost.value) for s in found if s.undisturbed])
        loops += pairs([survey[case.line] for survey in peer])
        for cost in get_args(Cost):
            known = [logs(s.cost(cost)) for s in found if bounded(s, cost)]
            widths[cost] += [half for _, half in known]
            if len(known) == len(found):
                both = itertools.combinations(known, 2)
                covers[cost] += [abs(a - b) <= np.hypot(x, y) for (a, x), (b, y) in both]
    rows = ["| two surveys differ by | typically | in 1 of 10 pairs |", "|---|---|---|"]
    spreads = {"typical cost": typical, "undisturbed cost": low_mode, "the peer's mean": loops}
    for name, apart in spreads.items():
        half, tenth = np.exp(np.quantile(apart, (0.5, 0.9)))
        rows.append(f"| {name} | {half:.3f} | {tenth:.3f} |")
    rows += ["", f"{len(cases)} cases of {len(hockney)} surveys."]
    for cost, halves in widths.items():
        middle, wide = np.expm1(np.quantile(halves, (0.5, 0.9)))
        rows.append(
            f"Half width of the intervals of {cost} costs: median {middle:.1%}, 90% {wide:.1%}. "
            f"Pairs whose ratio's interval covers 1: {np.mean(covers[cost]):.1%}."
        )
    return rows


def pairs(logs: Sequence[float]) -> list[float]:
    return [abs(a - b) for a, b in itertools.combinations(logs, 2)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=("trace", "surveys", "kept"))
    parser.add_argument("folder", type=Path, nargs="?", help="of `kept`: where the run folders are")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--surveys", type=int, default=10)
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="where the surveys' run folders stay")
    arguments = parser.parse_args()
    if arguments.part == "kept":
        print(kept(arguments.folder or parser.error("which folder?")))
        return
    with others(arguments.busy):
        if arguments.part == "trace":
            trace(arguments.minutes)
            return
        text = surveys(arguments.surveys, arguments.budget, arguments.keep)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
