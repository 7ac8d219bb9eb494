# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile, and its document (`--json`). Times are seconds over all ranks together unless a
column says otherwise, sizes are bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.units import format_bytes, format_percent
from hockney.core.wording import plural
from hockney.draw.amount import in_unit_of_largest
from hockney.draw.page import Table
from hockney.pages.columns import (
    COUNT,
    INTERVAL,
    SECONDS,
    SHARE,
    SIZE,
    Column,
    Format,
    chosen,
    columns_document,
    number,
    without_intervals,
)
from hockney.pages.columns import columns_table as table_of_columns
from hockney.pages.format import quantity, share_interval
from hockney.profiles.efficiencies import NEEDS_TRACE, efficiencies, over_values
from hockney.profiles.explanation import PART_NAMES, Row
from hockney.profiles.profile import NO_COMMUNICATOR, RankTimes, RegionTime, group_rows, quantile_s
from hockney.profiles.rank_file import DISTANCES, FIRST_TIME_BIN, LANGUAGES
from hockney.profiles.results import ProfileResults
from hockney.profiles.waits import Waiting

PERCENT = Format(lambda value: format_percent(number(value), 2), interval=share_interval)
MOST_ROWS = 12
"""Rows of a table on a terminal."""
LEAST_SHARE = 1e-3
"""Call sites with a smaller share of the time in MPI are left out on a terminal."""
MOST_CAUSES = 8
LONGEST_PLACE = 24
"""Characters of a call site in a narrow table."""
MOST_REASONS = 4
WITHHELD_PARTS = "late_sender", "late_receiver", "collective", "excess"
"""Parts that may be smaller than the cost of recording."""
MOST_PAIRS = 100_000
"""Pairs of ranks in the document; the largest ones."""


def columns_table(
    name: str, title: str, columns: Iterable[Column[Any]], rows: Iterable[Any], caption: str = ""
) -> Table:
    """A table whose columns of times have the unit of their largest value: small values hardly matter."""
    table = table_of_columns(name, title, columns, rows, caption)
    cells = zip(*(in_unit_of_largest(column) for column in zip(*table.rows, strict=True)), strict=True)
    return replace(table, rows=tuple(cells))


@dataclass(frozen=True)
class SiteRow:
    """A row with what its cells need."""

    results: ProfileResults
    row: Row

    @property
    def whole(self) -> float:
        return self.results.total.total or 1.0

    def claimed(self, seconds: float) -> float | None:
        """None for what recording may have caused, and for nothing."""
        return seconds if seconds > self.row.recording_s and not self.results.withheld else None


def site_rows(results: ProfileResults) -> list[SiteRow]:
    return [SiteRow(results, row) for row in results.explanation.rows]


def _median_s(each: SiteRow) -> float:
    clocks = each.results.launch.files
    return quantile_s(each.row.bins, clocks[0].clock.seconds_per_tick, 0.5) if clocks else 0.0


