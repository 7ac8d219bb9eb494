# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which runs of an archive are meant, and which a rule keeps."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from fnmatch import fnmatchcase

from hockney.archive import ArchivedRun
from hockney.core.errors import UsageError, printable

_AGO = re.compile(r"(\d{1,6})\s*([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


@dataclass(frozen=True)
class Selection:
    """The runs that match everything that is given. Texts are compared without case, and may contain * and ?;
    `machine` may also be a host. `since_s` and `until_s` are seconds since 1970."""

    machine: str = ""
    label: str = ""
    study: str = ""
    since_s: float | None = None
    until_s: float | None = None

    def has(self, entry: ArchivedRun) -> bool:
        return (
            (_like(self.machine, entry.machine) or _like(self.machine, entry.host))
            and _like(self.label, entry.label)
            and _like(self.study, entry.study)
            and (self.since_s is None or entry.started_s >= self.since_s)
            and (self.until_s is None or entry.started_s < self.until_s)
        )

    def of(self, entries: Iterable[ArchivedRun]) -> tuple[ArchivedRun, ...]:
        return tuple(entry for entry in entries if self.has(entry))


def _like(wanted: str, value: str) -> bool:
    return not wanted or value.lower() == wanted.lower() or fnmatchcase(value.lower(), wanted.lower())


def moment(text: str, now_s: float | None = None) -> float:
    """Seconds since 1970 of a date (UTC unless it has an offset), or of a time ago: 12h, 30d, 8w, 6m, 1y.
    Raises UsageError."""
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago:
            seconds = (time.time() if now_s is None else now_s) - 3600.0 * int(ago[1]) * _HOURS[ago[2]]
        else:
            date = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
            seconds = (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp()
        datetime.fromtimestamp(seconds, timezone.utc)  # within the calendar's range
        return seconds
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"'{printable(text)}' is not a date",
            "",
            "use for example 2026-01-31, 2026-01-31T09:30, or 30d for the last 30 days",
            code="not-a-date",
            text=text,
        ) from error


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
