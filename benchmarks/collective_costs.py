# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How well the cost models of the collective algorithms predict what is measured.

    python benchmarks/collective_costs.py [--budget 300] [--undisturbed] [--machine sim:t3e --most 64]
                                          [--run FOLDER] [--keep FOLDER] [--quantile 0.1]

Without --machine, the algorithms of the engine run on 2 ranks of this machine and alternate with the messages
to which the models are fitted; with it, they run on 2 to `--most` simulated ranks. `--run` judges such a run
again. It prints for each algorithm the median and the largest deviation of the prediction from the measured
time, and the share of points where it is more than 15% (5% if simulated); `textbook` is whole messages, one
at a time in and out of each rank. On a busy machine, `--quantile 0.1` compares the 10% quantile of the
repetitions of each case, for messages and collectives alike, instead of typical times.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from hockney import api
from hockney.core.case import parse_canonical
from hockney.core.fit import Cost, Fits
from hockney.core.record import Record, RunRecords
from hockney.models import collective_costs, fit_all
from hockney.store import RunFolder

MESSAGES = ("pingpong", "pingpong_double", "stream")
LOCAL = ("allgather", "reduce", "scan")
"""MPI's own, from which the costs of copies, combinations and fresh data are taken."""
REAL_SIZES = (8, 64, 512, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576)
SIMULATED_SIZES = (8, 1024, 16384, 262144)
FEW_RANKS = (2, 3, 4, 7, 8, 16)
MANY_RANKS = (32, 64)
REAL_LIMIT, SIMULATED_LIMIT = 0.15, 0.05
MANY_SIZES = (8, 1024, 16384)
"""With more bytes on many ranks the simulator takes minutes and gigabytes."""


@dataclass(frozen=True)
class Point:
    algorithm: tuple[str, str]
    ranks: int
    size: int
    measured: float
    predicted: float
    textbook: float
    covered: bool
    simulated: bool

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


def cases(*, simulated: bool) -> list[str]:
    """Every algorithm; on a real machine also what its model is fitted to. Simulated ranks start at the same
    moment of the common clock."""
    found = [] if simulated else list(MESSAGES)
    for operation in collective_costs.operations():
        names = collective_costs.algorithms(operation)
        if not simulated and operation in LOCAL:
            names = ["mpi", *names]
        words = f"{operation} algorithm={','.join(names)}"
        found.append(f"{words} sync=window" if simulated else words)
    return found


def measure(machine: str, budget: float, most: int, folder: Path) -> list[Path]:
    """The folders of the runs."""
    if not machine:
        options = api.RunOptions(ranks=(2,), sizes=REAL_SIZES, budget=budget)
        api.run(cases(simulated=False), options, out=folder / "real")
        return [folder / "real"]
    runs = []
    for name, ranks, sizes in (("few", FEW_RANKS, SIMULATED_SIZES), ("many", MANY_RANKS, MANY_SIZES)):
        some = tuple(count for count in ranks if count <= most)
        if some:
            options = api.RunOptions(ranks=some, sizes=sizes, budget=budget, machine=machine)
            api.run(cases(simulated=True), options, out=folder / name)
            runs.append(folder / name)
    return runs


def quantile_fits(run: api.Run, quantile: float) -> Fits:
    """The fits to one time for each case: this quantile of the repetitions of all launches."""
    catalog = RunFolder.open(run.path).catalog()
    assert catalog is not None, "a run of this program has one"
    by_case: dict[str, list[Record]] = defaultdict(list)
    for record in run.records:
        by_case[record.case].append(record)
    kept = []
    for records in by_case.values():
        seconds = float(np.quantile(np.concatenate([each.times_s for each in records]), quantile))
        visits = replace(records[0].visits, after_s=[0.0], repetitions=[1], preempted=[0])
        kept.append(replace(records[0], times_s=[seconds], visits=visits))
    return fit_all(RunRecords(records=tuple(kept)), catalog, cores=None)