SITES: tuple[Column[SiteRow], ...] = (
    Column("call site", lambda e: e.results.site(e.row).text),
    Column("", lambda e: e.results.site(e.row).frame.text, key="site"),
    Column("", lambda e: e.results.site(e.row).frame.file, key="file"),
    Column("", lambda e: e.results.site(e.row).frame.line, key="line"),
    Column("", lambda e: e.results.site(e.row).frame.function, key="program_function"),
    Column("", lambda e: e.results.site(e.row).path_text, key="call_path"),
    Column("function", lambda e: f"MPI_{e.row.name}", key="function"),
    Column("", lambda e: e.row.kind, key="kind"),
    Column("calls", lambda e: e.row.calls, COUNT, "calls"),
    Column("", lambda e: e.row.bytes, key="bytes"),
    Column("mean size", lambda e: e.row.bytes / e.row.calls if e.row.bytes else None, SIZE, "mean_bytes"),
    Column("time", lambda e: e.row.seconds, SECONDS, "time_s"),
    Column("of MPI", lambda e: e.row.seconds / e.whole, PERCENT, "share"),
    Column("mean", lambda e: e.row.seconds / e.row.calls if e.row.calls else None, SECONDS, "mean_s"),
    Column("", _median_s, key="median_s"),
    Column("", lambda e: e.row.least, key="least_s"),
    Column("", lambda e: e.row.most, key="most_s"),
    Column("machine", lambda e: e.row.parts.machine or None, SECONDS),
    Column("", lambda e: e.row.parts.machine, key="machine_s"),
    Column("waiting", lambda e: e.claimed(e.row.parts.waiting), SECONDS, "waiting_s"),
    Column("excess", lambda e: e.claimed(e.row.parts.excess), SECONDS, "excess_s"),
    Column("not separated", lambda e: e.row.parts.not_separated or None, SECONDS),
    Column("", lambda e: e.row.parts.not_separated, key="not_separated_s"),
    Column("", lambda e: asdict(e.row.parts), key="parts_s"),
    Column("", lambda e: list(e.row.reasons), key="not_separated_because"),
    Column("", lambda e: e.row.why, key="not_separated_reasons"),
    Column("", lambda e: e.row.price_s, key="price_s"),
    Column("", lambda e: e.row.price_high_s, key="price_high_s"),
    Column("", lambda e: e.row.predicted, key="price_is_predicted"),
    Column("", lambda e: e.row.recording_s, key="recording_s"),
    Column("", lambda e: e.row.open_calls, key="open_calls"),
    Column("", lambda e: e.results.site(e.row).ambiguous, key="ambiguous"),
    Column("", lambda e: e.results.site(e.row).mixed, key="call_paths_mixed"),
    Column("", lambda e: _caller(e), key="called_from"),
    Column("", lambda e: _histogram(e), key="histogram"),
    Column("", lambda e: _details(e), key="details"),
    Column("", lambda e: _by_rank(e), key="ranks"),
)


def _caller(each: SiteRow) -> str:
    """The only line from which a wrapper is called, "" if that is not known."""
    caller = each.results.site(each.row).caller
    return caller.text if caller is not None else ""


def _by_rank(each: SiteRow) -> dict[str, Any]:
    """The number of ranks that call it, and the longest."""
    seconds = each.row.by_rank
    longest = int(np.argmax(seconds)) if len(seconds) else 0
    return {
        "calling": int((seconds > 0).sum()),
        "longest": each.results.label(longest) if len(seconds) else "",
        "longest_s": float(seconds[longest]) if len(seconds) else 0.0,
    }


def _histogram(each: SiteRow) -> list[dict[str, float]]:
    """Calls by time, in bins of a factor of 2, from `from_s` on."""
    files = each.results.launch.files
    tick = files[0].clock.seconds_per_tick if files else 0.0
    return [
        {"from_s": 2.0 ** (k + FIRST_TIME_BIN) * tick if k else 0.0, "calls": int(calls)}
        for k, calls in enumerate(each.row.bins)
        if calls
    ]


def _details(each: SiteRow) -> list[dict[str, Any]]:
    """The calls of a call site by communicator, size class, distance and region."""
    launch = each.results.launch
    calls = launch.counted
    own = calls[(calls["site"] == each.row.site) & (calls["function"] == each.row.function)]
    keys = ("communicator", "size_class", "distance", "region")
    return [
        {
            "communicator": launch.communicators[communicator].text if communicator else "",
            "size_class": size_class_text(size_class),
            "distance": distance_text(distance),
            "region": launch.region_names[region],
            "calls": int(rows["calls"].sum()),
            "bytes": float(rows["bytes"].sum()),
            "time_s": float(rows["seconds"].sum()),
            "least_s": float(rows["least"].min()),
            "most_s": float(rows["most"].max()),
            "misses": int(rows["misses"].sum()),
        }
        for (communicator, size_class, distance, region), rows in group_rows(own, *keys)
    ]


def distance_text(distance: int) -> str:
    return DISTANCES[distance] if distance < len(DISTANCES) else "unknown"


