# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which runs of an archive a rule keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from hockney.archive import ArchivedRun

Period = Callable[[datetime], tuple[int, ...]]
DAY: Period = lambda date: (date.year, date.month, date.day)  # noqa: E731
WEEK: Period = lambda date: tuple(date.isocalendar()[:2])  # noqa: E731
MONTH: Period = lambda date: (date.year, date.month)  # noqa: E731


@dataclass(frozen=True)
class Rule:
    """Keeps the `last` runs of each machine and study, and the newest run of each of the last `daily` days,
    `weekly` weeks (from Monday) and `monthly` months that have runs (UTC). Other runs are removed: all of
    them, or those from before `older_s` (s since 1970) only. A rule without numbers keeps nothing, so it
    needs `older_s`. Labels do not count: CI names each run after its commit."""

    last: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0
    older_s: float | None = None

    @property
    def empty(self) -> bool:
        """Whether it names no run at all."""
        return not (self.last or self.daily or self.weekly or self.monthly) and self.older_s is None

    def removed(self, entries: Iterable[ArchivedRun]) -> list[ArchivedRun]:
        """The runs that the rule does not keep, the oldest first."""
        groups: dict[tuple[str, ...], list[ArchivedRun]] = {}
        for entry in entries:
            groups.setdefault((entry.origin, entry.machine, entry.study), []).append(entry)
        found = [entry for group in groups.values() for entry in self._removed(group)]
        return sorted(found, key=lambda each: (each.started_s, each.name))

    def _removed(self, group: Sequence[ArchivedRun]) -> list[ArchivedRun]:
        newest_first = sorted(group, key=lambda each: (each.started_s, each.name), reverse=True)
        kept = {entry.name for entry in newest_first[: self.last]}
        for count, period in ((self.daily, DAY), (self.weekly, WEEK), (self.monthly, MONTH)):
            kept |= _newest_of_each(newest_first, period, count)
        return [
            entry
            for entry in newest_first
            if entry.name not in kept and (self.older_s is None or entry.started_s < self.older_s)
        ]


def _newest_of_each(newest_first: Sequence[ArchivedRun], period: Period, count: int) -> set[str]:
    """The newest run of each of the last `count` periods with runs."""
    found: dict[tuple[int, ...], str] = {}
    for entry in newest_first:
        found.setdefault(period(_date(entry)), entry.name)
    return set(list(found.values())[:count])


def _date(entry: ArchivedRun) -> datetime:
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=entry.started_s)
    except OverflowError:
        return datetime.max
