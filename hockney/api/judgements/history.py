# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Archives of runs for programs and notebooks: selection of runs and retention rules."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney.api.notebook.keywords import Quantity, fraction_argument
from hockney.api.notebook.log_events import log
from hockney.api.run_contents import Run
from hockney.api.tables import Rows
from hockney.archive import Archive, ArchivedCopy, ArchivedRun, Contents, refuse_inside
from hockney.core.errors import Inconclusive, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural
from hockney.measurement import Listener, Status
from hockney.store import RunFolder

if TYPE_CHECKING:
    from hockney.api.export import Library
    from hockney.api.judgements.history_check import Check
    from hockney.api.judgements.trends import Trends

Date = str | date | None
"""A text, a date, or a datetime."""
DEFAULT_ARCHIVE = Path("history")
DEFAULT_WINDOW = 50
"""Earlier runs with which a run is compared: older ones say little about what is usual now."""
ARCHIVE_VARIABLE = "HOCKNEY_ARCHIVE"


def archive_path(path: AnyPath | None = None) -> Path:
    """Return `path`, by default $HOCKNEY_ARCHIVE or the folder `history`."""
    return to_path(path or os.environ.get(ARCHIVE_VARIABLE) or DEFAULT_ARCHIVE)


@dataclass(frozen=True)
class History:
    """An archive: a folder with copies of runs and an index::

        history = hockney.History("/shared/hockney")
        history.add("runs/latest")
        history.runs(machine="node7", since="90d")

    The default folder is $HOCKNEY_ARCHIVE, or `history`. Several processes and hosts may use it at the same
    time. `listen` receives progress and notices, which are logged by default.
    """

    path: Path = field(default_factory=archive_path)
    listen: Listener = field(default=log, repr=False, compare=False)

    def __init__(self, path: AnyPath | None = None, listen: Listener | None = None) -> None:
        object.__setattr__(self, "path", archive_path(path))
        object.__setattr__(self, "listen", listen or log)

    def add(self, *runs: AnyPath | Run) -> list[ArchivedCopy]:
        """Copy runs (or folders of runs) into the archive, which is created if needed. Runs that the archive
        already contains are skipped; an earlier state of a run is replaced. Runs without measurements in a
        folder are omitted with a notice. Raises UsageError if a source is not a run, EnvironmentProblem if a
        run is damaged, Inconclusive if a run, or all runs of a folder, have no measurements. Runs added
        before an error remain in the archive."""
        from hockney.api.judgements.trends import run_times, sources_digest

        sources = [
            (folder, len(folders)) for folders in map(list, map(run_folders, runs)) for folder in folders
        ]
        for source, _ in sources:
            refuse_inside(self.path, source)
        archive = Archive.open(self.path, create=True)
        added: list[ArchivedCopy] = []
        failures: list[Inconclusive] = []
        for source, count in sources:
            try:
                addition = archive.add(source)
            except Inconclusive as error:
                if count == 1:
                    raise
                failures.append(error)
                self.listen(Notice(f"left out: {error.what}", "run-not-added"))
                continue
            run, name = printable(str(source.path)), printable(addition.entry.name)
            text = f"added {run} as {name}"
            self.listen(Status(text if addition.is_new else f"{run} is in the archive already: {name}"))
            if addition.replaced:
                self.listen(
                    Status(f"it replaces {plural(len(addition.replaced), 'earlier state')} of the same run")
                )
            added.append(addition)
        if failures and not added:
            raise failures[0]
        archive.times(
            [added_run.entry for added_run in added if added_run.is_new],
            sources_digest(),
            run_times,
            listen=self.listen,
        )
        return added

    def runs(
        self,
        *,
        machine: str = "",
        label: str = "",
        study: str = "",
        since: Date = None,
        until: Date = None,
    ) -> list[ArchivedRun]:
        """Runs of the archive, oldest first. Patterns may contain * and ?. `since` and `until` are dates
        ("2026-01-31") or ages ("30d")."""
        selection = Selection.of(machine, label, study, since, until)
        return list(selection.select(self.contents().entries))

    def table(self, **selected: Any) -> Rows:
        """Table with one row per run, selected as in `runs`."""
        entries = self.runs(**selected)
        return Rows.of(
            {name: [getattr(entry, name) for entry in entries] for name in ArchivedRun.__struct_fields__}
        )

    def frame(self, library: Library | None = None, **selected: Any) -> Any:
        """Table of the runs as a DataFrame of pandas or polars, see `Run.frame`."""
        from hockney.api.export import frame

        return frame(self.table(**selected), library)

    def contents(self) -> Contents:
        """Read the archive: all runs, and folders with damaged runs, which are reported to `listen`."""
        contents = Archive.open(self.path).contents(self.listen)
        for notice in contents.notices:
            self.listen(notice)
        return contents

    def open(self, run: ArchivedRun | str) -> Run:
        """Open a run of the archive."""
        name = run if isinstance(run, str) else run.name
        return Run(RunFolder.open(self.path / name))

    def show(
        self,
        case: str = "",
        *,
        machine: str = "",
        label: str = "",
        study: str = "",
        since: Date = None,
    ) -> Trends:
        """Changes over time, with a series for each machine: of all operations, of one operation and its
        cases ("allreduce"), or of matching cases ("allreduce bytes=4KiB"). Raises UsageError if the archive
        has no such case, Inconclusive if no run is selected."""
        from hockney.api.judgements.trends import find_trends

        selection = Selection.of(machine, label, study, since)
        return find_trends(Archive.open(self.path), self._select(selection), case, self.listen)

    def check(
        self,
        run: AnyPath | Run | ArchivedRun | None = None,
        *,
        tolerance: Quantity = 0.05,
        last: int = DEFAULT_WINDOW,
        machine: str = "",
        label: str = "",
        study: str = "",
        since: Date = None,
    ) -> Check:
        """Check whether a run is as usual: the newest run by default, a run of the archive by its name, or
        any other run. It is compared with at most `last` earlier runs of the same machine. Raises UsageError
        if there is no such run, Inconclusive if no run is selected or the run has no measurements."""
        from hockney.api.judgements.history_check import check_run

        if last < 1:
            raise UsageError(
                f"last is {last}",
                "a check needs earlier runs",
                "use for example 50",
                code="check-without-window",
            )
        entries = self._select(Selection.of(machine, label, study, since), allow_empty=run is not None)
        share = fraction_argument("tolerance", tolerance)
        return check_run(Archive.open(self.path), entries, run, share, last, self.listen)

    def prune(
        self,
        *,
        keep_last: int = 0,
        keep_daily: int = 0,
        keep_weekly: int = 0,
        keep_monthly: int = 0,
        older_than: Date = None,
        dry_run: bool = False,
        machine: str = "",
        label: str = "",
        study: str = "",
    ) -> list[ArchivedRun]:
        """Remove the runs that no rule keeps, separately for each machine and study, and return them.
        Copies and earlier states of a run are removed with it.
        `older_than` restricts removal to runs before that date. With `dry_run`, nothing is removed. Raises
        UsageError without a rule."""
        counts = {"last": keep_last, "daily": keep_daily, "weekly": keep_weekly, "monthly": keep_monthly}
        for name, count in counts.items():
            if count < 0:
                raise UsageError(
                    f"keep_{name} is {count}",
                    "a number of runs cannot be negative",
                    "use 1 or more",
                    code="prune-negative",
                    name=f"keep_{name}",
                )
        rule = RetentionRule(**counts, older_s=_timestamp(older_than))
        if rule.is_empty:
            raise UsageError(
                "no rule says which runs to remove",
                "without one, all of them would be",
                "use for example --keep-last 10, --keep-daily 30 or --older-than 1y",
                code="prune-without-rule",
            )
        archive = Archive.open(self.path)
        contents = self.contents()
        removed_runs = rule.removed_runs(Selection(machine, label, study).select(contents.entries))
        if not dry_run:
            names = {entry.name for entry in removed_runs}
            archive.remove(
                name for name, newer_state in contents.superseded.items() if newer_state.name in names
            )
            archive.remove(names)
            archive.contents()  # the index follows
        return removed_runs

    def _select(self, selection: Selection, *, allow_empty: bool = False) -> tuple[ArchivedRun, ...]:
        """Select runs of the archive. Raises Inconclusive if it has no runs, unless `allow_empty` is set."""
        entries = self.contents().entries
        selected = selection.select(entries)
        if not selected and not (allow_empty and not entries):
            raise Inconclusive(
                f"there is no such run in '{printable(str(self.path))}'",
                f"none of its {plural(len(entries), 'run')} matches" if entries else "it is empty",
                "select others: hockney history list" if entries else "add runs: hockney history add RUN",
                code="no-run-selected",
                runs=len(entries),
            )
        return selected

    def reindex(self) -> Contents:
        """Rebuild the index from all runs. This is not normally necessary, as a missing or damaged index is
        rebuilt automatically."""
        return Archive.open(self.path).reindex(self.listen)


