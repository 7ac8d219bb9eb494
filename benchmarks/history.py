# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How fast an archive is, and how often its answers are right: `python benchmarks/history.py [--part ...]`.

- list: the time of `hockney history list` for an archive of 1000 runs, with its index and without.
- changes: the share of series without a change in which one is reported, by kind of noise and number of runs;
  and how often a change by so many standard deviations of a run is found, with its place and size.
- check: the share of usual runs that are reported as slower or faster, and of slow ones that are found.
- quantiles: the constants QUANTILES of `hockney/models/statistics/level_changes.py`.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from hockney import api
from hockney.archive import Archive
from hockney.core.record import encode_line
from hockney.models.history import CaseTime, DatedRun, RunTimes, check_run
from hockney.models.statistics import find_change_points
from hockney.models.statistics.level_changes import PROBABILITIES, _differences, _normal_scores
from hockney.store import RunFolder
from hockney.store.checksums import checksum_at_end, seal_line

SPREAD = 0.02
"""The standard deviation of the logarithms of a run's times."""
Noise = Callable[[np.random.Generator, int], np.ndarray]


def correlated(r: float) -> Noise:
    def make(rng: np.random.Generator, count: int) -> np.ndarray:
        values = rng.standard_normal(count)
        for k in range(1, count):
            values[k] = r * values[k - 1] + math.sqrt(1 - r * r) * values[k]
        return SPREAD * values

    return make


NOISES: dict[str, Noise] = {
    "normal": lambda rng, count: SPREAD * rng.standard_normal(count),
    "heavy tails (t, 2)": lambda rng, count: SPREAD * rng.standard_t(2, count),
    "10% outliers, 1.6 times": lambda rng, count: (
        SPREAD * rng.standard_normal(count) + 0.5 * (rng.random(count) < 0.1)
    ),
    "correlated, 0.3": correlated(0.3),
    "correlated, 0.6": correlated(0.6),
}