def sites_table(
    results: ProfileResults,
    most: int = MOST_ROWS,
    least: float = LEAST_SHARE,
    without: Sequence[str] = (),
    paths: bool = False,
) -> Table:
    """The longest call sites, without those of which all have less than the share `least`. Columns `without`,
    and of parts that none has, are left out. `paths`: with their call paths."""
    rows = site_rows(results)
    shown = [each for each in rows if each.row.seconds >= least * each.whole][:most] or rows[:1]
    parts = {column.heading: column for column in SITES if column.heading in PART_COLUMNS}
    empty = [name for name, column in parts.items() if not any(column.value(each) for each in shown)]
    columns = [
        column for column in SITES if column.heading and column.heading not in ("mean", *empty, *without)
    ]
    if paths:
        columns.append(Column("call path", _path_text))
    caption = "Times of all ranks together."
    if "machine" not in empty:
        caption += " Machine: software overhead, transfer and contention."
    if any(
        each.claimed(p) is None
        for each in shown
        for p in (each.row.parts.waiting, each.row.parts.excess)
        if p
    ):
        caption += " Waiting and excess below the cost of recording are left out."
    if len(rows) > len(shown):
        others = sum(each.row.seconds for each in rows[len(shown) :]) / (results.total.total or 1.0)
        more = plural(len(rows) - len(shown), "more call site")
        caption += (
            f" {more} {'takes' if len(rows) == len(shown) + 1 else 'take'} {format_percent(others, 2)}."
        )
    return columns_table("call-sites", "Call sites", columns, shown, caption)


def brief_sites_table(results: ProfileResults, most: int = 8) -> Table:
    """The longest call sites in few columns."""
    rows = site_rows(results)
    rows = [each for each in rows if each.row.seconds >= LEAST_SHARE * each.whole][:most] or rows[:1]
    parts = [name for name in ("waiting", "excess") if any(_column(name).value(each) for each in rows)]
    columns = [Column("call site", _brief), *chosen(SITES, "function", "time", *parts)]
    return columns_table("longest-call-sites", "Call sites", columns, rows, "Times of all ranks together.")


def _brief(each: SiteRow) -> str:
    """Without the function if the line is known."""
    return end_of_place(each.results.site(each.row).place)


def end_of_place(place: str) -> str:
    """The end of a long place tells more than its beginning."""
    return place if len(place) <= LONGEST_PLACE else f"...{place[3 - LONGEST_PLACE :]}"


def _path_text(each: SiteRow) -> str:
    site = each.results.site(each.row)
    return f"{site.path_text}, and others" if site.mixed else site.path_text


def _column(heading: str) -> Column[SiteRow]:
    return next(column for column in SITES if column.heading == heading)


PART_COLUMNS = ("machine", "waiting", "excess", "not separated")


@dataclass(frozen=True)
class Metric:
    """One of POP's metrics; `depth` is its level in the tree."""

    name: str
    key: str
    value: Estimate
    depth: int
    reliable: bool


_METRICS = (
    ("parallel efficiency", "parallel", 0),
    ("load balance", "load_balance", 1),
    ("between hosts", "between_hosts", 2),
    ("within hosts", "within_hosts", 2),
    ("communication efficiency", "communication", 1),
)
"""Names, fields of `Efficiencies` and levels in the tree; those of level 2 are of several hosts."""
METRICS: tuple[Column[Metric], ...] = (
    Column("metric", lambda m: "  " * m.depth + m.name + ("" if m.reliable else " (not reliable)")),
    Column("", lambda m: m.reliable, key="reliable"),
    Column("", lambda m: m.key, key="metric"),
    Column("value", lambda m: m.value, SHARE, "value", INTERVAL),
)


def metrics(results: ProfileResults) -> list[Metric]:
    found = [efficiencies(launch) for launch in results.profile.launches]
    return [
        Metric(name, key, over_values([getattr(each, key) for each in found]), depth, results.believed)
        for name, key, depth in _METRICS
        if depth < 2 or results.launch.hosts > 1
    ]


