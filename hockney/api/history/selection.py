# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which runs of an archive are meant."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
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


def date_text(seconds: float) -> str:
    """ "2026-01-31 09:30", UTC; "" for a date outside the calendar's range."""
    try:
        date = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return ""
    return date.strftime("%Y-%m-%d %H:%M")