def listing(runs: int, _: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        archive = Archive.open(Path(place) / "archive", create=True)
        first = Path(place) / "first"
        api.run(
            "pingpong bytes=0:4KiB barrier", api.RunOptions(machine="fake", budget=5.0, launches=3), out=first
        )
        plan, records = (first / "plan.txt").read_text(), (first / "records.jsonl").read_bytes()
        for number in range(runs):
            folder = archive.path / f"run-{number}"
            folder.mkdir()
            for name in ("machine.json", "catalog.json"):
                (folder / name).write_bytes((first / name).read_bytes())
            (folder / "plan.txt").write_text(plan)
            (folder / "records.jsonl").write_bytes(records)
            # other runs, not states of the same one
            _moved(RunFolder(folder), number)
        words = [sys.executable, "-m", "hockney", "history", "list", "--archive", str(archive.path), "-q"]
        for title in ("first, without index", "with index", "with index", "with index"):
            began, used = time.monotonic(), _used()
            lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.count("\n")
            print(
                f"list of {runs} runs ({lines} lines), {title}: {time.monotonic() - began:.2f} s, "
                f"{_used() - used:.2f} s of processor time",
                flush=True,
            )


def _used() -> float:
    """Processor time of ended children (s)."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _moved(folder: RunFolder, number: int) -> None:
    """The same run, that many hours later."""
    before, lines = folder.sums.checksum, []
    run = folder.read().run
    parts = (run.launches, run.records, run.closes)
    order = [line for launch in run.launches for line in _of(launch.launch, parts)]
    for line in order:
        moved = (
            replace(line, started_s=line.started_s + 3600.0 * number) if hasattr(line, "started_s") else line
        )
        lines.append(seal_line(encode_line(moved), before) + b"\n")
        before = checksum_at_end(lines[-1]) or ""
    folder.records_path.write_bytes(b"".join(lines))


def _of(launch: str, parts: tuple[tuple[object, ...], ...]) -> list[object]:
    return [line for part in parts for line in part if line.launch == launch]  # type: ignore[attr-defined]


def changes(sets: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    print("| noise | 12 runs | 20 runs | 40 runs | 80 runs |\n|---|---:|---:|---:|---:|")
    for name, noise in NOISES.items():
        shares = [
            np.mean([bool(find_change_points(noise(rng, n))) for _ in range(sets)]) for n in (12, 20, 40, 80)
        ]
        print(f"| {name} | {' | '.join(f'{share:.1%}' for share in shares)} |", flush=True)
    print("\n| runs | since | by (sd) | found | date in its interval | size in its interval |")
    print("|---:|---:|---:|---:|---:|---:|")
    for count, after, by in (
        (20, 5, 5),
        (20, 10, 3),
        (40, 4, 5),
        (40, 10, 2),
        (40, 10, 3),
        (80, 40, 1),
        (80, 5, 5),
    ):
        found, dated, sized, extra = 0, 0, 0, 0
        for _ in range(sets):
            logs = NOISES["normal"](rng, count)
            logs[count - after :] += by * SPREAD
            near = [c for c in find_change_points(logs) if c.first <= count - after <= c.last]
            found += bool(near)
            extra += len(near) > 1
            for c in near[:1]:
                dated += abs(c.index - (count - after)) <= 1
                low, high = c.ratio.ratio.low, c.ratio.ratio.high
                sized += low is not None and high is not None and low <= math.exp(by * SPREAD) <= high
        shares = (found / sets, dated / max(1, found), sized / max(1, found))
        print(f"| {count} | {after} | {by} | {' | '.join(f'{share:.0%}' for share in shares)} |", flush=True)


def checks(sets: int, seed: int) -> None:
    """60 cases of 5 operations; a run's cases share a factor, as launches do."""
    rng = np.random.default_rng(seed)
    print("| earlier runs | tolerance | usual: not as usual | slower by 5% | by 10% | by 20% (one case) |")
    print("|---:|---:|---:|---:|---:|---:|")
    for earlier in (5, 10, 30):
        for tolerance in (0.0, 0.05):
            shares = []
            for factor, cases in ((1.0, 60), (1.05, 12), (1.1, 12), (1.2, 1)):
                wrong = 0
                for _ in range(sets):
                    runs = [_run(rng, k) for k in range(earlier)]
                    states = [
                        each.state for each in check_run(runs, _run(rng, earlier, factor, cases), tolerance)
                    ]
                    wrong += (
                        (states[0] == "slower") if factor > 1 else bool({"slower", "faster"} & set(states))
                    )
                shares.append(wrong / sets)
            print(f"| {earlier} | {tolerance:.0%} | {' | '.join(f'{s:.1%}' for s in shares)} |", flush=True)


def _run(rng: np.random.Generator, number: int, factor: float = 1.0, slower: int = 0) -> DatedRun:
    shared, times = 0.01 * rng.standard_normal(), []
    for k in range(60):
        name = f"op{k // 12} bytes={k % 12} ranks=2"
        log = shared + 0.02 * rng.standard_normal() + (math.log(factor) if k < slower else 0.0)
        time_s = 1e-6 * math.exp(log)
        times.append(CaseTime(name, "", 5, time_s, time_s * 0.98, time_s * 1.02))
    return DatedRun(f"run-{number}", 86_400.0 * number, RunTimes("", times, {}))


def quantiles(sets: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for count in (64, 128, 256, 512, 1024):
        scores = _normal_scores(count)
        largest: list[float] = []
        for _ in range(max(1, sets * 64 // count // 100)):
            orders = rng.permuted(np.tile(scores / scores.std(), (100, 1)), axis=1)
            best = np.zeros(100)
            for _, differences in _differences(orders):
                np.maximum(best, differences.max(axis=1), out=best)
            largest += list(best)
        ends = np.quantile(largest, 1 - np.array(PROBABILITIES))
        print(f"{count}: {tuple(round(float(each), 3) for each in ends)}", flush=True)


PARTS = {"list": listing, "changes": changes, "check": checks, "quantiles": quantiles}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, nargs="*", default=["list", "changes", "check"])
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for part in given.part:
        print(f"\n{part}", flush=True)
        PARTS[part](given.runs if part == "list" else given.sets, given.seed)


if __name__ == "__main__":
    main()