def points(path: Path, cost: Cost, quantile: float | None) -> Iterator[Point]:
    """Every measured case of an algorithm that has a model."""
    run = api.load(path, cost=cost)
    fits = run.fits if quantile is None else quantile_fits(run, quantile)
    known = set(collective_costs.operations())
    workloads = {w.name: w for w in fits.workloads}
    for summary in fits.summaries:
        case = parse_canonical(summary.case)
        workload = workloads[case.workload]
        algorithm = str(case.values.get("algorithm", ""))
        if workload.operation not in known or algorithm in ("", "mpi"):
            continue
        size = int(case.number(workload.size))
        (found,) = collective_costs.predict(
            fits, run.machine, workload.operation, algorithm, case.ranks, [size]
        )
        low, high = found.time.low, found.time.high
        measured = summary.cost(cost).value
        yield Point(
            (workload.operation, algorithm),
            case.ranks,
            size,
            measured,
            found.time.value,
            found.textbook,
            low is not None and high is not None and low <= measured <= high,
            run.machine.platform is not None,
        )


def table(found: Sequence[Point], limit: float) -> str:
    groups: dict[tuple[str, str], list[Point]] = defaultdict(list)
    for point in found:
        groups[point.algorithm].append(point)
    percent = f"{100 * limit:.0f}%"
    lines = [
        "| operation | algorithm | points | median error | largest error | at | "
        f"above {percent} | textbook's median error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (operation, algorithm), mine in sorted(groups.items()):
        worst = max(mine, key=lambda point: abs(point.error))
        lines.append(
            f"| `{operation}` | `{algorithm}` | {len(mine)} | {_middle(mine):.1%} | {worst.error:+.1%} "
            f"| {worst.size} B, {worst.ranks} ranks | {_beyond(mine, limit):.0%} | {_textbook(mine):.1%} |"
        )
    lines.append(
        f"| all | | {len(found)} | {_middle(found):.1%} | "
        f"{max((p.error for p in found), key=abs):+.1%} | | {_beyond(found, limit):.0%} | "
        f"{_textbook(found):.1%} |"
    )
    return "\n".join(lines)


def _middle(found: Sequence[Point]) -> float:
    return float(np.median([abs(point.error) for point in found]))


def _beyond(found: Sequence[Point], limit: float) -> float:
    return float(np.mean([abs(point.error) > limit for point in found]))


def _textbook(found: Sequence[Point]) -> float:
    return float(np.median([abs(point.textbook / point.measured - 1) for point in found]))


def by_size(found: Sequence[Point]) -> str:
    lines = ["| bytes | points | median error | median deviation | in the interval |"]
    lines.append("|---|---|---|---|---|")
    for size in sorted({point.size for point in found}):
        mine = [point for point in found if point.size == size]
        middle = float(np.median([point.error for point in mine]))
        inside = float(np.mean([point.covered for point in mine]))
        lines.append(f"| {size} | {len(mine)} | {_middle(mine):.1%} | {middle:+.1%} | {inside:.0%} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--machine", default="", help="a simulated machine, such as sim:t3e")
    parser.add_argument("--most", type=int, default=64, help="the largest number of simulated ranks")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds for each run")
    parser.add_argument("--undisturbed", action="store_true", help="compare undisturbed costs")
    parser.add_argument("--quantile", type=float, help="compare this quantile of the repetitions")
    parser.add_argument("--run", type=Path, action="append", help="judge this run instead of measuring one")
    parser.add_argument("--keep", type=Path, help="keep the runs in this folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.keep or Path(scratch)
        runs = chosen.run or measure(chosen.machine, chosen.budget, chosen.most, folder)
        cost: Cost = "undisturbed" if chosen.undisturbed else "typical"
        found = [point for path in runs for point in points(path, cost, chosen.quantile)]
    if not found:
        parser.error("the run has no algorithms")
    simulated = found[0].simulated
    print(table(found, SIMULATED_LIMIT if simulated else REAL_LIMIT))
    if not simulated:
        print(f"\n{by_size(found)}")


if __name__ == "__main__":
    main()
