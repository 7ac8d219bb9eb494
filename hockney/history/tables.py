# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Operations and cases of a checked run, trends and their changes as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.comparison.wording import ratio_ends
from hockney.core.units import format_percent, format_seconds
from hockney.draw.page import Table
from hockney.history.result import CheckedRun, ShownHistory
from hockney.history.sparkline import sparkline
from hockney.history.wording import dates, day, moment, short, value, verdict
from hockney.models.history import CheckedSeries, Trend


def operations(checked: CheckedRun) -> Table:
    rows = tuple(
        (
            each.workload,
            *([each.level] if checked.several_levels else []),
            str(len(each.cases)),
            str(len(each.of("slower"))),
            str(len(each.of("faster"))),
            str(each.mean.runs),
            f"{each.mean.ratio.value:.3f}",
            ratio_ends(each.mean.ratio),
            "" if each.mean.noticeable is None else format_percent(each.mean.noticeable - 1, 2),
            verdict(each.state),
        )
        for each in checked.operations
    )
    levels = ["level"] if checked.several_levels else []
    columns = (
        "operation", *levels, "cases", "slower", "faster", "runs", "mean ratio", "95% interval",
        "noticeable", "verdict",
    )  # fmt: skip
    first = 1 + len(levels)
    return Table("operations", "Operations", columns, rows, tuple(range(first, first + 7)))


def cases(chosen: Sequence[CheckedSeries], name: str, title: str) -> Table:
    rows = tuple(
        (
            short(each.series),
            format_seconds(each.new.value.value),
            format_seconds(each.new.value.value / each.ratio.value),
            f"{each.ratio.value:.3f}",
            ratio_ends(each.ratio),
            str(each.runs),
            verdict(each.state),
        )
        for each in chosen
    )
    columns = ("case", "time", "usual", "ratio", "95% interval", "runs", "verdict")
    return Table(name, title, columns, rows, (1, 2, 3, 4, 5))


def facts(checked: CheckedRun) -> Table:
    rows = tuple((each.fact, each.before, each.after) for each in checked.changes)
    return Table("differences", "What changed since the run before", ("what", "before", "now"), rows)


def trends(history: ShownHistory) -> Table:
    """A row for each series, with its course as a line of characters."""
    several = len(history.machines) > 1
    levels = len({trend.series.level for _, trend in history.trends}) > 1
    rows = tuple(
        (
            short(trend.series),
            *([trend.series.level] if levels else []),
            *([machine] if several else []),
            str(len(trend.series.points)),
            sparkline(trend.series.logs),
            value(trend.series, trend.series.points[-1].value.value),
            str(len(trend.changes)),
            day(trend.changes[-1].at.at_s) if trend.changes else "",
            f"{trend.changes[-1].ratio.value:.3f}" if trend.changes else "",
            ratio_ends(trend.changes[-1].ratio) if trend.changes else "",
        )
        for machine, trend in history.trends
    )
    columns = (
        "series", *(["level"] if levels else []), *(["machine"] if several else []), "runs", "course", "last",
        "changes", "last change", "ratio", "95% interval",
    )  # fmt: skip
    first = 1 + levels + several
    return Table(
        "trends", "Series", columns, rows, (first, *range(first + 2, first + 4), first + 5, first + 6)
    )


def changes(history: ShownHistory) -> Table:
    """Every change of the level, by date."""
    several = len(history.machines) > 1
    found = [(machine, trend, change) for machine, trend in history.trends for change in trend.changes]
    found.sort(key=lambda each: each[2].at.at_s)
    rows = tuple(
        (
            day(change.at.at_s),
            dates(change),
            short(trend.series),
            *([machine] if several else []),
            f"{change.ratio.value:.3f}",
            ratio_ends(change.ratio),
            _facts_at(history, machine, change.first_s, change.last_s),
        )
        for machine, trend, change in found
    )
    columns = (
        "since", "changed (95%)", "series", *(["machine"] if several else []), "ratio", "95% interval",
        "environment",
    )  # fmt: skip
    return Table("changes", "Changes of the level", columns, rows, (3 + several,))


def _facts_at(history: ShownHistory, machine: str, first_s: float, last_s: float) -> str:
    names = [each.fact for each in history.facts.get(machine, ()) if first_s <= each.at_s <= last_s]
    return ", ".join(dict.fromkeys(names))


def environment(history: ShownHistory) -> Table:
    """A table of the changes of the machine or its software, and when they happened."""
    several = len(history.machines) > 1
    rows = tuple(
        (day(each.at_s), *([machine] if several else []), each.fact, each.before, each.after)
        for machine, _ in history.machines
        for each in history.facts.get(machine, ())
    )
    columns = ("since", *(["machine"] if several else []), "what", "before", "after")
    return Table("environment", "Changes of the environment", columns, rows)


def runs(trend: Trend, labels: dict[str, str]) -> Table:
    """The points of one series."""
    changed = {change.at.run for change in trend.changes}
    rows = tuple(
        (
            moment(point.at_s),
            value(trend.series, point.value.value),
            "" if point.value.low is None else value(trend.series, point.value.low),
            "" if point.value.high is None else value(trend.series, point.value.high),
            "changed" if point.run in changed else "",
            labels.get(point.run, ""),
            point.run,
        )
        for point in trend.series.points
    )
    columns = ("date (UTC)", "time", "low", "high", "level", "label", "run")
    return Table("runs", "Runs", columns, rows, (1, 2, 3))
