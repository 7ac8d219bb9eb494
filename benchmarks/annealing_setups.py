# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Set-ups of annealing on one and two ranks, and what load balancing gains, here and on a simulated machine.

    python benchmarks/annealing_setups.py [--launches 10] [--budget 300] [--machine sim:NAME] [--out FILE]

All cases are measured in every launch, in shuffled order, so that a load from outside concerns all of them. A
row is the ratio of the steps per second of two cases: the median over the launches with its 95% interval.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hockney import api
from hockney.core.record import Record
from hockney.models.statistics.interval import median_interval
from hockney.system.bundled import bundled_catalog, catalog_with

CATALOG = catalog_with(bundled_catalog(), ["annealing"])
SIZE = "walkers=64 steps=1000 temperatures=50"
OTHERS = "lagged", "original", "collective lag=1", "estimated"
SIMULATED_RANKS = 8


@dataclass(frozen=True)
class Side:
    """A case by its words, and its number of ranks."""

    words: str
    ranks: int

    @property
    def line(self) -> str:
        return CATALOG.case(f"annealing {self.words}", self.ranks).line

    def rates(self, records: Sequence[Record]) -> dict[str, float]:
        """Steps per second in each launch."""
        return {
            record.launch.partition(".")[0]: statistics.median(record.metrics["total_steps"].values)
            / statistics.median(record.times_s)
            for record in records
            if record.case == self.line
        }


@dataclass(frozen=True)
class Row:
    title: str
    above: Side
    below: Side

    def text(self, records: Sequence[Record]) -> str:
        above, below = self.above.rates(records), self.below.rates(records)
        ratios = [above[launch] / below[launch] for launch in sorted(above.keys() & below.keys())]
        if not ratios:
            return f"| {self.title} | not measured | |"
        middle, low, high = median_interval(ratios)
        interval = "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
        return f"| {self.title} | {middle:.3f} | {interval} |"


def side(setup: str, ranks: int, more: str = "") -> Side:
    return Side(f"setup={setup} {SIZE} {more}".strip(), ranks)


def balanced(setup: str, ranks: int, shares: str, more: str = "") -> Row:
    above, below = (side(setup, ranks, f"shares={shares} balance={b} {more}") for b in ("yes", "no"))
    return Row(f"{setup}, {ranks} ranks, shares={shares}: with balancing / without", above, below)


ROWS = (
    Row("decoupled: 2 ranks / 1 rank", side("decoupled", 2), side("decoupled", 1)),
    *(Row(f"2 ranks: {setup} / decoupled", side(setup, 2), side("decoupled", 2)) for setup in OTHERS),
    balanced("original", 2, "1:2"),
    balanced("lagged", 2, "1:2"),
)
UNEVEN = ":".join(["1"] * (SIMULATED_RANKS - 1) + ["3"])
SIMULATED = tuple(balanced(setup, SIMULATED_RANKS, UNEVEN, "step_s=1us") for setup in ("original", "lagged"))


def measured(rows: Sequence[Row], options: api.RunOptions) -> Sequence[Record]:
    sides = dict.fromkeys(side for row in rows for side in (row.above, row.below))
    with tempfile.TemporaryDirectory() as folder:
        run = api.run(
            [f"annealing {s.words} ranks={s.ranks}" for s in sides], options, out=Path(folder) / "r"
        )
        return run.records


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--budget", type=float, default=300.0, help="seconds for all launches")
    parser.add_argument("--machine", default="sim:switched-ethernet", help="the simulated one")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    here = measured(ROWS, api.RunOptions(launches=given.launches, budget=given.budget))
    there = measured(SIMULATED, api.RunOptions(machine=given.machine))
    lines = ["| steps per second | ratio | 95% interval |", "|---|---|---|"]
    lines += [row.text(here) for row in ROWS]
    lines += [row.text(there).replace("| ", f"| {given.machine}, ", 1) for row in SIMULATED]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