def metrics_table(results: ProfileResults) -> Table:
    columns = METRICS if len(results.profile.launches) > 2 else without_intervals(METRICS)
    return columns_table("efficiencies", "Efficiencies (POP)", columns, metrics(results), NEEDS_TRACE)


@dataclass(frozen=True)
class PartRow:
    """One part of the time in MPI."""

    key: str
    seconds: float
    share: Estimate


PARTS: tuple[Column[PartRow], ...] = (
    Column("part", lambda p: PART_NAMES[p.key]),
    Column("", lambda p: p.key, key="part"),
    Column("time", lambda p: p.seconds, SECONDS, "seconds"),
    Column("of MPI", lambda p: p.share, PERCENT, "share", INTERVAL),
)


def part_rows(results: ProfileResults) -> list[PartRow]:
    return [
        PartRow(key, getattr(results.total, key), results.part_share(attrgetter(key))) for key in PART_NAMES
    ]


def parts_table(results: ProfileResults) -> Table:
    withheld = WITHHELD_PARTS if results.withheld else ()
    rows = [r for r in part_rows(results) if r.share.value >= LEAST_SHARE and r.key not in withheld]
    columns = PARTS if len(results.profile.launches) > 2 else without_intervals(PARTS)
    caption = "Of all ranks together."
    if results.withheld:
        caption += " Waiting and excess, which are below the cost of recording, are left out."
    line = unseparated_line(results)
    if line:
        caption += f" {line}"
    return columns_table("parts", "Time in MPI", columns, rows, caption)


def unseparated_line(results: ProfileResults) -> str:
    """The main reasons for which time is not separated, with their times."""
    least = 0.01 * results.total.total
    shown = [each for each in results.unseparated if each.seconds >= least][:MOST_REASONS]
    whys = "; ".join(f"{each.text} ({quantity(each.seconds, 's')})" for each in shown)
    return f"Not separated: {whys}." if whys else ""


def cause_columns(results: ProfileResults, brief: bool = False) -> list[Column[Waiting]]:
    """`brief`: without functions of the program whose lines are known."""
    launch = results.launch

    def place(site: int) -> str:
        return end_of_place(launch.sites[site].place) if brief else launch.sites[site].text

    return [
        Column("waiting", lambda c: PART_NAMES[c.kind], key="kind"),
        Column("at", lambda c: place(c.site)),
        Column("", lambda c: launch.sites[c.site].frame.text, key="site"),
        Column("in", lambda c: f"MPI_{launch.function(c.function)}", key="function"),
        Column("ranks", lambda c: len(c.waiting), COUNT),
        Column("", lambda c: [results.label(k) for k in c.waiting], key="waiting_ranks"),
        Column("for rank", lambda c: results.label(c.by_rank), COUNT, "for_rank"),
        Column("which is late at", lambda c: place(c.by_site)),
        Column("", lambda c: launch.sites[c.by_site].frame.text, key="late_site"),
        Column("time", lambda c: c.seconds, SECONDS, "seconds"),
    ]


def causes_table(results: ProfileResults, most: int = MOST_CAUSES, brief: bool = False) -> Table | None:
    columns, rows = cause_columns(results, brief), results.causes[:most]
    caption = "Estimated from the messages and collectives that were timed individually."
    return columns_table("waiting", "Who waits for whom", columns, rows, caption) if rows else None


@dataclass(frozen=True)
class RankRow:
    """A rank, with the time that it waits, and that others wait for it (s)."""

    times: RankTimes
    waits_s: float
    waited_for_s: float


def rank_rows(results: ProfileResults) -> list[RankRow]:
    ranks, waits = results.launch.ranks, results.explanation.waits
    of_ranks, caused = (
        values.tolist() for values in (waits.of_ranks(len(ranks)), waits.caused_by(len(ranks)))
    )
    return [RankRow(*row) for row in zip(ranks, of_ranks, caused, strict=True)]