def run_folders(run: AnyPath | Run) -> Iterable[RunFolder]:
    """The run itself, or the runs directly inside a folder."""
    from hockney.api.judgements.sides import runs_in

    return [run.folder] if isinstance(run, Run) else runs_in(to_path(run))


def _timestamp(date_value: Date) -> float | None:
    """Seconds since 1970. A datetime without a zone is local time, as usual in Python; a date begins at
    midnight UTC."""
    if date_value is None or isinstance(date_value, datetime):
        return None if date_value is None else date_value.timestamp()
    return parse_moment(date_value.isoformat() if isinstance(date_value, date) else date_value)


_TIME_AGO_PATTERN = re.compile(r"(\d{1,6})\s*([hdwmy])")
_HOURS_PER_UNIT = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}


@dataclass(frozen=True)
class Selection:
    """Criteria for runs, all of which must match. Comparison ignores case, and patterns may contain * and ?.
    `machine` may also be a host name. `since_s` and `until_s` are seconds since 1970."""

    machine: str = ""
    label: str = ""
    study: str = ""
    since_s: float | None = None
    until_s: float | None = None

    @staticmethod
    def of(
        machine: str = "", label: str = "", study: str = "", since: Date = None, until: Date = None
    ) -> Selection:
        """Parse the criteria. Raises UsageError for an invalid date."""
        return Selection(machine, label, study, _timestamp(since), _timestamp(until))

    def matches(self, entry: ArchivedRun) -> bool:
        return (
            (_matches(self.machine, entry.machine) or _matches(self.machine, entry.host))
            and _matches(self.label, entry.label)
            and _matches(self.study, entry.study)
            and (self.since_s is None or entry.started_s >= self.since_s)
            and (self.until_s is None or entry.started_s < self.until_s)
        )

    def select(self, entries: Iterable[ArchivedRun]) -> tuple[ArchivedRun, ...]:
        return tuple(entry for entry in entries if self.matches(entry))


