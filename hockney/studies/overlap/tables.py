# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The best number of tests for each size; IMB's overlap next to COMB's availability; and all times."""

from __future__ import annotations

from hockney.core.fit import Estimate
from hockney.core.wording import plural
from hockney.draw.page import Table
from hockney.pages.format import percent, quantity, ratio_interval
from hockney.studies.overlap.results import PHASES, OverlapPoint, OverlapResults
from hockney.studies.overlap.wording import VERDICTS, named, share_interval, titled
from hockney.studies.progress import THREAD

INTERVAL = "95% interval"


def best(run: OverlapResults, ranks: int, *operations: str) -> Table | None:
    """A row for each operation, by default all, and size."""
    found = [each for operation in operations or run.operations for each in run.best(operation, ranks)]
    if not found:
        return None
    rows = tuple(
        (
            named(p.operation),
            quantity(p.size, "B") if p.measured.has_size else "",
            VERDICTS[each.verdict],
            _tests(p),
            f"{p.ratio.value:.2f}",
            ratio_interval(p.ratio),
            percent(p.hidden),
            percent(p.availability),
        )
        for each in found
        for p in (each.best,)
    )
    columns = (
        "operation", "size", "nonblocking", "best tests", "total / apart", INTERVAL, "hidden", "availability",
    )  # fmt: skip
    caption = (
        "Total / apart: the time with nonblocking communication, over that of communication and then "
        "computation. Hidden: of the communication or of the computation, whichever is shorter. "
        "Availability: share of the time in which the program computes. The intervals of the ratio are those "
        "that the verdicts use: all of them together contain the true ratios with 95%."
    )
    title = ", ".join(["Best number of tests", *map(titled, operations), plural(ranks, "rank")])
    name = "-".join(["overlap-best", *operations, str(ranks)])
    return Table(name, title, columns, rows, (1, 3, 4, 5, 6, 7), caption)


def definitions(run: OverlapResults) -> Table:
    """Overlap by IMB's definition, from the record's times and as the engine reports it, and COMB's
    availability."""
    rows = tuple(
        (
            *_place(p),
            *_share(times.imb),
            percent(p.hidden),
            *_share(times.availability),
            percent(p.availability),
            *(("", "") if times.slowdown is None else _ratio(times.slowdown)),
        )
        for p in run.points
        for times in (run.times(p),)
    )
    columns = (
        *PLACE, "overlap (IMB)", INTERVAL, "as reported", "availability (COMB)", INTERVAL, "as reported",
        "computing takes", INTERVAL,
    )  # fmt: skip
    caption = (
        "IMB: (t_pure + t_cpu - t_total) / min(t_pure, t_cpu), between 0 and 1, from the recorded times of "
        "each repetition; as reported: by the engine. COMB: t_cpu / t_total. Computing takes: the time of "
        "the computation between the calls, relative to that without communication."
    )
    title = "Overlap by IMB's and availability by COMB's definition"
    return Table("overlap-definitions", title, columns, rows, tuple(range(1, len(columns))), caption)


def times(run: OverlapResults) -> Table:
    """Every case: its times, and the ratio that decides."""
    parts = [name for name in PHASES if any(name in p.parts for p in run.points)]
    rows = tuple(
        (
            *_place(p),
            quantity(run.times(p).pure.value, "s"),
            quantity(run.times(p).cpu.value, "s"),
            quantity(p.total.value, "s"),
            *_ratio(p.ratio),
            VERDICTS[p.verdict],
            *(quantity(p.parts[name], "s") if name in p.parts else "" for name in parts),
        )
        for p in run.points
    )
    columns = (*PLACE, "pure", "cpu", "total", "total / apart", INTERVAL, "nonblocking", *parts)
    return Table("overlap-times", "Times", columns, rows, tuple(k for k in range(1, len(columns)) if k != 9))


PLACE = ("operation", "ranks", "size", "tests")


def _place(p: OverlapPoint) -> tuple[str, ...]:
    size = quantity(p.size, "B") if p.measured.has_size else ""
    return named(p.operation), str(p.ranks), size, _tests(p)


def _tests(p: OverlapPoint) -> str:
    return f"{p.tests}, thread" if p.progress == THREAD else str(p.tests)


def _share(share: Estimate) -> tuple[str, str]:
    return percent(share.value), share_interval(share)


def _ratio(ratio: Estimate) -> tuple[str, str]:
    return f"{ratio.value:.2f}", ratio_interval(ratio)