RANKS: tuple[Column[RankRow], ...] = (
    Column("rank", lambda r: r.times.label, COUNT, "rank"),
    Column("host", lambda r: r.times.hostname, key="host"),
    Column("core", lambda r: r.times.core if r.times.core >= 0 else None, COUNT, "core"),
    Column("elapsed", lambda r: r.times.elapsed_s, SECONDS, "elapsed_s"),
    Column("computation", lambda r: r.times.outside_s, SECONDS, "computation_s"),
    Column("in MPI", lambda r: r.times.in_mpi_s, SECONDS, "in_mpi_s"),
    Column("waits", lambda r: r.waits_s, SECONDS, "waiting_s"),
    Column("others wait", lambda r: r.waited_for_s, SECONDS, "waited_for_s"),
    Column("calls", lambda r: r.times.calls, COUNT, "calls"),
    Column("", lambda r: r.times.finished, key="finished"),
    Column("", lambda r: r.times.threads, key="threads"),
)


def ranks_table(results: ProfileResults) -> Table:
    return columns_table("ranks", "Ranks", RANKS, rank_rows(results))


REGIONS: tuple[Column[RegionTime], ...] = (
    Column("region", lambda r: r.name, key="region"),
    Column("entered", lambda r: r.entered, COUNT, "entered"),
    Column("time", lambda r: r.seconds, SECONDS, "seconds"),
    Column("in MPI", lambda r: r.in_mpi_s, SECONDS, "in_mpi_s"),
    Column("of it in MPI", lambda r: r.in_mpi_s / r.seconds if r.seconds else None, SHARE),
)


def regions_table(results: ProfileResults) -> Table | None:
    rows = results.launch.regions
    return columns_table("regions", "Regions", REGIONS, rows, "Of all ranks together.") if rows else None


@dataclass(frozen=True)
class Group:
    """Calls of one function with equal communicator, size class and distance, of all call sites and ranks."""

    function: str
    communicator: str
    distance: str
    language: str
    size_class: int
    calls: int
    bytes: float
    seconds: float


GROUPS: tuple[Column[Group], ...] = (
    Column("function", lambda g: f"MPI_{g.function}", key="function"),
    Column("communicator", lambda g: g.communicator, key="communicator"),
    Column("size", lambda g: size_class_text(g.size_class), key="size_class"),
    Column("distance", lambda g: g.distance, key="distance"),
    Column("", lambda g: g.language, key="language"),
    Column("calls", lambda g: g.calls, COUNT, "calls"),
    Column("", lambda g: g.bytes, key="bytes"),
    Column("time", lambda g: g.seconds, SECONDS, "time_s"),
)


def size_class_text(size_class: int) -> str:
    """ "512 B to 1 KiB"."""
    if size_class <= 1:
        return "0 B" if size_class else ""
    low, high = 2 ** (size_class - 2), 2 ** (size_class - 1)
    return f"{format_bytes(low)} to {format_bytes(high)}" if high > low + 1 else format_bytes(low)


def groups(results: ProfileResults) -> list[Group]:
    launch = results.launch
    keys = ("function", "communicator", "size_class", "distance", "language")
    found = []
    for (function, communicator, size_class, distance, language), rows in group_rows(launch.counted, *keys):
        known = launch.communicators[communicator]
        found.append(
            Group(
                launch.function(function),
                "" if known is NO_COMMUNICATOR else known.text,
                distance_text(distance),
                LANGUAGES[language] if language < len(LANGUAGES) else "",
                size_class,
                int(rows["calls"].sum()),
                float(rows["bytes"].sum()),
                float(rows["seconds"].sum()),
            )
        )
    return sorted(found, key=lambda group: -group.seconds)


def groups_table(results: ProfileResults, most: int = 200) -> Table:
    return columns_table("functions", "Functions, communicators and sizes", GROUPS, groups(results)[:most])