def _matches(pattern: str, value: str) -> bool:
    return not pattern or value.lower() == pattern.lower() or fnmatchcase(value.lower(), pattern.lower())


def parse_moment(text: str) -> float:
    """Seconds since 1970 of a date (UTC unless it has an offset) or of an age: 12h, 30d, 8w, 6m, 1y. Raises
    UsageError for other text."""
    match = _TIME_AGO_PATTERN.fullmatch(text.strip())
    try:
        if match:
            seconds = time.time() - 3600.0 * int(match[1]) * _HOURS_PER_UNIT[match[2]]
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


DAY, WEEK, MONTH = "%Y-%m-%d", "%G-%V", "%Y-%m"
"""Formats of dates that are the same within a period."""


@dataclass(frozen=True)
class RetentionRule:
    """Keeps the `last` runs of each machine and study, and the newest run of each of the last `daily` days,
    `weekly` weeks (from Monday) and `monthly` months with runs (UTC). Other runs are removed; with `older_s`
    (s since 1970), only those before that time. A rule without numbers keeps nothing, so it needs `older_s`.
    Labels are ignored because CI names each run after its commit."""

    last: int = 0
    daily: int = 0
    weekly: int = 0
    monthly: int = 0
    older_s: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the rule has neither numbers nor a time."""
        return not (self.last or self.daily or self.weekly or self.monthly) and self.older_s is None

    def removed_runs(self, entries: Iterable[ArchivedRun]) -> list[ArchivedRun]:
        """Runs that the rule does not keep, oldest first."""
        groups: dict[tuple[str, ...], list[ArchivedRun]] = {}
        for entry in entries:
            groups.setdefault((entry.origin, entry.machine, entry.study), []).append(entry)
        removed_entries = [entry for group in groups.values() for entry in self._removed_in_group(group)]
        return sorted(removed_entries, key=lambda each: (each.started_s, each.name))

    def _removed_in_group(self, group: Sequence[ArchivedRun]) -> list[ArchivedRun]:
        newest_first = sorted(group, key=lambda each: (each.started_s, each.name), reverse=True)
        kept_names = {entry.name for entry in newest_first[: self.last]}
        for count, period in ((self.daily, DAY), (self.weekly, WEEK), (self.monthly, MONTH)):
            kept_names |= _newest_per_period(newest_first, period, count)
        return [
            entry
            for entry in newest_first
            if entry.name not in kept_names and (self.older_s is None or entry.started_s < self.older_s)
        ]


def _newest_per_period(newest_first: Sequence[ArchivedRun], period: str, count: int) -> set[str]:
    """Newest run of each of the last `count` periods with runs."""
    newest_by_period: dict[str, str] = {}
    for entry in newest_first:
        newest_by_period.setdefault(_start_date(entry).strftime(period), entry.name)
    return set(list(newest_by_period.values())[:count])


def _start_date(entry: ArchivedRun) -> datetime:
    try:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=entry.started_s)
    except OverflowError:
        return datetime.max