RECORDING: tuple[Column[tuple[str, tuple[float, float]]], ...] = (
    Column("calls", lambda each: each[0], key="kind"),
    Column("without recording", lambda each: each[1][0], SECONDS, "bare_s"),
    Column("added", lambda each: each[1][1], SECONDS, "added_s"),
)
"""The cost of recording a call of each kind, as `Launch.overheads` has it."""


def recording_table(results: ProfileResults) -> Table | None:
    rows = results.launch.overheads.items()
    caption = "Medians over the ranks, each of which measured it when it finalised MPI."
    return columns_table("recording", "Cost of recording a call", RECORDING, rows, caption) if rows else None


def terminal_tables(results: ProfileResults) -> tuple[Table, ...]:
    """The tables on a terminal, below the headline."""
    tables = (
        metrics_table(results),
        parts_table(results),
        sites_table(results) if results.explanation.rows else None,
        causes_table(results),
        regions_table(results),
    )
    return tuple(table for table in tables if table is not None)


def document(results: ProfileResults) -> dict[str, Any]:
    """The answer for programs: seconds and bytes. Intervals are null if there are too few launches."""
    profile, launch, explanation = results.profile, results.launch, results.explanation
    waits = explanation.waits
    sites = site_rows(results)
    return {
        "schema": 1,
        "profile": str(profile.folder),
        "command": list(profile.manifest.command),
        "program": profile.manifest.program,
        "started": profile.manifest.started,
        "mpi": profile.manifest.mpi,
        "survey": explanation.costs.where if explanation.costs else None,
        "headline": list(results.headline),
        "launches": len(profile.launches),
        "typical_launch": launch.entry.folder,
        "ranks_count": len(launch.ranks),
        "hosts": launch.hosts,
        "elapsed_s": results.elapsed,
        "mpi_share": results.mpi_share,
        "in_mpi_s": explanation.total.total,
        "parts": columns_document(PARTS, part_rows(results)),
        "not_separated": [
            {"code": each.code, "because": each.text, "seconds": each.seconds} for each in results.unseparated
        ],
        "slow_operations": list(results.slow),
        "efficiencies": columns_document(METRICS, metrics(results)),
        "look_first": next(
            (columns_document(SITES, [each])[0] for each in sites if each.row is results.first), None
        ),
        "call_sites": columns_document(SITES, sites),
        "functions": columns_document(GROUPS, groups(results)),
        "waiting": columns_document(cause_columns(results), results.causes),
        "clocks": {
            "messages": waits.matched.messages,
            "received_before_sent": waits.matched.violations,
            "worst_s": waits.matched.worst_s,
            "across_hosts": waits.matched.across_hosts,
            "believed": waits.believed,
            "disagree": waits.matched.doubted,
        },
        "ranks": columns_document(RANKS, rank_rows(results)),
        "matrix": _matrix(results),
        "communicators": [
            {"name": each.text, "size": each.size, "made_by": each.made_by}
            for each in launch.communicators
            if each is not NO_COMMUNICATOR
        ],
        "regions": columns_document(REGIONS, launch.regions),
        "recording": {
            "per_call": columns_document(RECORDING, launch.overheads.items()),
            "total_s": explanation.recording_s if launch.overheads else None,
            "share": results.recording_share if launch.overheads else None,
            "exceeds_findings": results.withheld,
            "measured_ratio": results.overhead,
        },
        "warnings": list(results.caveats),
    }


def _matrix(results: ProfileResults) -> list[dict[str, Any]]:
    """Pairs of ranks that exchanged something."""
    launch = results.launch
    senders, receivers = np.nonzero((launch.sent > 0) | (launch.messages > 0))
    order = np.argsort(-launch.sent[senders, receivers], kind="stable")[:MOST_PAIRS]
    return [
        {
            "from": launch.ranks[i].label,
            "to": launch.ranks[j].label,
            "messages": int(launch.messages[i, j]),
            "bytes": float(launch.sent[i, j]),
        }
        for i, j in zip(senders[order].tolist(), receivers[order].tolist(), strict=True)
    ]
